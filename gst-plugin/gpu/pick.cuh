// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Candidates in order, by blocks of threads: places for those that there are, and the best of too many. What
// keep_best() (keepbest.hpp) keeps on the host.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace crowd::cuda {

constexpr unsigned warp_size = 32;
constexpr unsigned all_lanes = ~0U;

/// How many threads before this one, and of all, have `bit`. `warps` has a word for each warp; all threads come by.
struct Ranked {
  unsigned before, all;
};
template <unsigned threads>
__device__ Ranked rank(bool bit, unsigned* warps) {
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const unsigned bits = __ballot_sync(all_lanes, bit);
  if (lane == 0)
    warps[warp] = static_cast<unsigned>(__popc(bits));
  __syncthreads();
  Ranked ranked{static_cast<unsigned>(__popc(bits & ((1U << lane) - 1))), 0};
  for (unsigned k = 0; k < threads / warp_size; ++k) {
    ranked.before += k < warp ? warps[k] : 0;
    ranked.all += warps[k];
  }
  __syncthreads();
  return ranked;
}

/// In the order of scores. Both zeros are equal, and what is no number is below all.
__device__ inline std::uint32_t score_key(float score) {
  const std::uint32_t bits = __float_as_uint(score + 0.F);
  if (score != score)
    return 0;
  return bits >> 31 ? ~bits : bits | 1U << 31;
}

/// The key of the last that there is room for, and how many of equal key there is room for.
struct Limit {
  std::uint32_t key, equals;
};

/// Finds it a byte at a time, from the highest. `score_of(i)` for i below `count`, which is above `capacity`, which is
/// above 0. One block of `threads`, 256 or more.
template <unsigned threads, typename ScoreOf>
__device__ Limit find_limit(std::uint32_t count, std::uint32_t capacity, const ScoreOf& score_of) {
  constexpr unsigned values = 256, byte = 8;
  static_assert(threads >= values, "a thread for each value of a byte");
  __shared__ std::uint32_t having[values];
  __shared__ Limit limit;
  if (threadIdx.x == 0)
    limit = {0, capacity};
  for (unsigned shift = 32; shift; shift -= byte) {
    if (threadIdx.x < values)
      having[threadIdx.x] = 0;
    __syncthreads();
    const std::uint64_t known = static_cast<std::uint64_t>(limit.key) >> shift;
    for (std::uint32_t i = threadIdx.x; i < count; i += threads) {
      const std::uint32_t key = score_key(score_of(i));
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

/// Calls place(at, i) for the `capacity` best of `count`, with `at` counting up in their order. As find_limit().
template <unsigned threads, typename ScoreOf, typename Place>
__device__ void pick_best(std::uint32_t count, std::uint32_t capacity, const ScoreOf& score_of, const Place& place) {
  __shared__ unsigned warps[threads / warp_size];
  const Limit limit = find_limit<threads>(count, capacity, score_of);
  std::uint32_t better = 0, equals = 0;
  for (std::uint32_t first = 0; first < count; first += threads) {
    const std::uint32_t i = first + threadIdx.x;
    const std::uint32_t key = i < count ? score_key(score_of(i)) : 0;
    const bool is_better = i < count && key > limit.key;
    const bool is_equal = i < count && key == limit.key;
    const Ranked by_better = rank<threads>(is_better, warps);
    const Ranked by_equal = rank<threads>(is_equal, warps);
    const std::uint32_t equals_before = equals + by_equal.before;
    if (is_better || (is_equal && equals_before < limit.equals))
      place(better + by_better.before + min(equals_before, limit.equals), i);
    better += by_better.all;
    equals += by_equal.all;
  }
}

}  // namespace crowd::cuda
