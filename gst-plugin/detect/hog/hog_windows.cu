// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// From scores to candidates, in the order of the windows: every block of threads counts the hits of its chunk of
// windows, then places them behind those of the chunks before. Where there are more than there is room for, they are
// listed, and one block of threads picks the best.

#include "detect/hog/hog_kernels.cuh"
#include "gpu/launch.cuh"

namespace crowd::hog {

namespace {

constexpr unsigned threads = 256;
constexpr unsigned picking_threads = 1024;
constexpr unsigned warp_size = 32;
constexpr unsigned all_lanes = ~0U;

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
  const Range x = work.ranges[level.x_ranges + in_level % level.columns];
  const Range y = work.ranges[level.y_ranges + in_level / level.columns];
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

/// How many threads before this one, and of all, have `bit`. `warps` has a word for each warp; all threads come by.
struct Ranked {
  unsigned before, all;
};
template <unsigned block>
__device__ Ranked rank(bool bit, unsigned* warps) {
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const unsigned bits = __ballot_sync(all_lanes, bit);
  if (lane == 0)
    warps[warp] = static_cast<unsigned>(__popc(bits));
  __syncthreads();
  Ranked ranked{static_cast<unsigned>(__popc(bits & ((1U << lane) - 1))), 0};
  for (unsigned k = 0; k < block / warp_size; ++k) {
    ranked.before += k < warp ? warps[k] : 0;
    ranked.all += warps[k];
  }
  __syncthreads();
  return ranked;
}

/// Hits in the chunks before this one, and in all.
__device__ Ranked add_up(const WindowsWork& work) {
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
  __shared__ unsigned warps[threads / warp_size];
  cuda::pdl_wait();
  const Ranked chunk = add_up(work);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    *work.out.count = chunk.all;
  const bool pick = chunk.all > work.out.capacity;
  const std::uint32_t begin = blockIdx.x * work.chunk;
  const std::uint32_t end = min(begin + work.chunk, work.windows);
  std::uint32_t at = chunk.before;
  for (std::uint32_t first = begin; first < end; first += threads) {
    const std::uint32_t window = first + threadIdx.x;
    const bool hit = is_hit(work, window, end);
    const Ranked ranked = rank<threads>(hit, warps);
    if (hit && pick)
      work.hits[at + ranked.before] = window;
    else if (hit)
      place(work, at + ranked.before, window);
    at += ranked.all;
  }
}

/// In the order of scores. Both zeros are equal.
__device__ std::uint32_t score_key(float score) {
  const std::uint32_t bits = __float_as_uint(score + 0.F);
  return bits >> 31 ? ~bits : bits | 1U << 31;
}

/// The key of the last that there is room for, and how many of equal key there is room for.
struct Limit {
  std::uint32_t key, equals;
};

/// Finds it a byte at a time, from the highest.
__device__ Limit find_limit(const WindowsWork& work, std::uint32_t hits) {
  constexpr unsigned values = 256, byte = 8;
  __shared__ std::uint32_t having[values];
  __shared__ Limit limit;
  if (threadIdx.x == 0)
    limit = {0, work.out.capacity};
  for (unsigned shift = 32; shift; shift -= byte) {
    if (threadIdx.x < values)
      having[threadIdx.x] = 0;
    __syncthreads();
    const std::uint64_t known = static_cast<std::uint64_t>(limit.key) >> shift;
    for (std::uint32_t i = threadIdx.x; i < hits; i += picking_threads) {
      const std::uint32_t key = score_key(work.scores[work.hits[i]]);
      if (static_cast<std::uint64_t>(key) >> shift == known)
        atomicAdd(&having[key >> (shift - byte) & (values - 1)], 1U);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      unsigned value = values - 1;
      for (; having[value] < limit.equals; --value)
        limit.equals -= having[value];
      limit.key |= value << (shift - byte);
    }
    __syncthreads();
  }
  return limit;
}

__global__ void __launch_bounds__(picking_threads) pick_kernel(WindowsWork work) {
  __shared__ unsigned warps[picking_threads / warp_size];
  cuda::pdl_wait();
  const std::uint32_t hits = *work.out.count;
  if (hits <= work.out.capacity || work.out.capacity == 0)
    return;
  const Limit limit = find_limit(work, hits);
  std::uint32_t better = 0, equals = 0;
  for (std::uint32_t first = 0; first < hits; first += picking_threads) {
    const std::uint32_t i = first + threadIdx.x;
    const std::uint32_t window = i < hits ? work.hits[i] : 0;
    const std::uint32_t key = score_key(work.scores[window]);
    const bool is_better = i < hits && key > limit.key;
    const bool is_equal = i < hits && key == limit.key;
    const Ranked by_better = rank<picking_threads>(is_better, warps);
    const Ranked by_equal = rank<picking_threads>(is_equal, warps);
    const std::uint32_t equals_before = equals + by_equal.before;
    if (is_better || (is_equal && equals_before < limit.equals))
      place(work, better + by_better.before + min(equals_before, limit.equals), window);
    better += by_better.all;
    equals += by_equal.all;
  }
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
