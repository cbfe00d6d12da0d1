// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Ranks of candidates: all of better bins of scores, and the better ones of a candidate's own bin.
#pragma once

#include "kernels/staged/staged.cuh"

namespace crowd::CROWD_STAGED {

struct Bin {
  std::uint32_t first, end;

  /// Scores beyond all samples, or close together among others far off, may share a bin: too many to compare each with
  /// each. No more than 16 bins of a frame are.
  __device__ bool is_large(std::uint32_t candidates) const {
    return end - first > max(tuning::staged_large_bin, candidates / 16);
  }
};

__device__ inline Bin bin_of(const Stage& stage, std::uint64_t key) {
  const std::uint32_t* bins = stage.starts() + stage.a.shape.cells();
  const std::uint32_t bin = stage.scale().scores.bin(key_score(static_cast<std::uint32_t>(key >> 32)), rank_index(key));
  return {bins[bin] - stage.size(), bins[bin + 1] - stage.size()};
}

/// The rank key of the candidate at a place, with its score.
__device__ inline std::uint64_t rank_key_at(const Stage& stage, std::uint32_t place) {
  const std::uint64_t key = stage.a.arrays.key[stage.slot + place];
  if (!unlikely(is_stripped(key)))
    return key;
  const std::size_t at = stage.a.frames.input(stage.frame) + rank_index(key);
  return rank_key(stage.a.rules.ranked_score(at, stage.a.frames.scores[at]), rank_index(key));
}

/// Of count_better(), for so many threads at a time. No larger than what else the kernel has in shared memory: 7 KB
/// made 16384 uniform candidates take 21.7 us, not 20.5.
template <unsigned room_for>
struct BetterShared {
  static constexpr unsigned room = room_for;

  std::uint64_t sorted[room];  ///< best first; 0 where there is none
  std::uint32_t better[room];  ///< keys that are better than this one of `sorted`, but not than the one before
  unsigned long long bin;      ///< whose turn it is: its first key in the upper half, its end in the lower
};

/// For each thread that takes part, of `room` threads from `room * part` on, how many of `count` keys are better than
/// its own: each key is looked at once, and finds its place among theirs. For a whole block.
template <unsigned room>
__device__ std::uint32_t count_better(BetterShared<room>& shared, const std::uint64_t* keys, std::uint32_t count,
                                      std::uint64_t mine, bool takes_part, unsigned part) {
  const bool here = threadIdx.x / room == part;
  if (here)
    shared.sorted[threadIdx.x % room] = takes_part ? mine : 0;
  __syncthreads();
  std::uint32_t at = 0;
  if (here)
#pragma unroll 8
    for (unsigned other = 0; other < room; ++other)
      at += shared.sorted[other] > mine;
  __syncthreads();
  if (here) {
    shared.sorted[threadIdx.x % room] = 0;
    shared.better[threadIdx.x % room] = 0;
  }
  __syncthreads();
  if (here && takes_part)
    shared.sorted[at] = mine;
  __syncthreads();
#pragma unroll 2
  for (std::uint32_t k = threadIdx.x; k < count; k += threads) {
    const std::uint64_t key = keys[k];
    std::uint32_t not_worse = 0;
#pragma unroll
    for (std::uint32_t step = room / 2; step; step /= 2)
      not_worse += shared.sorted[not_worse + step - 1] >= key ? step : 0;
    not_worse += shared.sorted[not_worse] >= key;
    if (not_worse < room)
      atomicAdd(&shared.better[not_worse], 1u);
  }
  __syncthreads();
  std::uint32_t better = 0;
  if (here && takes_part)
    for (std::uint32_t k = 0; k <= at; ++k)
      better += shared.better[k];
  __syncthreads();
  return better;
}

/// Ranks the block's candidates of large bins, bin by bin: `rank` is of their bin before. For a whole block.
template <unsigned room>
__device__ void rank_in_large_bins(const Stage& stage, BetterShared<room>& shared, const Bin& bin, std::uint64_t key,
                                   bool open, std::uint32_t& rank) {
  const unsigned long long mine = static_cast<unsigned long long>(bin.first) << 32 | bin.end;
  do {
    if (threadIdx.x == 0)
      shared.bin = ~0ull;
    __syncthreads();
    if (open)
      atomicMin(&shared.bin, mine);
    __syncthreads();
    const unsigned long long its = shared.bin;
    const auto first = static_cast<std::uint32_t>(its >> 32);
    const auto end = static_cast<std::uint32_t>(its);
    const bool takes_part = open && mine == its;
    for (unsigned part = 0; part < threads / room; ++part)
      rank += count_better(shared, stage.a.arrays.score + stage.slot + first, end - first, key, takes_part, part);
    open = open && !takes_part;
  } while (__syncthreads_or(open));
}

/// Lists a block's candidates by rank. For a whole block.
template <unsigned room>
__device__ void list_by_rank(const Stage& stage, BetterShared<room>& shared, std::uint32_t block) {
  const std::uint32_t place = block * threads + threadIdx.x;
  const bool here = place < stage.size();
  const std::uint64_t key = here ? rank_key_at(stage, place) : 0;
  const Bin bin = here ? bin_of(stage, key) : Bin{0, 0};
  std::uint32_t rank = bin.first;
  const bool large = bin.is_large(stage.size());
  if (!large) {
    const std::uint64_t* const keys = stage.a.arrays.score + stage.slot;
    for (const std::uint64_t* other = keys + bin.first; other < keys + bin.end; ++other)
      rank += *other > key;
  }
  if (unlikely(__syncthreads_or(large)))
    rank_in_large_bins(stage, shared, bin, key, large, rank);
  if (here)
    stage.a.arrays.ranked[stage.slot + rank] = place;
}

}  // namespace crowd::CROWD_STAGED
