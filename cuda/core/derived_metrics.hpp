// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Metrics that are worked out for pairs that overlap by another rule, a row each, and the table of all metrics; for
// host and device.
//
// A row's base() is that rule, which finds all pairs whose ratio passes `rule`: with the same comparator and threshold,
// the params' offset, and a metric that is to be replaced. ratio() takes the pair's ratio by the base.
#pragma once

#include "core/metrics.hpp"
#include "core/overlap.hpp"

namespace crowd {

struct Diou {
  static constexpr CrowdNmsMetric value = CROWD_NMS_DIOU;
  static constexpr char name[] = "diou";
  static constexpr char description[] = "IoU less how far the centres are apart (Zheng et al. 2020)";
  static OverlapRule base(OverlapRule rule) {
    rule.metric = CROWD_NMS_IOU;
    return rule;
  }
  CROWD_HD static float ratio(float iou, const CrowdNmsBox& hi, const CrowdNmsBox& lo, const OverlapRule& base) {
    const float dx = (hi.x1 + hi.x2) - (lo.x1 + lo.x2);
    const float dy = (hi.y1 + hi.y2) - (lo.y1 + lo.y2);
    const float ex = larger(hi.x2, lo.x2) - smaller(hi.x1, lo.x1) + base.offset;
    const float ey = larger(hi.y2, lo.y2) - smaller(hi.y1, lo.y1) + base.offset;
    return iou - (dx * dx + dy * dy) * 0.25f / (ex * ex + ey * ey);
  }
};

struct IouNnstreamer {
  static constexpr CrowdNmsMetric value = CROWD_NMS_IOU_NNSTREAMER;
  static constexpr char name[] = "iou-nnstreamer";
  static constexpr char description[] = "IoU of which intersections alone have the last pixel, as NNStreamer's";
  // Nothing bounds the ratio of tiny boxes: all that have a pixel in common.
  static OverlapRule base(OverlapRule rule) {
    return {CROWD_NMS_IOU, rule.or_equal && rule.threshold <= 0, 0, rule.offset + 1};
  }
  CROWD_HD static float ratio(float iou, const CrowdNmsBox& hi, const CrowdNmsBox& lo, const OverlapRule& base) {
    if (!(iou > 0))
      return iou;
    const float inter = intersection(hi, lo, base.offset);
    const float ratio = inter / Iou::denominator(area(hi, base.offset - 1), area(lo, base.offset - 1), inter);
    return ratio < 0 ? 0 : ratio;
  }
};

using DerivedMetrics = Table<Diou, IouNnstreamer>;
using Metrics = Table<Iou, Ios, OverHigher, OverLower, Diou, IouNnstreamer>;
static_assert(in_order(Metrics{}), "rows are in the order of CrowdNmsMetric");

template <typename... Row>
constexpr bool is_one_of(Table<Row...>, CrowdNmsMetric metric) {
  return ((metric == Row::value) || ...);
}

/// Whether the metric is no intersection over a denominator.
constexpr bool is_derived(CrowdNmsMetric metric) {
  return is_one_of(DerivedMetrics{}, metric);
}

/// A rule with a metric of Ratios, by which every pair overlaps that overlaps by `rule`.
template <typename... Row>
OverlapRule base_rule(Table<Row...>, const OverlapRule& rule) {
  OverlapRule result = rule;
  ((rule.metric == Row::value ? void(result = Row::base(rule)) : void()), ...);
  return result;
}

/// The ratio by the metric of a pair whose ratio by base_rule() is `ratio`.
template <typename... Row>
CROWD_HD float derived_ratio(Table<Row...>, CrowdNmsMetric metric, float ratio, const CrowdNmsBox& hi,
                             const CrowdNmsBox& lo, const OverlapRule& base) {
  float result = ratio;
  ((metric == Row::value ? void(result = Row::ratio(ratio, hi, lo, base)) : void()), ...);
  return result;
}

}  // namespace crowd
