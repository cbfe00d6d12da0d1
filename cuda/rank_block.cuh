// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Ranks of a frame's candidates by one block, without a sort: bins of scores, then a count within the bin. A bin of m
// costs each of its candidates m comparisons.
#pragma once

#include "near.cuh"

namespace crowd {

/// Candidates a thread has: number k is candidate k * blockDim.x + threadIdx.x.
constexpr unsigned rank_items = 4;

/// Shared memory for rank_items candidates a thread.
struct Ranking {
  std::uint32_t* start;     ///< of each bin, rank_items a thread, and an end
  std::uint64_t* rank_key;  ///< in order of bins
  // What comes of it:
  std::uint16_t* by_rank;  ///< index
  std::uint16_t* rank_of;  ///< the other way round
};

/// Sum over this lane and those before it.
__device__ inline std::uint32_t warp_prefix(std::uint32_t value) {
#pragma unroll
  for (unsigned step = 1; step < 32; step *= 2) {
    const std::uint32_t other = __shfl_up_sync(all_lanes, value, step);
    value += threadIdx.x % 32 >= step ? other : 0;
  }
  return value;
}

/// Exclusive sums of the bins' counts, in place.
__device__ inline void scan_bins(const Ranking& ranking, std::uint32_t* warp_total) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  const uint4 mine = reinterpret_cast<const uint4*>(ranking.start)[threadIdx.x];
  const std::uint32_t sum = mine.x + mine.y + mine.z + mine.w;
  const std::uint32_t upto = warp_prefix(sum);
  if (lane == 31)
    warp_total[warp] = upto;
  __syncthreads();
  const std::uint32_t before = upto - sum + warp_sum(lane < warp ? warp_total[lane] : 0);
  reinterpret_cast<uint4*>(ranking.start)[threadIdx.x] = {before, before + mine.x, before + mine.x + mine.y,
                                                          before + mine.x + mine.y + mine.z};
  if (threadIdx.x == blockDim.x - 1)
    ranking.start[rank_items * blockDim.x] = before + sum;
  __syncthreads();
}

/// Fills by_rank and rank_of with the n candidates from `input` on that count: those with a bit in the thread's
/// `counting`. Returns once all of it is there. `warp_total`: 32 words of shared memory.
__device__ inline void rank_block(const Frames& frames, std::size_t input, std::uint32_t n, std::uint32_t counting,
                                  const float (&score)[rank_items], const Ranking& ranking, std::uint32_t* warp_total) {
  static_assert(rank_items == 4, "a vector of counts a thread");
  reinterpret_cast<uint4*>(ranking.start)[threadIdx.x] = {0, 0, 0, 0};
  const ScoreBins bins = measure_scores(frames, input, n, rank_items * blockDim.x);
  __syncthreads();
  std::uint32_t bin[rank_items];
  std::uint32_t place[rank_items];
#pragma unroll
  for (unsigned k = 0; k < rank_items; ++k) {
    bin[k] = bins.bin(score[k], k * blockDim.x + threadIdx.x);
    place[k] = counting >> k & 1 ? atomicAdd(&ranking.start[bin[k]], 1u) : 0;
  }
  __syncthreads();
  scan_bins(ranking, warp_total);
#pragma unroll
  for (unsigned k = 0; k < rank_items; ++k)
    if (counting >> k & 1)
      ranking.rank_key[ranking.start[bin[k]] + place[k]] = rank_key(score[k], k * blockDim.x + threadIdx.x);
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < rank_items; ++k) {
    if (!(counting >> k & 1))
      continue;
    const std::uint64_t mine = rank_key(score[k], k * blockDim.x + threadIdx.x);
    const std::uint32_t end = ranking.start[bin[k] + 1];
    std::uint32_t rank = ranking.start[bin[k]];
    for (std::uint32_t other = rank; other < end; ++other)
      rank += ranking.rank_key[other] > mine;
    ranking.by_rank[rank] = static_cast<std::uint16_t>(k * blockDim.x + threadIdx.x);
    ranking.rank_of[k * blockDim.x + threadIdx.x] = static_cast<std::uint16_t>(rank);
  }
  __syncthreads();
}

}  // namespace crowd
