// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which of some survivors may suppress a candidate of a block. The block's candidates are sorted into bins by each of
// four measures, and a bin has a bit for each survivor that may suppress candidates of such a measure.
#pragma once

#include "kernels/staged/staged.cuh"

namespace crowd::CROWD_STAGED {

/// Measures of a candidate. Their keys are unsigned and order as they do.
enum Measure : unsigned { centre_x, centre_y, box_width, box_class };
constexpr unsigned measures = 4;

/// Keys from `min` to `max`, both included.
struct KeyInterval {
  std::uint32_t min, max;
};
constexpr KeyInterval all_keys = {0, ~0u};

/// Of a block.
struct MeasureBins {
  static constexpr unsigned bins = 32;  ///< for each measure; masks of bins are words
  static constexpr unsigned words = 4;  ///< of a bin: a bit for each of 128 survivors

  // Keys. Running, so that both rise from bin to bin, empty bins included: meeting() searches them by halves.
  std::uint32_t max[measures][bins];    ///< of a bin's candidates and of all before
  std::uint32_t min[measures][bins];    ///< of a bin's candidates and of all after
  std::uint32_t max_width, max_height;  ///< of the candidates, as bits

  /// At least the bins with a candidate in the interval, a bit each.
  __device__ std::uint32_t meeting(Measure measure, const KeyInterval& interval) const {
    std::uint32_t before = 0;  // bins that end before the interval
    std::uint32_t begun = 0;   // bins that begin in it or before it
#pragma unroll
    for (unsigned step = bins / 2; step; step /= 2) {
      before += max[measure][before + step - 1] < interval.min ? step : 0;
      begun += min[measure][begun + step - 1] <= interval.max ? step : 0;
    }
    before += max[measure][before] < interval.min;
    begun += min[measure][begun] <= interval.max;
    return low_bits(begun) & ~low_bits(before);
  }
};

/// The bins that a candidate is in.
struct BinsOfCandidate {
  std::uint32_t packed;  ///< 8 bits for each measure

  __device__ std::uint32_t of(unsigned measure) const {
    return packed >> 8 * measure & 0xff;
  }
};

__device__ inline std::uint32_t class_key(std::int32_t label) {
  return static_cast<std::uint32_t>(label) ^ 0x80000000u;
}

/// Whether the measure sets candidates apart: class does where it matters.
__device__ inline bool is_used(unsigned measure, const PairRule& rule) {
  return measure != box_class || rule.by_class;
}

/// Sorts the candidates that wait into bins, about as many in each; equal measures share one. `keys` is shared memory,
/// and free again on return. For a whole block; it has to meet at a barrier before the bins are used.
__device__ inline BinsOfCandidate take_bins(const Stage& stage, MeasureBins& shared,
                                            std::uint32_t (&keys)[measures][threads], const Subject& mine, bool waits) {
  constexpr std::uint32_t not_waiting = ~0u;  // no key is above it, so it counts as less than none
  const float offset = stage.a.rule.overlap.offset;
  const std::uint32_t own[measures] = {
      number_key(Grid::centre(mine.box.x, mine.box.z)),
      number_key(Grid::centre(mine.box.y, mine.box.w)),
      number_key(width(mine.box, offset)),
      class_key(mine.label),
  };
#pragma unroll
  for (unsigned measure = 0; measure < measures; ++measure)
    keys[measure][threadIdx.x] = waits ? own[measure] : not_waiting;
  constexpr unsigned all_bins = measures * MeasureBins::bins;
  static_assert(MeasureBins::bins == warp_size && all_bins <= threads,
                "a thread for each bin, a warp for each measure");
  const unsigned warp = threadIdx.x / warp_size;
  const unsigned lane = threadIdx.x % warp_size;
  if (threadIdx.x < all_bins) {
    shared.max[warp][lane] = 0;
    shared.min[warp][lane] = ~0u;
  }
  if (threadIdx.x == 0)
    shared.max_width = shared.max_height = 0;
  const auto count = static_cast<std::uint32_t>(__syncthreads_count(waits));
  BinsOfCandidate result{0};
#pragma unroll
  for (unsigned measure = 0; measure < measures; ++measure) {
    if (!waits || !is_used(measure, stage.a.rule))
      continue;
    std::uint32_t less = 0;
    for (unsigned other = 0; other < threads; other += 4) {
      const uint4 its = *reinterpret_cast<const uint4*>(&keys[measure][other]);
      less += static_cast<std::uint32_t>(its.x < own[measure]) + static_cast<std::uint32_t>(its.y < own[measure]) +
              static_cast<std::uint32_t>(its.z < own[measure]) + static_cast<std::uint32_t>(its.w < own[measure]);
    }
    const std::uint32_t bin = less * MeasureBins::bins / count;
    atomicMax(&shared.max[measure][bin], own[measure]);
    atomicMin(&shared.min[measure][bin], own[measure]);
    result.packed |= bin << 8 * measure;
  }
  if (waits) {
    atomicMax(&shared.max_width, __float_as_uint(width(mine.box, offset)));
    atomicMax(&shared.max_height, __float_as_uint(height(mine.box, offset)));
  }
  __syncthreads();
  if (threadIdx.x < all_bins) {
    std::uint32_t up_to = shared.max[warp][lane];
    std::uint32_t from = shared.min[warp][lane];
#pragma unroll
    for (unsigned step = 1; step < warp_size; step *= 2) {
      const std::uint32_t before = __shfl_up_sync(all_lanes, up_to, step);
      const std::uint32_t after = __shfl_down_sync(all_lanes, from, step);
      up_to = max(up_to, lane >= step ? before : 0);
      from = min(from, lane + step < warp_size ? after : ~0u);
    }
    shared.max[warp][lane] = up_to;
    shared.min[warp][lane] = from;
  }
  return result;
}

/// Measures of candidates that a survivor may suppress: PROOFS.md, section 5.
class MeasureIntervals {
 public:
  __device__ MeasureIntervals(const PairRule& rule, const MeasureBins& bins, const float4& box, std::int32_t label)
      : rule_(rule),
        bins_(bins),
        box_(box),
        label_(label),
        tiny_(width(box, rule.overlap.offset) * height(box, rule.overlap.offset) < tiny_area) {}
  /// Of the centre along an axis.
  __device__ KeyInterval of_centre(bool upright) const {
    if (rule_.disjoint_too)
      return all_keys;
    const float extent = upright ? height(box_, rule_.overlap.offset) : width(box_, rule_.overlap.offset);
    const float centre = upright ? Grid::centre(box_.y, box_.w) : Grid::centre(box_.x, box_.z);
    const float max_extent = __uint_as_float(upright ? bins_.max_height : bins_.max_width);
    const float pair_reach = tiny_ ? 0.5f : rule_.pair_reach;
    const float far = distance_of_overlapping(centre, extent, reach(), pair_reach, max_extent);
    return {number_key(centre - far), number_key(centre + far)};
  }
  __device__ KeyInterval of_width() const {
    const float ratio = (1 + 2 * reach()) * (1 + 1e-5f);
    if (rule_.disjoint_too || !(ratio < INFINITY))
      return all_keys;
    const float w = width(box_, rule_.overlap.offset);
    return {number_key(w / ratio), number_key(w * ratio)};
  }
  __device__ KeyInterval of_class() const {
    return {class_key(label_), class_key(label_)};
  }

 private:
  __device__ float reach() const {
    return tiny_ ? INFINITY : rule_.reach;
  }
  const PairRule& rule_;
  const MeasureBins& bins_;
  float4 box_;
  std::int32_t label_;
  bool tiny_;
};

/// Turns a matrix of 32 x 32 bits, a row a lane, about its diagonal. For a whole warp.
__device__ inline std::uint32_t transpose(std::uint32_t row) {
  std::uint32_t low = 0xffff;  // of each pair of parts
#pragma unroll
  for (unsigned step = 16; step; step /= 2, low ^= low << step) {
    const std::uint32_t other = __shfl_xor_sync(all_lanes, row, step);
    row = threadIdx.x & step ? (row & ~low) | (other >> step & low) : (row & low) | (other << step & ~low);
  }
  return row;
}

/// Bits of survivors for each bin.
struct NearSurvivors {
  uint4 of[measures][MeasureBins::bins];

  /// The survivors near a candidate: those of all its bins.
  __device__ uint4 near(const BinsOfCandidate& bins, const PairRule& rule) const {
    uint4 bits = of[0][bins.of(0)];
#pragma unroll
    for (unsigned measure = 1; measure < measures; ++measure) {
      if (!is_used(measure, rule))
        continue;
      const uint4 also = of[measure][bins.of(measure)];
      bits = {bits.x & also.x, bits.y & also.y, bits.z & also.z, bits.w & also.w};
    }
    return bits;
  }
  /// Sets the bits of survivors, one on each lane that is `on`, for one measure. For a whole warp.
  __device__ void set(const MeasureBins& bins, Measure measure, const KeyInterval& interval, unsigned word, bool on) {
    reinterpret_cast<std::uint32_t*>(&of[measure][threadIdx.x % warp_size])[word] =
        transpose(on ? bins.meeting(measure, interval) : 0);
  }
};

}  // namespace crowd::CROWD_STAGED
