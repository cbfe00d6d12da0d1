// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The overlap metrics (CrowdNmsMetric), a row each, for host and device.
//
// A row's denominator() takes the areas of the better-ranked and the worse-ranked box and their intersection, as floats
// or as SIMD lanes (cpu/lanes.hpp), which have + - * /, smaller() and larger(), but no constants. Each operation is
// rounded once: compiled without contraction, as overlap.hpp is.
//
// min_iou(t) is the least IoU that boxes have whose ratio is t, within four units of rounding, and 0 where a ratio
// implies none. From it kernels bound how far apart overlapping boxes can be (PROOFS.md, section 5).
#pragma once

#include "core/minmax.hpp"
#include "core/table.hpp"
#include "crowd/nms.h"

namespace crowd {

struct Iou {
  static constexpr CrowdNmsMetric value = CROWD_NMS_IOU;
  static constexpr char name[] = "iou";
  static constexpr char description[] = "intersection over union";
  CROWD_HD static constexpr float min_iou(float threshold) {
    return threshold;
  }
  template <typename Number>
  CROWD_HD static Number denominator(const Number& hi, const Number& lo, const Number& inter) {
    return hi + lo - inter;
  }
};

struct Ios {
  static constexpr CrowdNmsMetric value = CROWD_NMS_IOS;
  static constexpr char name[] = "ios";
  static constexpr char description[] = "intersection over the smaller area";
  CROWD_HD static constexpr float min_iou(float) {
    return 0;
  }
  template <typename Number>
  CROWD_HD static Number denominator(const Number& hi, const Number& lo, const Number&) {
    return smaller(hi, lo);
  }
};

struct OverHigher {
  static constexpr CrowdNmsMetric value = CROWD_NMS_OVER_HIGHER;
  static constexpr char name[] = "over-higher";
  static constexpr char description[] = "intersection over the better-ranked box's area (Algorithm 1)";
  CROWD_HD static constexpr float min_iou(float) {
    return 0;
  }
  template <typename Number>
  CROWD_HD static Number denominator(const Number& hi, const Number&, const Number&) {
    return hi;
  }
};

struct OverLower {
  static constexpr CrowdNmsMetric value = CROWD_NMS_OVER_LOWER;
  static constexpr char name[] = "over-lower";
  static constexpr char description[] = "intersection over the worse-ranked box's area";
  CROWD_HD static constexpr float min_iou(float) {
    return 0;
  }
  template <typename Number>
  CROWD_HD static Number denominator(const Number&, const Number& lo, const Number&) {
    return lo;
  }
};

/// Those that are an intersection over a denominator. Searches for overlapping boxes use these alone. Others are in
/// derived_metrics.hpp.
using Ratios = Table<Iou, Ios, OverHigher, OverLower>;

/// The denominator of a metric that is one of Ratios. A switch, since compilers make more of it than of a search
/// through the table.
template <typename Number>
CROWD_HD inline Number denominator(CrowdNmsMetric metric, Number area_hi, Number area_lo, Number inter) {
  switch (metric) {
    case Ios::value:
      return Ios::denominator(area_hi, area_lo, inter);
    case OverHigher::value:
      return OverHigher::denominator(area_hi, area_lo, inter);
    case OverLower::value:
      return OverLower::denominator(area_hi, area_lo, inter);
    case CROWD_NMS_DIOU:  // derived, as the next
    case CROWD_NMS_IOU_NNSTREAMER:
    case Iou::value:
      break;
  }
  return Iou::denominator(area_hi, area_lo, inter);
}

template <typename... Row>
constexpr float min_iou(Table<Row...>, CrowdNmsMetric metric, float threshold) {
  float result = 0;
  ((metric == Row::value ? void(result = Row::min_iou(threshold)) : void()), ...);
  return result;
}

template <typename Row>
constexpr bool bounds_distance = Row::min_iou(1) > 0;

/// The metric, given that it bounds distances: a constant as long as that is true of one alone.
template <typename... Row>
CROWD_HD constexpr CrowdNmsMetric bounding(Table<Row...>, CrowdNmsMetric metric) {
  constexpr unsigned count = (unsigned{bounds_distance<Row>} + ...);
  if constexpr (count == 1)
    ((metric = bounds_distance<Row> ? Row::value : metric), ...);
  return metric;
}

}  // namespace crowd
