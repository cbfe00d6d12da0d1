// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Whether a frame is a crowd, and what is listed of one: survivors among its best (peaks.cuh), and what no such
// survivor suppresses (left.cuh).
#pragma once

#include "kernels/staged/best.cuh"
#include "kernels/staged/near_bins.cuh"

namespace crowd::CROWD_STAGED {

/// A frame's peaks; in map-reduce, of the best as many as have bits.
__device__ inline Listed peaks_of(const Stage& stage) {
  if (stage.a.all_suppress) {
    const Listed best = best_of(stage);
    return {best.box, best.key, &stage.counters().peaks, min(best.room, max_best_peaks(stage.a.frames.capacity)),
            nullptr};
  }
  const std::uint32_t sought = max_sought(stage.a.frames.capacity);
  const Listed best = best_of(stage);
  return {best.box + 2 * sought, best.key + 2 * sought, &stage.counters().peaks,
          min(sought, max_peaks(stage.a.frames.capacity)), nullptr};
}

__device__ inline NearBins peak_bins(const Stage& stage) {
  return {stage, stage.a.arrays.peak_bins, max_peaks(stage.a.frames.capacity)};
}
__device__ inline NearBins left_bins(const Stage& stage) {
  return {stage, stage.a.left.bins, max_left(stage.a.frames.capacity)};
}

struct CrowdShared {
  float4 box[crowd_samples];
  std::uint32_t overlaps;
};

/// Takes note of a crowd, a frame of which so many sampled boxes overlap that a candidate overlaps some
/// tuning::staged_crowd others, and clears what scan() uses of crowds alone. Waits for the predecessor. For a whole
/// block.
__device__ inline void note_crowd(const Stage& stage, CrowdShared& shared) {
  constexpr std::uint32_t samples = crowd_samples;
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
  const Subject subject{mine, area(as_box(mine), stage.a.rule.overlap.offset), 0, 0};
  std::uint32_t overlaps = 0;
  for (std::uint32_t by = threadIdx.x / samples; by < samples / 2; by += 2) {
    // May be one too many: that affects speed alone.
    const float4 other = shared.box[(first + 1 + by) % samples];
    overlaps +=
        stage.may_suppress(1, other, subject) && (!stage.a.rule.disjoint_too || suppresses(other, mine, stage.a.rule));
  }
  overlaps = warp_sum(overlaps);
  if (threadIdx.x % warp_size == 0)
    atomicAdd(&shared.overlaps, overlaps);
  __syncthreads();
  pdl_wait();
  constexpr std::uint64_t pairs = std::uint64_t{samples} * samples / 2;
  if (shared.overlaps < tuning::staged_min_overlaps ||
      std::uint64_t{shared.overlaps} * n < tuning::staged_crowd * pairs)
    return;
  const bool is_dense = shared.overlaps >= tuning::staged_min_dense &&
                        std::uint64_t{shared.overlaps} * n >= tuning::staged_dense_crowd * pairs;
  const bool all_suppress = stage.a.all_suppress;
  if (all_suppress && !is_dense)
    return;
  if (threadIdx.x == 0)
    stage.counters().crowd = is_dense ? dense_crowd : sparse_crowd;
  NearBins::clear(stage, stage.a.arrays.peak_bins, max_peaks(frames.capacity));
  if (!is_dense || all_suppress)
    return;
  for (std::uint32_t k = threadIdx.x; k < best_of(stage).room; k += threads)
    stage.decide(k, Decision::undecided());
}

/// The pairs that note_large_crowd() compares: of samples of each set with those of half of the other sets.
constexpr std::uint32_t large_crowd_pairs = crowd_sets * (crowd_sets / 2) * crowd_samples * crowd_samples;

/// A box of a set of samples of the frame's n candidates; they are spread evenly.
__device__ inline float4 sample_of_set(const Stage& stage, std::uint32_t n, std::uint32_t set, std::uint32_t number) {
  const std::uint64_t sample = number * crowd_sets + set % crowd_sets;
  return stage.a.frames.boxes[stage.a.frames.input(stage.frame) + sample * n / (crowd_sets * crowd_samples)];
}

/// Counts overlapping pairs among so many samples of a large frame that a crowd of many small clusters shows. Waits for
/// the predecessor. For a whole block, number `block` of large_crowd_blocks.
__device__ inline void note_large_crowd(const Stage& stage, CrowdShared& shared, std::uint32_t block) {
  const std::uint32_t n = stage.a.frames.size(stage.frame);
  const std::uint32_t set = block / blocks_per_set;
  if (threadIdx.x < crowd_samples)
    shared.box[threadIdx.x] = n ? sample_of_set(stage, n, set, threadIdx.x) : float4{};
  __syncthreads();
  std::uint32_t overlaps = 0;
  for (std::uint32_t k = block % blocks_per_set; n && k < crowd_sets / 2; k += blocks_per_set) {
    const float4 box = sample_of_set(stage, n, set + 1 + k, threadIdx.x % crowd_samples);
    const Subject subject{box, area(as_box(box), stage.a.rule.overlap.offset), 0, 0};
    for (std::uint32_t s = threadIdx.x / crowd_samples; s < crowd_samples; s += threads / crowd_samples)
      overlaps += stage.may_suppress(1, shared.box[s], subject);
  }
  overlaps = warp_sum(overlaps);
  pdl_wait();
  if (threadIdx.x % warp_size == 0 && overlaps)
    atomicAdd(&stage.counters().overlaps, overlaps);
}

/// Whether a candidate overlaps about tuning::staged_large_crowd others; not for crowds of so few clusters that these
/// have peaks. Known after count().
__device__ inline bool is_large_crowd(const Stage& stage) {
  return stage.counters().crowd == no_crowd &&
         std::uint64_t{stage.counters().overlaps} * stage.a.frames.size(stage.frame) >=
             std::uint64_t{tuning::staged_large_crowd} * large_crowd_pairs;
}

}  // namespace crowd::CROWD_STAGED
