// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which of some survivors may suppress a candidate of a block, by bits. For each of four numbers candidates are in
// bins; a bin has a bit for each survivor that may suppress candidates with such numbers.
#pragma once

#include "kernels/staged/staged.cuh"

namespace crowd::CROWD_STAGED {

/// Numbers of a candidate. Their keys are unsigned and order as they do.
enum Number : unsigned { centre_x, centre_y, box_width, box_class };
constexpr unsigned numbers = 4;

/// From `min` to `max`, both included.
struct KeyRange {
  std::uint32_t min, max;
};
constexpr KeyRange no_keys = {~0u, 0};
constexpr KeyRange all_keys = {0, ~0u};

/// Of a block.
struct NumberBins {
  static constexpr unsigned bins = warp_size;  ///< for each number
  static constexpr unsigned words = 4;         ///< of a bin: a bit for each of 128 survivors

  // Keys. Neither falls from bin to bin, since empty bins count here as well.
  std::uint32_t max[numbers][bins];     ///< of a bin's candidates and of all before
  std::uint32_t min[numbers][bins];     ///< of a bin's candidates and of all after
  std::uint32_t max_width, max_height;  ///< of the candidates, as bits

  /// A bit for each bin with candidates in the range, and maybe for empty ones between these.
  __device__ std::uint32_t meeting(unsigned number, const KeyRange& range) const {
    std::uint32_t before = 0;  // bins that end before the range
    std::uint32_t begun = 0;   // bins that begin in it or before it
#pragma unroll
    for (unsigned step = bins / 2; step; step /= 2) {
      before += max[number][before + step - 1] < range.min ? step : 0;
      begun += min[number][begun + step - 1] <= range.max ? step : 0;
    }
    before += max[number][before] < range.min;
    begun += min[number][begun] <= range.max;
    return low_bits(begun) & ~low_bits(before);
  }
};

/// The bins that a candidate is in.
struct BinsOfCandidate {
  std::uint32_t packed;  ///< 8 bits for each number

  __device__ std::uint32_t of(unsigned number) const {
    return packed >> 8 * number & 0xff;
  }
};

__device__ inline std::uint32_t class_key(std::int32_t label) {
  return static_cast<std::uint32_t>(label) ^ 0x80000000u;
}

/// Whether candidates are in bins by this number: by class where it matters.
__device__ inline bool is_used(unsigned number, const PairRule& rule) {
  return number != box_class || rule.by_class;
}

/// Puts candidates that wait in bins, about as many in each; equal numbers share one. `keys` is shared memory, and free
/// again on return. For a whole block, which meets at a barrier before it uses the bins.
__device__ inline BinsOfCandidate take_bins(const Stage& stage, NumberBins& shared,
                                            std::uint32_t (&keys)[numbers][threads], const Subject& mine, bool waits) {
  const float offset = stage.a.rule.overlap.offset;
  const std::uint32_t own[numbers] = {
      number_key(Grid::centre(mine.box.x, mine.box.z)),
      number_key(Grid::centre(mine.box.y, mine.box.w)),
      number_key(width(mine.box, offset)),
      class_key(mine.label),
  };
#pragma unroll
  for (unsigned number = 0; number < numbers; ++number)
    keys[number][threadIdx.x] = waits ? own[number] : no_keys.min;
  constexpr unsigned all_bins = numbers * NumberBins::bins;
  static_assert(all_bins <= threads, "a thread for each bin, a warp for each number");
  const unsigned warp = threadIdx.x / warp_size;
  const unsigned lane = threadIdx.x % warp_size;
  if (threadIdx.x < all_bins) {
    shared.max[warp][lane] = no_keys.max;
    shared.min[warp][lane] = no_keys.min;
  }
  if (threadIdx.x == 0)
    shared.max_width = shared.max_height = 0;
  const auto count = static_cast<std::uint32_t>(__syncthreads_count(waits));
  BinsOfCandidate result{0};
#pragma unroll
  for (unsigned number = 0; number < numbers; ++number) {
    if (!waits || !is_used(number, stage.a.rule))
      continue;
    std::uint32_t less = 0;
    for (unsigned other = 0; other < threads; other += 4) {
      const uint4 its = *reinterpret_cast<const uint4*>(&keys[number][other]);
      less += static_cast<std::uint32_t>(its.x < own[number]) + static_cast<std::uint32_t>(its.y < own[number]) +
              static_cast<std::uint32_t>(its.z < own[number]) + static_cast<std::uint32_t>(its.w < own[number]);
    }
    const std::uint32_t bin = less * NumberBins::bins / count;
    atomicMax(&shared.max[number][bin], own[number]);
    atomicMin(&shared.min[number][bin], own[number]);
    result.packed |= bin << 8 * number;
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

/// Numbers of candidates that a survivor may suppress: PROOFS.md, section 5.
class NumberRanges {
 public:
  __device__ NumberRanges(const PairRule& rule, const NumberBins& bins, const float4& box, std::int32_t label)
      : rule_(rule),
        bins_(bins),
        box_(box),
        label_(label),
        tiny_(width(box, rule.overlap.offset) * height(box, rule.overlap.offset) < tiny_area) {}
  /// Of the centre along an axis.
  __device__ KeyRange of_centre(bool upright) const {
    if (rule_.disjoint_too)
      return all_keys;
    const float extent = upright ? height(box_, rule_.overlap.offset) : width(box_, rule_.overlap.offset);
    const float centre = upright ? Grid::centre(box_.y, box_.w) : Grid::centre(box_.x, box_.z);
    const float max_extent = __uint_as_float(upright ? bins_.max_height : bins_.max_width);
    const float pair_reach = tiny_ ? 0.5f : rule_.pair_reach;
    const float far = with_slack(fminf(reach() * extent, pair_reach * extent + pair_reach * max_extent), centre);
    return {number_key(centre - far), number_key(centre + far)};
  }
  __device__ KeyRange of_width() const {
    const float ratio = (1 + 2 * reach()) * (1 + 1e-5f);
    if (rule_.disjoint_too || !(ratio < INFINITY))
      return all_keys;
    const float w = width(box_, rule_.overlap.offset);
    return {number_key(w / ratio), number_key(w * ratio)};
  }
  __device__ KeyRange of_class() const {
    return {class_key(label_), class_key(label_)};
  }

 private:
  __device__ float reach() const {
    return tiny_ ? INFINITY : rule_.reach;
  }
  const PairRule& rule_;
  const NumberBins& bins_;
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
  uint4 of[numbers][NumberBins::bins];

  /// Of a candidate.
  __device__ uint4 near(const BinsOfCandidate& bins, const PairRule& rule) const {
    uint4 bits = of[0][bins.of(0)];
#pragma unroll
    for (unsigned number = 1; number < numbers; ++number) {
      if (!is_used(number, rule))
        continue;
      const uint4 also = of[number][bins.of(number)];
      bits = {bits.x & also.x, bits.y & also.y, bits.z & also.z, bits.w & also.w};
    }
    return bits;
  }
  /// Sets the bits of survivors, one on each lane that is `on`, for one number. For a whole warp.
  __device__ void set(const NumberBins& bins, Number number, const KeyRange& range, unsigned word, bool on) {
    reinterpret_cast<std::uint32_t*>(&of[number][threadIdx.x % warp_size])[word] =
        transpose(on ? bins.meeting(number, range) : 0);
  }
};

}  // namespace crowd::CROWD_STAGED
