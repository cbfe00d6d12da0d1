// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Peaks: candidates without any suppressor, found among those with the best scores before any other suppressor is
// looked for. Greedy keeps them and drops what they suppress, most of a crowd (cuda/PROOFS.md, section 1). count()
// lists the best scores and samples whether the frame is a crowd, further blocks of scan() find the peaks, and
// scatter() strips the keys of what they suppress of their scores: these candidates suppress none, and only
// find_representatives() looks for their suppressors.
#pragma once

#include "kernels/memory.cuh"
#include "kernels/staged/staged.cuh"

namespace crowd::CROWD_STAGED {

/// Candidates in no order, in a part of StagedArrays::suppressors that is free until lists are made.
struct Listed {
  float4* box;
  std::uint64_t* key;
  std::uint32_t* count;  ///< of all, those without room included
  std::uint32_t room;

  __device__ void add(std::uint32_t at, const float4& its_box, std::uint64_t its_key) const {
    if (at >= room)
      return;
    box[at] = its_box;
    key[at] = its_key;
  }
};

/// A frame's candidates of the best scores. If there are more than fit, as where too many share a score, it has no
/// peaks. Behind the SortSlots: boxes of these and of peaks, then their keys.
__device__ inline Listed best_of(const Stage& stage) {
  const std::uint32_t sought = sought_best(stage.a.frames.capacity);
  float4* const boxes =
      reinterpret_cast<float4*>(stage.a.arrays.suppressors + stage.slot) + ceil_div(stage.a.frames.capacity, 2);
  auto* const keys = reinterpret_cast<std::uint64_t*>(boxes + 3 * sought);
  return {boxes, keys, &stage.counters().best, 2 * sought};
}

/// A frame's peaks. If there are more than fit, none is used.
__device__ inline Listed peaks_of(const Stage& stage) {
  const std::uint32_t sought = sought_best(stage.a.frames.capacity);
  const Listed best = best_of(stage);
  return {best.box + 2 * sought, best.key + 2 * sought, &stage.counters().peaks,
          min(sought, max_peaks(stage.a.frames.capacity))};
}

/// The score key that about `sought` of the frame's n candidates reach, by samples of their scores; above all keys if
/// that is none of these, as above 520 000 candidates. The more candidates, the coarser: of 65536 in no order one set
/// in 20 lists more than fit. For a whole warp.
__device__ inline std::uint32_t min_best_key(const float (&scores)[lane_scores], std::uint32_t n,
                                             std::uint32_t sought) {
  std::uint32_t key = 0;
#pragma unroll
  for (const float score : scores)
    key = max(key, score_key(score));
  // Of each lane's samples the best reaches the key as often as not all of them fail to.
  const float below = fmaxf(1 - __fdividef(static_cast<float>(sought), static_cast<float>(n)), 0);
  static_assert(lane_scores == 4);
  const auto reach = static_cast<std::uint32_t>(warp_size * (1 - below * below * below * below) + 0.5f);
  std::uint32_t better = 0;
#pragma unroll
  for (int lane = 0; lane < static_cast<int>(warp_size); ++lane)
    better += __shfl_sync(all_lanes, key, lane) > key;
  return warp_min(better < reach ? key : ~0u);
}

/// Lists the lanes' candidates that are `on`. For a whole warp.
__device__ inline void list_best(const Stage& stage, bool on, const float4& b, std::uint64_t key) {
  if (!__any_sync(all_lanes, on))
    return;
  const Listed best = best_of(stage);
  const std::uint32_t at = add_one(best.count, 0, on);
  if (on)
    best.add(at, b, key);
}

/// Of both axes, bins that repeat over the plane. A bin has a bit for each peak that may overlap boxes with their
/// centres in it.
struct PeakBins {
  static constexpr std::uint32_t per_axis = tuning::staged_peak_bins;

  Grid grid;
  std::uint32_t words;  ///< of a bin; a multiple of 4
  std::uint32_t* first;

  __device__ explicit PeakBins(const Stage& stage)
      : grid(stage.scale().grid), words(max_peaks(stage.a.frames.capacity) / 32), first(words_of(stage)) {
    grid.columns = grid.rows = per_axis;
  }
  /// All words of a frame.
  __device__ static std::uint32_t* words_of(const Stage& stage) {
    return stage.a.arrays.peak_bins + static_cast<std::size_t>(stage.frame) * peak_words(stage.a.frames.capacity);
  }
  __device__ std::uint32_t* x_bin(int number) const {
    return first + grid.column(number) * words;
  }
  __device__ std::uint32_t* y_bin(int number) const {
    return first + (per_axis + grid.row(number)) * words;
  }
  __device__ void add(const Stage& stage, const float4& box, std::uint32_t number) const {
    const FrameCounters& counters = stage.counters();
    const Window w =
        window(box, grid, stage.a.rule, {__uint_as_float(counters.width), __uint_as_float(counters.height)});
    for (std::uint32_t k = 0; k < w.x.count; ++k)
      atomicOr(x_bin(w.x.first + static_cast<int>(k)) + number / 32, 1u << number % 32);
    for (std::uint32_t k = 0; k < w.y.count; ++k)
      atomicOr(y_bin(w.y.first + static_cast<int>(k)) + number / 32, 1u << number % 32);
  }
};

struct CrowdShared {
  float4 box[threads / 2];
  std::uint32_t overlaps;
};

/// Takes note of a crowd, and clears the bins of its peaks: a frame of which so many sampled boxes overlap that a
/// candidate overlaps some tuning::staged_crowd others. Waits for the predecessor. For a whole block.
__device__ inline void note_crowd(const Stage& stage, CrowdShared& shared) {
  constexpr std::uint32_t samples = threads / 2;
  const Frames& frames = stage.a.frames;
  const std::uint32_t n = frames.size(stage.frame);
  if (threadIdx.x == 0)
    shared.overlaps = 0;
  if (threadIdx.x < samples)
    shared.box[threadIdx.x] =
        n ? frames.boxes[frames.input(stage.frame) + static_cast<std::uint64_t>(threadIdx.x) * n / samples] : float4{};
  __syncthreads();
  // Two threads compare a box with all that follow it up to half around the circle of samples.
  const std::uint32_t first = threadIdx.x % samples;
  const float4 mine = shared.box[first];
  std::uint32_t overlaps = 0;
  for (std::uint32_t by = threadIdx.x / samples; by < samples / 2; by += 2)
    overlaps += suppresses(shared.box[(first + 1 + by) % samples], mine, stage.a.rule);
  overlaps = warp_sum(overlaps);
  if (threadIdx.x % warp_size == 0)
    atomicAdd(&shared.overlaps, overlaps);
  __syncthreads();
  pdl_wait();
  constexpr std::uint64_t pairs = std::uint64_t{samples} * samples / 2;
  if (shared.overlaps < tuning::staged_min_overlaps ||
      std::uint64_t{shared.overlaps} * n < tuning::staged_crowd * pairs)
    return;
  if (threadIdx.x == 0)
    stage.counters().crowd = 1;
  for (std::uint32_t w = threadIdx.x; w < peak_words(stage.a.frames.capacity); w += threads)
    PeakBins::words_of(stage)[w] = 0;
}

struct PeakShared {
  static constexpr std::uint32_t room = 32;

  float4 box[room];
  std::uint64_t key[room];
  std::int32_t label[room];
  std::uint32_t suppressed[room];
};

/// Finds the peaks among the best of a crowd: the block compares every so-manieth of these with all. For a whole block,
/// number `block` of its `blocks`.
__device__ inline void find_peaks(const Stage& stage, PeakShared& shared, std::uint32_t block, std::uint32_t blocks) {
  constexpr unsigned at_once = 4;
  const Listed best = best_of(stage);
  const std::uint32_t size = *best.count;
  if (size > best.room)
    return;
  const std::uint32_t t = threadIdx.x;
  for (std::uint32_t first = block; first < size; first += blocks * PeakShared::room) {
    const std::uint32_t own = first + t * blocks;
    const bool has_own = t < PeakShared::room && own < size;
    if (has_own) {
      shared.box[t] = best.box[own];
      shared.key[t] = best.key[own];
      shared.label[t] = stage.label(shared.key[t]);
      shared.suppressed[t] = 0;
    }
    __syncthreads();
    const std::uint32_t held = min(ceil_div(size - first, blocks), PeakShared::room);
    for (std::uint32_t begin = t; begin < size; begin += threads * at_once) {
      float4 others[at_once];
      std::uint64_t keys[at_once];
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k) {
        const std::uint32_t at = min(begin + k * threads, size - 1);
        others[k] = best.box[at];
        keys[k] = best.key[at];
      }
      for (std::uint32_t c = 0; c < held; ++c) {
        if (load_relaxed(&shared.suppressed[c]))
          continue;
        const float4 box = shared.box[c];
        const Subject mine{box, area(as_box(box), stage.a.rule.overlap.offset), shared.label[c], shared.key[c]};
        unsigned may = 0;
#pragma unroll
        for (unsigned k = 0; k < at_once; ++k)
          may |= static_cast<unsigned>(stage.may_suppress(keys[k], others[k], mine)) << k;
        bool hit = false;
#pragma unroll
        for (unsigned k = 0; k < at_once; ++k)
          if (may >> k & 1 && !hit)
            hit = stage.suppresses(keys[k], others[k], mine);
        if (hit)
          store_relaxed_shared(&shared.suppressed[c], 1);
      }
    }
    __syncthreads();
    const Listed peaks = peaks_of(stage);
    if (has_own && !shared.suppressed[t]) {
      const std::uint32_t number = atomicAdd(peaks.count, 1u);
      peaks.add(number, shared.box[t], shared.key[t]);
      if (number < peaks.room)
        PeakBins(stage).add(stage, shared.box[t], number);
    }
    __syncthreads();
  }
}

/// Whether has_peak() may hold.
__device__ inline bool uses_peaks(const Stage& stage) {
  const Listed peaks = peaks_of(stage);
  return *peaks.count - 1 < peaks.room;
}

/// Whether a peak suppresses the candidate. Compares it with tuning::staged_peak_tests at most: not to drop a candidate
/// is never wrong.
__device__ inline bool has_peak(const Stage& stage, const Subject& mine) {
  const PeakBins bins(stage);
  const Listed peaks = peaks_of(stage);
  const auto* const x =
      reinterpret_cast<const uint4*>(bins.x_bin(Grid::along(Grid::centre(mine.box.x, mine.box.z), bins.grid.per_x)));
  const auto* const y =
      reinterpret_cast<const uint4*>(bins.y_bin(Grid::along(Grid::centre(mine.box.y, mine.box.w), bins.grid.per_y)));
  std::uint32_t tests = 0;
  for (std::uint32_t quad = 0; quad * 128 < *peaks.count; ++quad) {
    const uint4 by_x = x[quad];
    const uint4 by_y = y[quad];
    const std::uint32_t near[4] = {by_x.x & by_y.x, by_x.y & by_y.y, by_x.z & by_y.z, by_x.w & by_y.w};
#pragma unroll
    for (unsigned word = 0; word < 4; ++word)
      for (std::uint32_t left = near[word]; left && tests < tuning::staged_peak_tests; left &= left - 1, ++tests) {
        const std::uint32_t number =
            quad * 128 + word * 32 + static_cast<std::uint32_t>(__ffs(static_cast<int>(left))) - 1;
        const std::uint64_t key = peaks.key[number];
        const float4 box = peaks.box[number];
        if (stage.may_suppress(key, box, mine) && stage.suppresses(key, box, mine))
          return true;
      }
  }
  return false;
}

}  // namespace crowd::CROWD_STAGED
