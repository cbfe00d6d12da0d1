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

#include "kernels/staged/crowd.cuh"

namespace crowd::CROWD_STAGED {

/// Decides number `at` of a dense crowd's best, as far as decisions of others say. Other warps may not have begun,
/// so looks are few: what stays undecided is no peak. For a whole warp.
__device__ inline Decision decide_best(const Stage& stage, const Best& best, std::uint32_t at, const Subject& mine,
                                       NumberQueue& queue) {
  const Finds finds = find_among_best(stage, best, best.end_of_half(at), queue, mine);
  const Decision decision = decide_by_finds(stage, finds, tuning::staged_best_looks);
  if (threadIdx.x % warp_size == 0 && decision.is_decided())
    stage.decide(best.number(at), decision);
  return decision;
}

/// Adds one to the peaks, with the bins of its box.
__device__ inline void add_peak(const Stage& stage, const Subject& its, const Window& near) {
  const Listed peaks = peaks_of(stage);
  const std::uint32_t number = atomicAdd(peaks.count, 1u);
  if (peaks.add(number, its.box, its.key))
    peak_bins(stage).add(near, number);
}

/// Makes peaks of all of the best, as many as have bits. For a whole block, number `block` of `blocks`.
__device__ inline void use_best(const Stage& stage, std::uint32_t size, std::uint32_t block, std::uint32_t blocks) {
  const Listed peaks = peaks_of(stage);
  if (block == 0 && threadIdx.x == 0)
    *peaks.count = size;
  for (std::uint32_t k = block * threads + threadIdx.x; k < min(size, peaks.room); k += blocks * threads)
    peak_bins(stage).add(peak_bins(stage).window_of(stage, peaks.box[k]), k);
}

/// Finds the peaks of a crowd among its best, each of which a warp decides. For a whole block, number `block` of its
/// `blocks`.
__device__ inline void find_peaks(const Stage& stage, NumberQueue (&queues)[warps], std::uint32_t block,
                                  std::uint32_t blocks) {
  const Listed listed = best_of(stage);
  // All are loaded at a time.
  const std::uint32_t crowd = materialize(stage.counters().crowd);
  const std::uint32_t upper = materialize(listed.count[0]);
  const std::uint32_t count = upper + materialize(listed.count[1]);
  if (!unlikely(crowd != no_crowd))
    return;
  if (stage.a.all_suppress)
    return use_best(stage, count, block, blocks);
  if (count > listed.room)
    return;
  const bool is_dense = crowd == dense_crowd;
  // For scatter().
  if (is_dense)
    NearBins::clear(stage, stage.a.left.bins, max_left(stage.a.frames.capacity), block, blocks);
  const Best best{listed, upper, count};
  const std::uint32_t warp = threadIdx.x / warp_size;
  for (std::uint32_t at = block * warps + warp; at < count; at += warps * blocks) {
    const std::uint32_t number = best.number(at);
    const Subject mine = stage.subject_of(listed.key[number], listed.box[number]);
    const Window near = peak_bins(stage).window_of(stage, mine.box);
    const bool survives = is_dense ? decide_best(stage, best, at, mine, queues[warp]).is_kept()
                                   : !has_better(stage, best, best.end_of_half(at), mine);
    if (threadIdx.x % warp_size == 0 && survives)
      add_peak(stage, mine, near);
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
