// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The definition of overlap (crowd/nms.h, "Valid" and "Overlap"), for host and device. Quicker tests elsewhere give the
// same answers; rules and derived metrics test the pairs that it finds once more, see PairTest in rules.hpp.
// Must be compiled without contraction (-ffp-contract=off, --fmad=false): a fused multiply-add changes results.
#pragma once

#include <cmath>

#include "core/metrics.hpp"
#include "core/minmax.hpp"
#include "crowd/nms.h"

namespace crowd {

/// What decides whether two boxes overlap, see overlap_rule() in rules.hpp; cheap to pass to a kernel.
struct OverlapRule {
  CrowdNmsMetric metric;  ///< one of Ratios
  bool or_equal;
  float threshold;  ///< rounded such that ratios compare with it as with the params' double
  float offset;
};

/// The largest float that is not above `value`, in [0, 1]: floats above one are above the other.
inline float float_below(double value) {
  const auto either = static_cast<float>(value);
  return static_cast<double>(either) > value ? std::nextafter(either, 0.0f) : either;
}

/// The smallest float that is not below `value`, in [0, 1]: floats below one are below the other.
inline float float_above(double value) {
  const auto either = static_cast<float>(value);
  return static_cast<double>(either) < value ? std::nextafter(either, 1.0f) : either;
}

/// `value` such that ratios compare with it, by the params' comparator, as with the double.
inline float rounded_threshold(const CrowdNmsParams& params, double value) {
  return params.comparator == CROWD_NMS_GREATER_EQUAL ? float_above(value) : float_below(value);
}

/// Finite and not empty. A NaN coordinate fails every comparison.
CROWD_HD inline bool is_well_formed(const CrowdNmsBox& box, float offset) {
  constexpr float max_float = 3.402823466e+38f;
  const bool finite = box.x1 >= -max_float && box.x1 <= max_float && box.y1 >= -max_float && box.y1 <= max_float &&
                      box.x2 >= -max_float && box.x2 <= max_float && box.y2 >= -max_float && box.y2 <= max_float;
  const bool filled = offset > 0 ? box.x2 >= box.x1 && box.y2 >= box.y1 : box.x2 > box.x1 && box.y2 > box.y1;
  return finite && filled;
}

CROWD_HD inline float area(const CrowdNmsBox& box, float offset) {
  return (box.x2 - box.x1 + offset) * (box.y2 - box.y1 + offset);
}

CROWD_HD inline float intersection(const CrowdNmsBox& a, const CrowdNmsBox& b, float offset) {
  const float w = larger(0.0f, smaller(a.x2, b.x2) - larger(a.x1, b.x1) + offset);
  const float h = larger(0.0f, smaller(a.y2, b.y2) - larger(a.y1, b.y1) + offset);
  return w * h;
}

CROWD_HD inline float ratio_of(const CrowdNmsBox& hi, const CrowdNmsBox& lo, const OverlapRule& rule) {
  const float inter = intersection(hi, lo, rule.offset);
  return inter / denominator(rule.metric, area(hi, rule.offset), area(lo, rule.offset), inter);
}

/// True if better-ranked `hi` overlaps worse-ranked `lo`, both well-formed. Looks at neither classes nor scores.
CROWD_HD inline bool overlaps(const CrowdNmsBox& hi, const CrowdNmsBox& lo, const OverlapRule& rule) {
  const float ratio = ratio_of(hi, lo, rule);
  return rule.or_equal ? ratio >= rule.threshold : ratio > rule.threshold;
}

/// Whether a box of this area overlaps none under a rule under which disjoint boxes do not: the area underflows, and so
/// does every intersection with it, or it overflows in a union.
CROWD_HD inline bool overlaps_none(const OverlapRule& rule, float area) {
  constexpr float max_float = 3.402823466e+38f;
  return !(area > 0) || (rule.metric == CROWD_NMS_IOU && !(area <= max_float));
}

}  // namespace crowd
