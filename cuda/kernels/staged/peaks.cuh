// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Peaks: the survivors among a crowd's candidates of the best scores, whose decisions depend on none of the others.
// Greedy keeps them and drops what they suppress, most of a crowd (cuda/PROOFS.md, section 1). count() lists the best
// scores. Further blocks of scan() find the peaks: of a sparse crowd those without a suppressor, of a dense one all
// that can be decided in a few looks. scatter() strips the keys of what peaks suppress of their scores: these
// candidates suppress none, and only find_representatives() looks for their suppressors.
//
// In map-reduce a candidate suppresses others even if it is suppressed. There all of the best are peaks, and keys stay.
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

/// Lists up to `list_room` suppressors of those that the block holds. Waits for what its threads have written of these.
/// For a whole block; `size` is not 0.
__device__ inline void list_best_suppressors(const Stage& stage, const Listed& best, std::uint32_t size, HeldBest& held,
                                             std::uint32_t list_room) {
  constexpr unsigned at_once = 4;
  for (std::uint32_t begin = threadIdx.x; begin - threadIdx.x < size; begin += threads * at_once) {
    float4 others[at_once];
    std::uint64_t keys[at_once];
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const std::uint32_t at = min(begin + k * threads, size - 1);
      others[k] = best.box[at];
      keys[k] = begin + k * threads < size ? best.key[at] : 0;
    }
    if (begin == threadIdx.x)
      __syncthreads();
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

/// Makes peaks of all of the best, as many as have bits. For a whole block, number `block` of `blocks`.
__device__ inline void use_best(const Stage& stage, std::uint32_t size, std::uint32_t block, std::uint32_t blocks) {
  const Listed peaks = peaks_of(stage);
  if (block == 0 && threadIdx.x == 0)
    *peaks.count = size;
  for (std::uint32_t k = block * threads + threadIdx.x; k < min(size, peaks.room); k += blocks * threads)
    peak_bins(stage).add(stage, peaks.box[k], k);
}

/// Finds the peaks among the best of a crowd: the block takes every so-manieth. For a whole block, number `block` of
/// its `blocks`.
__device__ inline void find_peaks(const Stage& stage, HeldBest& held, std::uint32_t block, std::uint32_t blocks) {
  const Listed best = best_of(stage);
  const std::uint32_t size = *best.count;
  if (stage.a.all_suppress)
    return use_best(stage, size, block, blocks);
  if (size > best.room)
    return;
  const bool is_dense = stage.counters().crowd == dense_crowd;
  const std::uint32_t t = threadIdx.x;
  // For scatter().
  if (is_dense)
    NearBins::clear(stage, stage.a.left.bins, max_left(stage.a.frames.capacity), block, blocks);
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
    list_best_suppressors(stage, best, size, held, is_dense ? HeldBest::list_room : 0);
    __syncthreads();
    if (is_dense)
      decide_held(stage, held);
    else if (t < held.size && !held.suppressors[t])
      add_peak(stage, held, t);
    __syncthreads();
  }
}

/// Numbers of peaks near a candidate, 8 bits each: collected before the first is compared, so that the lanes of a warp
/// compare together, whatever words their bits are in.
struct NearPeaks {
  static constexpr std::uint32_t quads = 2;  ///< of words of a bin, at a time
  static constexpr unsigned bits = 8;
  static constexpr std::uint32_t room = 64 / bits;
  static_assert(quads * 128 == 1 << bits);

  std::uint64_t numbers = 0;
  std::uint32_t count = 0;

  __device__ void add(std::uint32_t number) {
    numbers |= static_cast<std::uint64_t>(number) << count++ * bits;
  }
  __device__ std::uint32_t take() {
    const auto number = static_cast<std::uint32_t>(numbers) & ((1u << bits) - 1);
    numbers >>= bits;
    return number;
  }
};

/// The peaks near a box by the words of its bins from `quad` on, of `quads`; as many as have room.
__device__ inline NearPeaks near_peaks(const uint4* column, const uint4* row, std::uint32_t quad, std::uint32_t quads) {
  std::uint32_t near[NearPeaks::quads * 4];
#pragma unroll
  for (std::uint32_t q = 0; q < NearPeaks::quads; ++q) {
    const uint4 by_x = column[min(quad + q, quads - 1)];
    const uint4 by_y = row[min(quad + q, quads - 1)];
    const std::uint32_t here = quad + q < quads ? ~0u : 0;
    near[q * 4] = by_x.x & by_y.x & here;
    near[q * 4 + 1] = by_x.y & by_y.y & here;
    near[q * 4 + 2] = by_x.z & by_y.z & here;
    near[q * 4 + 3] = by_x.w & by_y.w & here;
  }
  NearPeaks list;
#pragma unroll
  for (std::uint32_t word = 0; word < NearPeaks::quads * 4; ++word)
    for (std::uint32_t bits = near[word]; bits && list.count < NearPeaks::room; bits &= bits - 1)
      list.add(word * 32 + lowest_bit(bits));
  return list;
}

/// Whether a peak suppresses the candidate. Of each 256 peaks compares it with the first NearPeaks::room near it: not
/// to drop a candidate is never wrong.
__device__ inline bool has_peak(const Stage& stage, const Subject& mine) {
  constexpr unsigned at_once = 2;
  const NearBins bins = peak_bins(stage);
  const Listed peaks = peaks_of(stage);
  const auto* const column = reinterpret_cast<const uint4*>(bins.column_of(mine.box));
  const auto* const row = reinterpret_cast<const uint4*>(bins.row_of(mine.box));
  const std::uint32_t quads = ceil_div(min(*peaks.count, peaks.room), 128);
  for (std::uint32_t quad = 0; quad < quads; quad += NearPeaks::quads) {
    NearPeaks list = near_peaks(column, row, quad, quads);
    for (std::uint32_t k = 0; k < list.count; k += at_once) {
      std::uint64_t key[at_once];
      float4 box[at_once];
#pragma unroll
      for (unsigned n = 0; n < at_once; ++n) {
        // Beyond the last of the list there are zeros, which number a peak, too.
        const std::uint32_t number = quad * 128 + list.take();
        key[n] = peaks.key[number];
        box[n] = peaks.box[number];
      }
#pragma unroll
      for (unsigned n = 0; n < at_once; ++n)
        if (stage.may_suppress(key[n], box[n], mine) && stage.suppresses(key[n], box[n], mine))
          return true;
    }
  }
  return false;
}

}  // namespace crowd::CROWD_STAGED
