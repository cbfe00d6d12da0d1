// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Geometry of overlapping boxes: the overlap test without a division, a bound on the distance of two boxes that
// overlap, and a grid of cells that finds boxes within that distance. cuda/PROOFS.md has the proofs.
#pragma once

#include "core/order.hpp"
#include "core/overlap.hpp"
#include "kernels/frames.cuh"
#include "kernels/warp.cuh"

namespace crowd {

/// OverlapRule with what kernels derive from it.
struct PairRule {
  OverlapRule overlap;
  float accept_factor;  ///< inter > accept_factor * denominator: an overlap, whatever the division rounds to
  float reject_factor;  ///< inter < reject_factor * denominator: no overlap
  float reach;          ///< bounds how far overlapping boxes' centres are apart along an axis: reach * either extent
  float pair_reach;     ///< the same: pair_reach * the sum of both extents
  float min_part;       ///< boxes that overlap have at least this part of their areas' sum in common, all but 1e-37
  bool by_class;
  bool disjoint_too;  ///< boxes that do not intersect overlap, too: ratio >= 0
};

/// Guard band of suppresses(): 8 units of rounding to either side of the threshold.
constexpr float guard = 8.0f / (1 << 24);
/// Areas and thresholds below this are left to the division: their products may underflow, and the bounds on relative
/// errors fail.
constexpr float tiny_area = 1e-30f;
constexpr float min_threshold = 1e-5f;

/// PairRule::pair_reach. IoU > t makes the intersection's extent more than t / (1 + t) of the sum of the extents. One
/// half for rules that only imply that the boxes intersect.
inline float pair_reach_of(const OverlapRule& rule) {
  const float iou = min_iou(Ratios{}, rule.metric, rule.threshold);
  const float t = iou * (1.0f - 1e-5f);
  if (iou < min_threshold)
    return 0.5f;
  return 0.5f * (1.0f - t) / (1.0f + t);
}

/// PairRule::reach. IoU > t makes the larger extent less than 1 / t times the smaller. Infinite for other rules.
inline float reach_of(const OverlapRule& rule) {
  const float iou = min_iou(Ratios{}, rule.metric, rule.threshold);
  const float t = iou * (1.0f - 1e-5f);
  if (iou < min_threshold)
    return INFINITY;
  return 0.5f * (1.0f - t) / t;
}

/// PairRule::min_part. IoU > t makes the intersection more than t / (1 + t) of the sum of the areas; the guard covers
/// rounding.
inline float min_part_of(const OverlapRule& rule) {
  const float iou = min_iou(Ratios{}, rule.metric, rule.threshold);
  return iou < tiny_area ? 0 : iou / (1 + iou) * (1 - 4 * guard);
}

inline PairRule pair_rule(const OverlapRule& rule, bool by_class) {
  const bool tiny_threshold = rule.threshold < tiny_area;
  return {rule,
          tiny_threshold ? tiny_area : rule.threshold * (1.0f + guard),
          tiny_threshold ? 0.0f : rule.threshold * (1.0f - guard),
          reach_of(rule),
          pair_reach_of(rule),
          min_part_of(rule),
          by_class,
          rule.or_equal && rule.threshold == 0};
}

/// Whether overlap bounds the distance of centres (PairRule::reach).
inline bool bounded(const PairRule& rule) {
  return rule.reach < INFINITY && !rule.disjoint_too;
}

/// overlaps(hi, lo) with the same answer on every input, without a division unless the ratio is near the threshold. The
/// boxes are well-formed.
__device__ inline bool suppresses(const float4& hi, const float4& lo, const PairRule& rule) {
  const float offset = rule.overlap.offset;
  const float w = fminf(hi.z, lo.z) - fmaxf(hi.x, lo.x) + offset;
  const float h = fminf(hi.w, lo.w) - fmaxf(hi.y, lo.y) + offset;
  if (!((w > 0) & (h > 0)))
    return rule.disjoint_too && overlaps(as_box(hi), as_box(lo), rule.overlap);
  const float inter = w * h;
  const float divisor = denominator(rule.overlap.metric, area(as_box(hi), offset), area(as_box(lo), offset), inter);
  // The constant widens the band so that values that may have underflowed are divided.
  const bool accepted = inter > __fmaf_rn(rule.accept_factor, divisor, 1e-37f);
  if (unlikely(!accepted & !(inter < __fmaf_rn(rule.reject_factor, divisor, -1e-37f)))) {
    // The ratio is 0 or NaN. A frame made to be slow has many such boxes: no division for these.
    if (!(divisor < INFINITY))
      return rule.disjoint_too && overlaps(as_box(hi), as_box(lo), rule.overlap);
    return overlaps(as_box(hi), as_box(lo), rule.overlap);
  }
  return accepted;
}

__device__ inline Validity validity(const float4& box, float score, const PairRule& rule, float score_threshold) {
  if (score != score || !is_well_formed(as_box(box), rule.overlap.offset))
    return Validity::invalid;
  return score < score_threshold ? Validity::below_threshold : Validity::valid;
}

/// validity() == Validity::valid. Not inlined: the compiler would compute it always, instead of branching around it.
static __noinline__ __device__ bool is_valid_exact(float4 b, float score, const PairRule& rule, float score_threshold) {
  return validity(b, score, rule, score_threshold) == Validity::valid;
}

/// Less than `unusual_extent` iff both extents, without the offset, are positive and finite. The box is well-formed
/// then. If not, it may be all the same: too large for a finite extent, or empty but for the offset.
constexpr std::uint32_t unusual_extent = 0x7f7fffff;
__device__ inline std::uint32_t extent_code(const float4& b) {
  return max(__float_as_uint(b.z - b.x) - 1, __float_as_uint(b.w - b.y) - 1);
}

/// validity() == Validity::valid, in few instructions for usual boxes.
__device__ inline bool is_valid(const float4& b, float score, const PairRule& rule, float score_threshold) {
  const bool high = score >= score_threshold;
  if (unlikely(extent_code(b) >= unusual_extent))
    return is_valid_exact(b, score, rule, score_threshold);
  return high;
}

/// Largest width and largest height of a frame's boxes. Not negative, so their bits compare as integers.
struct Largest {
  float width, height;
};

__device__ inline float width(const float4& b, float offset) {
  return b.z - b.x + offset;
}

__device__ inline float height(const float4& b, float offset) {
  return b.w - b.y + offset;
}

/// How far a class is moved over the grid, in cells: candidates of many classes in one spot share few cells then.
/// Affects speed alone. Class 0, which all candidates have where classes do not matter, stays where it is.
struct CellShift {
  std::uint32_t x, y;

  __device__ static CellShift of(std::int32_t label) {
    const std::uint32_t mixed = static_cast<std::uint32_t>(label) * 0x9e3779b1u;
    return {mixed >> 16, mixed & 0xffff};
  }
};

/// A grid of columns x rows cells that repeats over the plane, so that boxes at any coordinates have a cell. Both
/// counts are powers of two. The size of cells affects speed alone.
struct Grid {
  float per_x, per_y;  ///< cells per unit
  std::uint32_t columns, rows;

  /// The number of the cell along an axis, not yet wrapped. Monotone in `at`, rounding included; saturates.
  __device__ static int along(float at, float per) {
    return __float2int_rd(at * per);
  }
  __device__ static float centre(float from, float to) {
    return fmaf(0.5f, to, 0.5f * from);
  }
  __device__ std::uint32_t column(int x, std::uint32_t shift = 0) const {
    return (static_cast<std::uint32_t>(x) + shift) & (columns - 1);
  }
  __device__ std::uint32_t row(int y, std::uint32_t shift = 0) const {
    return (static_cast<std::uint32_t>(y) + shift) & (rows - 1);
  }
  __device__ std::uint32_t cell(const float4& b, const CellShift& shift) const {
    return row(along(centre(b.y, b.w), per_y), shift.y) * columns + column(along(centre(b.x, b.z), per_x), shift.x);
  }
};

/// Consecutive cells or bins along an axis; `first` is not yet wrapped.
struct IndexRange {
  int first;
  std::uint32_t count;
};

/// A distance of centres, widened by what rounding of extents and of centres can amount to.
__device__ inline float with_slack(float distance, float centre) {
  return distance * (1 + 1e-5f) + fabsf(centre) * 4e-7f + 1e-37f;
}

/// The cells (or bins) along an axis from that of `from` to that of `to`; each at most once.
__device__ inline IndexRange range_between(float from, float to, float per, std::uint32_t cells) {
  const int first = Grid::along(from, per);
  const std::uint32_t span = static_cast<std::uint32_t>(Grid::along(to, per)) - static_cast<std::uint32_t>(first);
  return {first, span < cells - 1 ? span + 1 : cells};
}

/// How far from a box's centre, along an axis, the centres of boxes that can overlap it are. None of these has an
/// extent above `max_extent`.
__device__ inline float distance_of_overlapping(float centre, float extent, float reach, float pair_reach,
                                                float max_extent) {
  return with_slack(fminf(reach * extent, pair_reach * extent + pair_reach * max_extent), centre);
}

/// The cells along an axis that hold the centres of all boxes that can overlap a box from `from` to `to`. No box of the
/// frame has an extent above `max_extent`.
__device__ inline IndexRange reachable(float from, float to, float extent, float reach, float pair_reach,
                                       float max_extent, float per, std::uint32_t cells) {
  const float centre = Grid::centre(from, to);
  const float far = distance_of_overlapping(centre, extent, reach, pair_reach, max_extent);
  return range_between(centre - far, centre + far, per, cells);
}

/// Cells that hold the centres of all boxes that can overlap a box.
struct Window {
  IndexRange x, y;
};

__device__ inline Window window(const float4& b, const Grid& grid, const PairRule& rule, const Largest& largest) {
  if (rule.disjoint_too)
    return {{0, grid.columns}, {0, grid.rows}};
  const float w = width(b, rule.overlap.offset);
  const float h = height(b, rule.overlap.offset);
  const bool tiny = w * h < tiny_area;
  const float reach = tiny ? INFINITY : rule.reach;
  const float pair_reach = tiny ? 0.5f : rule.pair_reach;
  return {reachable(b.x, b.z, w, reach, pair_reach, largest.width, grid.per_x, grid.columns),
          reachable(b.y, b.w, h, reach, pair_reach, largest.height, grid.per_y, grid.rows)};
}

/// Bins of scores, best first: every candidate of a bin outranks all of later bins. A score that many candidates share,
/// as quantized detectors give, has a row of bins of its own, the plateau, filled by index. The choice of bins affects
/// speed alone.
struct ScoreBins {
  float best;
  float per_unit;         ///< bins per unit of score
  std::uint32_t slope;    ///< bins outside the plateau, less one
  float shared;           ///< the plateau's score; NaN if there is no plateau
  std::uint32_t begin;    ///< first bin of the plateau
  std::uint32_t plateau;  ///< bins of the plateau
  float per_index;

  __device__ std::uint32_t on_slope(float score) const {
    return min(__float2uint_rd((best - score) * per_unit), slope - 1);
  }
  __device__ std::uint32_t bin(float score, std::uint32_t index) const {
    if (score == shared)
      return begin + min(__float2uint_rd(static_cast<float>(index) * per_index), plateau - 1);
    return score > shared ? on_slope(score) : on_slope(score) + plateau + 1;
  }
};

struct Scale {
  Grid grid;
  ScoreBins scores;
};

/// Cells or bins per unit of length along each axis.
struct PerUnit {
  float x, y;
};

/// The reach that cells are sized by, in extents; clamped to keep cells useful.
CROWD_HD inline float cell_reach(const PairRule& rule) {
  return fmaxf(fminf(rule.reach, 1.0f), 0.02f);
}

/// Cells per unit along an axis. A cell is `part` * reach * the mean extent of the lanes' boxes that are `sized`. The
/// mean is that of the extents' bits, about a geometric mean: one giant cannot move it far. For a whole warp; the same
/// on all lanes.
__device__ inline float measure_cells(float extent, bool sized, const PairRule& rule, float part) {
  const std::uint32_t count = __popc(__ballot_sync(all_lanes, sized));
  const std::uint32_t bits = warp_sum(sized ? __float_as_uint(extent) >> 5 : 0);
  const float mean = __fdividef(static_cast<float>(bits), static_cast<float>(count ? count : 1));
  const float size = part * cell_reach(rule) * __uint_as_float(__float2uint_rd(mean) << 5);
  return size > 1e-30f && size < 1e30f ? __fdividef(1.0f, size) : 1.0f;
}

/// Scores that a lane samples. Those beyond all samples share a bin or few, so a frame costs by the square of how many
/// these are: of 32 samples of 65536 uniform scores the least was 0.207 once, and 7300 shared a bin.
constexpr unsigned lane_scores = 4;

/// The lane's samples: indices of 32 * lane_scores candidates spread evenly over the frame's n. With number 0, of 32.
__device__ inline std::uint32_t sample(std::uint32_t n, unsigned number = 0) {
  const std::uint64_t place = threadIdx.x % 32 * lane_scores + number;
  return static_cast<std::uint32_t>(place * n / (32 * lane_scores));
}

/// Equal scores among 32 samples from which on they make a plateau.
constexpr unsigned min_shared = 4;

/// The keys of the min and max of finite scores; 0 and 0 if there are none.
struct KeyRange {
  std::uint32_t min, max;

  __device__ bool is_empty() const {
    return min >= max;
  }
  __device__ float extent() const {
    return is_empty() ? 0.0f : key_score(max) - key_score(min);
  }
};

/// For a whole warp.
__device__ inline KeyRange key_range(std::uint32_t key, bool finite) {
  const std::uint32_t max = warp_max(finite ? key : 0);
  return {max ? warp_min(finite ? key : ~0u) : 0, max};
}

/// The range without its ends, one lane each, if they are so far off the others that these would have a bin or two. The
/// candidates beyond then share a bin, a 32nd of n perhaps: no less far off than these cost. For a whole warp.
__device__ inline KeyRange without_outliers(const KeyRange& all, std::uint32_t n, std::uint32_t key, bool finite) {
  const float far = fmaxf(8, static_cast<float>(n / 1024));
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int min_lane = __ffs(static_cast<int>(__ballot_sync(all_lanes, finite && key == all.min))) - 1;
  const int max_lane = __ffs(static_cast<int>(__ballot_sync(all_lanes, finite && key == all.max))) - 1;
  const KeyRange inner = key_range(key, finite && lane != min_lane && lane != max_lane);
  return !inner.is_empty() && all.extent() > far * inner.extent() ? inner : all;
}

/// The range, and those of the lanes' scores that are no further off than it is wide. For a whole warp.
__device__ inline KeyRange widened(const KeyRange& range, const float (&scores)[lane_scores]) {
  if (range.is_empty())
    return range;
  const float low = key_score(range.min) - range.extent();
  const float high = key_score(range.max) + range.extent();
  KeyRange wide = range;
#pragma unroll
  for (const float score : scores)
    if (score >= low && score <= high && fabsf(score) < INFINITY) {
      wide.min = min(wide.min, score_key(score));
      wide.max = max(wide.max, score_key(score));
    }
  return {warp_min(wide.min), warp_max(wide.max)};
}

/// Chooses bins from samples of the frame's n scores: by 32, one a lane, but for the range, which is that of all. For a
/// whole warp; gives every warp the same.
__device__ inline ScoreBins measure_scores(const float (&scores)[lane_scores], std::uint32_t n, std::uint32_t bins) {
  const float score = scores[0];
  const bool finite = fabsf(score) < INFINITY;
  const std::uint32_t key = score_key(score);
  const KeyRange keys = widened(without_outliers(key_range(key, finite), n, key, finite), scores);
  const float best = keys.max ? key_score(keys.max) : 0.0f;
  const float range = keys.extent();
  const auto alike = static_cast<std::uint32_t>(__popc(__match_any_sync(all_lanes, key)));
  const std::uint32_t max_alike = warp_max(finite ? alike : 0);
  const unsigned holders = __ballot_sync(all_lanes, finite && alike == max_alike && max_alike >= min_shared);
  const float common = __shfl_sync(all_lanes, score, holders ? __ffs(static_cast<int>(holders)) - 1 : 0);
  ScoreBins scale;
  // Room for scores beyond the sampled ones: an eighth of the range to either side.
  scale.best = best + range / 8;
  scale.plateau = holders ? (bins - 2) * max_alike / 32 : 0;
  scale.slope = bins - scale.plateau - 1;
  scale.per_unit = range > 0 ? __fdividef(static_cast<float>(scale.slope), range * 1.25f) : 0.0f;
  scale.shared = holders ? common : NAN;
  scale.begin = holders ? scale.on_slope(common) + 1 : 0;
  scale.per_index = __fdividef(static_cast<float>(scale.plateau), static_cast<float>(n ? n : 1));
  return scale;
}

/// Chooses a grid from 32 samples of the frame's n boxes. For a whole warp; gives every warp the same.
__device__ inline Grid measure_grid(const Frames& frames, std::uint32_t frame, std::uint32_t n, const PairRule& rule,
                                    std::uint32_t columns, std::uint32_t rows) {
  const float4 b = n ? frames.boxes[frames.input(frame) + sample(n)] : float4{};
  const float w = width(b, rule.overlap.offset);
  const float h = height(b, rule.overlap.offset);
  // Not of boxes that overlap none: with some whose areas overflow, cells would be so large that all others share a
  // few.
  const bool sized = w > 0 && w < INFINITY && h > 0 && h < INFINITY &&
                     !overlaps_none(rule.overlap, area(as_box(b), rule.overlap.offset));
  // Windows are about three cells wide then.
  constexpr float part = 1.25f;
  return {measure_cells(w, sized, rule, part), measure_cells(h, sized, rule, part), columns, rows};
}

}  // namespace crowd
