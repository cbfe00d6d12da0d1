// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What users run without gst-crowd, for bench_gpu.py: the classic bit mask with a scan on the host, the two kernels of
// Oro et al. 2020, and CV-CUDA, if Python has it. And nothing, the floor. All memory is the caller's: no allocation is
// timed.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cub/device/device_radix_sort.cuh>
#include <vector>

namespace {

constexpr unsigned mask_bits = 64;
constexpr unsigned paper_tile = 16;

unsigned ceil_div(unsigned a, unsigned b) {
  return (a + b - 1) / b;
}

__device__ float intersection(const float4& a, const float4& b, float offset) {
  const float w = fmaxf(0.0f, fminf(a.z, b.z) - fmaxf(a.x, b.x) + offset);
  const float h = fmaxf(0.0f, fminf(a.w, b.w) - fmaxf(a.y, b.y) + offset);
  return w * h;
}

__device__ float area(const float4& box, float offset) {
  return (box.z - box.x + offset) * (box.w - box.y + offset);
}

__global__ void nothing() {}

__global__ void gather(const float4* boxes, const std::uint32_t* order, float4* sorted, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    sorted[i] = boxes[order[i]];
}

// Bit b of mask[i][c]: box i overlaps box 64 c + b, which ranks lower. One thread a row of a tile, all tiles of the
// square as in the original.
__global__ void overlap_mask(const float4* sorted, unsigned n, float threshold, std::uint64_t* mask) {
  __shared__ float4 columns[mask_bits];
  const unsigned first_column = blockIdx.x * mask_bits;
  const unsigned width = min(n - first_column, mask_bits);
  if (threadIdx.x < width)
    columns[threadIdx.x] = sorted[first_column + threadIdx.x];
  __syncthreads();
  const unsigned i = blockIdx.y * mask_bits + threadIdx.x;
  if (i >= n)
    return;
  const float4 box = sorted[i];
  std::uint64_t bits = 0;
  for (unsigned b = blockIdx.x == blockIdx.y ? threadIdx.x + 1 : 0; b < width; ++b) {
    const float inter = intersection(box, columns[b], 0.0f);
    if (inter / (area(box, 0.0f) + area(columns[b], 0.0f) - inter) > threshold)
      bits |= std::uint64_t{1} << b;
  }
  mask[std::size_t{i} * gridDim.x + blockIdx.x] = bits;
}

// Algorithm 1, for rectangles.
__global__ void map_kernel(const float4* d, const float* s, unsigned d_max, float threshold, std::uint8_t* matrix) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned j = blockIdx.y * blockDim.y + threadIdx.y;
  if (s[i] < s[j]) {
    const float ratio = intersection(d[i], d[j], 1.0f) / area(d[j], 1.0f);
    matrix[std::size_t{i} * d_max + j] = ratio < threshold && d[j].z - d[j].x != 0;
  }
}

// Algorithm 2: a block per row, D_max / k threads.
__global__ void reduce_kernel(const std::uint8_t* matrix, unsigned d_max, unsigned k, int* v) {
  const unsigned i = blockIdx.x;
  std::size_t j = std::size_t{i} * d_max + threadIdx.x;
  const unsigned n = d_max / k;
  v[i] = __syncthreads_and(matrix[j]);
  for (unsigned partition = 1; partition < k; ++partition) {
    j += n;
    v[i] = __syncthreads_and(v[i] && matrix[j]);
  }
}

}  // namespace

extern "C" {

struct BenchBitmask {
  const float4* boxes;
  const float* scores;
  const std::uint32_t* iota;
  float* sorted_scores;
  std::uint32_t* order;
  float4* sorted;
  void* sort_workspace;
  std::size_t sort_workspace_bytes;
  std::uint64_t* mask;
  std::uint64_t* mask_host;   ///< pinned, n * ceil(n / 64)
  std::uint32_t* order_host;  ///< pinned
  std::uint32_t* kept;        ///< host: survivors in rank order
  std::uint32_t* kept_count;
  std::uint32_t n;
  float threshold;
};

enum BenchPaperSteps { bench_paper_ones = 1, bench_paper_map = 2, bench_paper_reduce = 4 };

struct BenchPaper {
  const float4* d;  ///< D_max boxes, zeros past the candidates
  const float* s;
  std::uint8_t* matrix;
  int* v;
  std::uint32_t d_max;
  std::uint32_t extent;  ///< slots that the kernels are launched over, a multiple of 16: D_max, or only the used ones
  std::uint32_t k;
  std::uint32_t steps;
  float threshold;
};

/// An operator of CV-CUDA and its tensors, as its C functions take them.
struct BenchCvCuda {
  int (*submit)(void* operation, cudaStream_t stream, void* boxes, void* mask, void* scores, float min_score,
                float threshold);
  void* operation;
  void* boxes;
  void* mask;
  void* scores;
  float min_score;
  float threshold;
};

std::size_t bench_sort_workspace_bytes(std::uint32_t n) {
  std::size_t bytes = 0;
  cub::DeviceRadixSort::SortPairsDescending(nullptr, bytes, static_cast<const float*>(nullptr),
                                            static_cast<float*>(nullptr), static_cast<const std::uint32_t*>(nullptr),
                                            static_cast<std::uint32_t*>(nullptr), static_cast<int>(n));
  return bytes;
}

int bench_empty(const void*, cudaStream_t stream) {
  nothing<<<1, 32, 0, stream>>>();
  return cudaGetLastError();
}

/// Sort, mask, copy, and the scan on the host. Waits for the device.
int bench_bitmask(const void* context, cudaStream_t stream) {
  const auto& c = *static_cast<const BenchBitmask*>(context);
  const unsigned words = ceil_div(c.n, mask_bits);
  std::size_t bytes = c.sort_workspace_bytes;
  cub::DeviceRadixSort::SortPairsDescending(c.sort_workspace, bytes, c.scores, c.sorted_scores, c.iota, c.order,
                                            static_cast<int>(c.n), 0, 32, stream);
  gather<<<ceil_div(c.n, 256), 256, 0, stream>>>(c.boxes, c.order, c.sorted, c.n);
  overlap_mask<<<dim3(words, words), mask_bits, 0, stream>>>(c.sorted, c.n, c.threshold, c.mask);
  cudaMemcpyAsync(c.order_host, c.order, c.n * sizeof(std::uint32_t), cudaMemcpyDeviceToHost, stream);
  cudaMemcpyAsync(c.mask_host, c.mask, std::size_t{c.n} * words * sizeof(std::uint64_t), cudaMemcpyDeviceToHost,
                  stream);
  if (const cudaError_t error = cudaStreamSynchronize(stream))
    return error;

  std::vector<std::uint64_t> removed(words);
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < c.n; ++i) {
    if (removed[i / mask_bits] >> (i % mask_bits) & 1)
      continue;
    c.kept[kept++] = c.order_host[i];
    const std::uint64_t* row = c.mask_host + std::size_t{i} * words;
    for (unsigned w = i / mask_bits; w < words; ++w)
      removed[w] |= row[w];
  }
  *c.kept_count = kept;
  return cudaGetLastError();
}

int bench_cv_cuda(const void* context, cudaStream_t stream) {
  const auto& c = *static_cast<const BenchCvCuda*>(context);
  return c.submit(c.operation, stream, c.boxes, c.mask, c.scores, c.min_score, c.threshold) ? cudaErrorUnknown
                                                                                            : cudaSuccess;
}

/// Those of the steps that are asked for: ones into B, map, reduce.
int bench_paper(const void* context, cudaStream_t stream) {
  const auto& c = *static_cast<const BenchPaper*>(context);
  if (c.steps & bench_paper_ones)
    cudaMemsetAsync(c.matrix, 1, std::size_t{c.d_max} * c.d_max, stream);
  if (c.steps & bench_paper_map)
    map_kernel<<<dim3(c.extent / paper_tile, c.extent / paper_tile), dim3(paper_tile, paper_tile), 0, stream>>>(
        c.d, c.s, c.d_max, c.threshold, c.matrix);
  if (c.steps & bench_paper_reduce)
    reduce_kernel<<<c.extent, c.d_max / c.k, 0, stream>>>(c.matrix, c.d_max, c.k, c.v);
  return cudaGetLastError();
}

}  // extern "C"
