// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// From scores to candidates, in the order of the windows: every block of threads counts the hits of its chunk of
// windows, then places them behind those of the chunks before. Where there are more than there is room for, they are
// listed, and one block of threads picks the best.

#include "detect/hog/hog_kernels.cuh"
#include "gpu/launch.cuh"
#include "gpu/pick.cuh"

namespace crowd::hog {

namespace {

constexpr unsigned threads = 256;
constexpr unsigned picking_threads = 1024;

__device__ bool is_hit(const WindowsWork& work, std::uint32_t window, std::uint32_t end) {
  return window < end && work.scores[window] >= work.threshold;
}

__device__ const Level& level_of(const WindowsWork& work, std::uint32_t window) {
  std::uint32_t low = 0, high = work.level_count;
  while (high - low > 1) {
    const std::uint32_t middle = (low + high) / 2;
    (work.levels[middle].first_window <= window ? low : high) = middle;
  }
  return work.levels[low];
}

__device__ void place(const WindowsWork& work, std::uint32_t at, std::uint32_t window) {
  const Level& level = level_of(work, window);
  const std::uint32_t in_level = window - level.first_window;
  const WindowRange x = work.ranges[level.x_ranges + in_level % level.columns];
  const WindowRange y = work.ranges[level.y_ranges + in_level / level.columns];
  const float dx = work.body ? (x.to - x.from) * body_margin_x : 0.F;
  const float dy = work.body ? (y.to - y.from) * body_margin_y : 0.F;
  reinterpret_cast<float4*>(work.out.boxes)[at] = {x.from + dx, y.from + dy, x.to - dx, y.to - dy};
  work.out.scores[at] = work.scores[window];
  work.out.classes[at] = 0;
}

__global__ void __launch_bounds__(threads) count_kernel(WindowsWork work) {
  __shared__ std::uint32_t found;
  cuda::pdl_wait();
  if (threadIdx.x == 0)
    found = 0;
  __syncthreads();
  const std::uint32_t begin = blockIdx.x * work.chunk;
  const std::uint32_t end = min(begin + work.chunk, work.windows);
  std::uint32_t mine = 0;
  for (std::uint32_t window = begin + threadIdx.x; window < end; window += threads)
    mine += is_hit(work, window, end);
  if (mine)
    atomicAdd(&found, mine);
  __syncthreads();
  if (threadIdx.x == 0)
    work.found[blockIdx.x] = found;
}

/// Hits in the chunks before this one, and in all.
__device__ cuda::Ranked add_up(const WindowsWork& work) {
  __shared__ unsigned before, all;
  if (threadIdx.x == 0)
    before = all = 0;
  __syncthreads();
  for (unsigned k = threadIdx.x; k < work.chunks; k += threads)
    if (const unsigned found = work.found[k]) {
      atomicAdd(&all, found);
      if (k < blockIdx.x)
        atomicAdd(&before, found);
    }
  __syncthreads();
  return {before, all};
}

__global__ void __launch_bounds__(threads) place_kernel(WindowsWork work) {
  __shared__ unsigned warps[threads / cuda::warp_size];
  cuda::pdl_wait();
  const cuda::Ranked chunk = add_up(work);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    *work.out.count = chunk.all;
  const bool pick = chunk.all > work.out.capacity;
  const std::uint32_t begin = blockIdx.x * work.chunk;
  const std::uint32_t end = min(begin + work.chunk, work.windows);
  std::uint32_t at = chunk.before;
  for (std::uint32_t first = begin; first < end; first += threads) {
    const std::uint32_t window = first + threadIdx.x;
    const bool hit = is_hit(work, window, end);
    const cuda::Ranked ranked = cuda::rank<threads>(hit, warps);
    if (hit && pick)
      work.hits[at + ranked.before] = window;
    else if (hit)
      place(work, at + ranked.before, window);
    at += ranked.all;
  }
}

__global__ void __launch_bounds__(picking_threads) pick_kernel(WindowsWork work) {
  cuda::pdl_wait();
  const std::uint32_t hits = *work.out.count;
  if (hits <= work.out.capacity || work.out.capacity == 0)
    return;
  cuda::pick_best<picking_threads>(
      hits, work.out.capacity, [&work](std::uint32_t i) { return work.scores[work.hits[i]]; },
      [&work](std::uint32_t at, std::uint32_t i) { place(work, at, work.hits[i]); });
}

}  // namespace

cudaError_t launch_windows(const WindowsWork& work, cudaStream_t stream) {
  const dim3 chunks{work.chunks ? work.chunks : 1, 1, 1};
  cudaError_t error = cuda::launch_pdl(count_kernel, stream, chunks, threads, work);
  if (error == cudaSuccess)
    error = cuda::launch_pdl(place_kernel, stream, chunks, threads, work);
  return error == cudaSuccess ? cuda::launch_pdl(pick_kernel, stream, {1, 1, 1}, picking_threads, work) : error;
}

}  // namespace crowd::hog
