// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Peaks: the survivors among a crowd's candidates of the best scores, whose decisions depend on none of the others.
// Greedy keeps them and drops what they suppress, most of a crowd (cuda/PROOFS.md, section 1). count() lists the best
// scores. Further blocks of scan() find the peaks: of a sparse crowd those without a suppressor, of a dense one all
// that can be decided in a few looks. scatter() strips the keys of what peaks suppress of their scores: these
// candidates suppress none, and only find_representatives() looks for their suppressors.
#pragma once

#include "kernels/memory.cuh"
#include "kernels/staged/crowd.cuh"

namespace crowd::CROWD_STAGED {

/// Some of the best, which a block decides.
struct HeldBest {
  static constexpr std::uint32_t room = 32;
  /// Suppressors of one that have room on its list.
  static constexpr std::uint32_t list_room = warp_size;

  std::uint32_t first, step;  ///< number k is first + k * step among the best
  std::uint32_t size;
  float4 box[room];
  std::uint64_t key[room];
  std::int32_t label[room];
  std::uint32_t suppressors[room];  ///< so many, or more than were to be listed
  std::uint16_t list[room][list_room];
  static_assert(2 * tuning::staged_best <= 1 << 16);
};

/// Lists up to `list_room` suppressors of those that the block holds. For a whole block.
__device__ inline void list_best_suppressors(const Stage& stage, const Listed& best, std::uint32_t size, HeldBest& held,
                                             std::uint32_t list_room) {
  constexpr unsigned at_once = 4;
  for (std::uint32_t begin = threadIdx.x; begin < size; begin += threads * at_once) {
    float4 others[at_once];
    std::uint64_t keys[at_once];
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const std::uint32_t at = min(begin + k * threads, size - 1);
      others[k] = best.box[at];
      keys[k] = begin + k * threads < size ? best.key[at] : 0;
    }
    for (std::uint32_t c = 0; c < held.size; ++c) {
      // The others of a candidate with more are of no use.
      if (load_relaxed(&held.suppressors[c]) > list_room)
        continue;
      const float4 box = held.box[c];
      const Subject mine{box, area(as_box(box), stage.a.rule.overlap.offset), held.label[c], held.key[c]};
      unsigned may = 0;
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k)
        may |= static_cast<unsigned>(stage.may_suppress(keys[k], others[k], mine)) << k;
      if (!may)
        continue;
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k)
        if (may >> k & 1 && stage.suppresses(keys[k], others[k], mine)) {
          const std::uint32_t at = atomicAdd(&held.suppressors[c], 1u);
          if (at < list_room)
            held.list[c][at] = static_cast<std::uint16_t>(begin + k * threads);
        }
    }
  }
}

/// Adds the one at `c` of those that the block holds.
__device__ inline void add_peak(const Stage& stage, const HeldBest& held, std::uint32_t c) {
  const Listed peaks = peaks_of(stage);
  const std::uint32_t number = atomicAdd(peaks.count, 1u);
  if (peaks.add(number, held.box[c], held.key[c]))
    peak_bins(stage).add(stage, held.box[c], number);
}

/// Decides those that the block holds, as far as lists and decisions of others say, and adds the survivors to the
/// peaks. Other blocks may not have begun, so looks are few: what stays undecided is no peak. For a whole block.
__device__ inline void decide_held(const Stage& stage, const HeldBest& held) {
  constexpr unsigned items = HeldBest::room / warps;
  const std::uint32_t warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  std::uint32_t listed[items];  // the lane's suppressor of each candidate of the warp
  std::uint32_t waits = 0;      // a bit for each that is not known to be suppressed
  std::uint32_t open = 0, kept = 0;
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    const std::uint32_t c = k * warps + warp;
    const std::uint32_t suppressors = c < held.size ? held.suppressors[c] : 0;
    listed[k] = held.list[c][lane];
    open |= static_cast<std::uint32_t>(c < held.size) << k;
    waits |= static_cast<std::uint32_t>(lane < suppressors) << k;
  }
  for (unsigned looks = 0; open && looks < tuning::staged_best_looks; ++looks) {
    std::uint32_t word[items];
#pragma unroll
    for (unsigned k = 0; k < items; ++k)
      word[k] = waits >> k & 1 ? stage.decision(listed[k]).word() : Decision::suppressed().word();
#pragma unroll
    for (unsigned k = 0; k < items; ++k) {
      if (!(open >> k & 1))
        continue;
      const std::uint32_t c = k * warps + warp;
      const Decision its = Decision::of_word(word[k]);
      const bool suppressed = __any_sync(all_lanes, its.is_kept());
      const bool survives = __all_sync(all_lanes, its.is_suppressed()) && held.suppressors[c] <= HeldBest::list_room;
      waits &= ~(static_cast<std::uint32_t>(its.is_suppressed()) << k);
      if (!suppressed && !survives)
        continue;
      open &= ~(1u << k);
      kept |= static_cast<std::uint32_t>(survives) << k;
      if (lane == 0)
        stage.decide(held.first + c * held.step, survives ? Decision::kept() : Decision::suppressed());
    }
  }
  if (lane < items && kept >> lane & 1)
    add_peak(stage, held, lane * warps + warp);
}

/// Finds the peaks among the best of a crowd: the block takes every so-manieth. For a whole block, number `block` of
/// its `blocks`.
__device__ inline void find_peaks(const Stage& stage, HeldBest& held, std::uint32_t block, std::uint32_t blocks) {
  const Listed best = best_of(stage);
  const std::uint32_t size = *best.count;
  if (size > best.room)
    return;
  const bool is_dense = stage.counters().crowd == dense_crowd;
  const std::uint32_t t = threadIdx.x;
  for (std::uint32_t first = block; first < size; first += blocks * HeldBest::room) {
    const std::uint32_t own = first + t * blocks;
    if (t == 0) {
      held.first = first;
      held.step = blocks;
      held.size = min(ceil_div(size - first, blocks), HeldBest::room);
    }
    if (t < HeldBest::room && own < size) {
      held.box[t] = best.box[own];
      held.key[t] = best.key[own];
      held.label[t] = stage.label(held.key[t]);
      held.suppressors[t] = 0;
    }
    __syncthreads();
    list_best_suppressors(stage, best, size, held, is_dense ? HeldBest::list_room : 0);
    __syncthreads();
    if (is_dense)
      decide_held(stage, held);
    else if (t < held.size && !held.suppressors[t])
      add_peak(stage, held, t);
    __syncthreads();
  }
}

/// Whether a peak suppresses the candidate. Compares it with tuning::staged_peak_tests at most: not to drop a candidate
/// is never wrong.
__device__ inline bool has_peak(const Stage& stage, const Subject& mine) {
  const NearBins bins = peak_bins(stage);
  const Listed peaks = peaks_of(stage);
  const auto* const column = reinterpret_cast<const uint4*>(bins.column_of(mine.box));
  const auto* const row = reinterpret_cast<const uint4*>(bins.row_of(mine.box));
  std::uint32_t tests = 0;
  for (std::uint32_t quad = 0; quad * 128 < min(*peaks.count, peaks.room); ++quad) {
    const uint4 by_x = column[quad];
    const uint4 by_y = row[quad];
    const std::uint32_t near[4] = {by_x.x & by_y.x, by_x.y & by_y.y, by_x.z & by_y.z, by_x.w & by_y.w};
#pragma unroll
    for (unsigned word = 0; word < 4; ++word)
      for (std::uint32_t bits = near[word]; bits && tests < tuning::staged_peak_tests; bits &= bits - 1, ++tests) {
        const std::uint32_t number = quad * 128 + word * 32 + lowest_bit(bits);
        const std::uint64_t key = peaks.key[number];
        const float4 box = peaks.box[number];
        if (stage.may_suppress(key, box, mine) && stage.suppresses(key, box, mine))
          return true;
      }
  }
  return false;
}

}  // namespace crowd::CROWD_STAGED
