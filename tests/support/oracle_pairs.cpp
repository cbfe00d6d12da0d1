// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which pairs of candidates count: metrics and rules.

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "oracle_parts.hpp"

namespace crowd::test {

// One operation a statement: every one is rounded to float.
float area_of(const CrowdNmsBox& box, float offset) {
  float w = box.x2 - box.x1;
  w = w + offset;
  float h = box.y2 - box.y1;
  h = h + offset;
  return w * h;
}

namespace {

float common_extent(float low_a, float high_a, float low_b, float high_b, float offset) {
  float extent = std::min(high_a, high_b) - std::max(low_a, low_b);
  extent = extent + offset;
  return std::max(0.0f, extent);
}

}  // namespace

float common_area(const CrowdNmsBox& a, const CrowdNmsBox& b, float offset) {
  const float w = common_extent(a.x1, a.x2, b.x1, b.x2, offset);
  const float h = common_extent(a.y1, a.y2, b.y1, b.y2, offset);
  return w * h;
}

namespace {

float denominator(CrowdNmsMetric metric, float area_hi, float area_lo, float inter) {
  switch (metric) {
    case CROWD_NMS_IOU: {
      const float both = area_hi + area_lo;
      return both - inter;
    }
    case CROWD_NMS_IOS:
      return std::min(area_hi, area_lo);
    case CROWD_NMS_OVER_HIGHER:
      return area_hi;
    case CROWD_NMS_OVER_LOWER:
      return area_lo;
    case CROWD_NMS_DIOU:
    case CROWD_NMS_IOU_NNSTREAMER:
      return denominator(CROWD_NMS_IOU, area_hi, area_lo, inter);
  }
  throw std::invalid_argument("the oracle lacks this metric");
}

// What DIoU takes off the IoU.
float distance_term(const CrowdNmsBox& a, const CrowdNmsBox& b, float offset) {
  const float sum_ax = a.x1 + a.x2, sum_bx = b.x1 + b.x2;
  const float sum_ay = a.y1 + a.y2, sum_by = b.y1 + b.y2;
  const float dx = sum_ax - sum_bx, dy = sum_ay - sum_by;
  const float dx2 = dx * dx, dy2 = dy * dy;
  float apart = dx2 + dy2;
  apart = apart * 0.25f;
  float width = std::max(a.x2, b.x2) - std::min(a.x1, b.x1);
  width = width + offset;
  float height = std::max(a.y2, b.y2) - std::min(a.y1, b.y1);
  height = height + offset;
  const float width2 = width * width, height2 = height * height;
  return apart / (width2 + height2);
}

float ratio_of_nnstreamer(const CrowdNmsBox& a, const CrowdNmsBox& b, float offset) {
  const float inter = common_area(a, b, offset + 1);
  const float wide_union = denominator(CROWD_NMS_IOU, area_of(a, offset + 1), area_of(b, offset + 1), inter);
  if (!(inter / wide_union > 0))
    return inter / wide_union;
  const float ratio = inter / denominator(CROWD_NMS_IOU, area_of(a, offset), area_of(b, offset), inter);
  return ratio < 0 ? 0 : ratio;
}

}  // namespace

bool passes(const CrowdNmsParams& params, float ratio, double threshold) {
  if (std::isnan(ratio))
    return false;
  const double exact = ratio;
  return params.comparator == CROWD_NMS_GREATER ? exact > threshold : exact >= threshold;
}

double threshold_of(const CrowdNmsParams& params, std::int32_t label) {
  const CrowdNmsClassSettings* own = settings_of(params, label);
  return own && !std::isnan(own->overlap_threshold) ? own->overlap_threshold : params.overlap_threshold;
}

namespace {

float square_distance(const FrameView& frame, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t length = frame.extras->feature_length;
  float sum = 0;
  for (std::uint32_t k = 0; k < length; ++k) {
    float d = frame.extras->features[std::size_t{frame.first + a} * length + k] -
              frame.extras->features[std::size_t{frame.first + b} * length + k];
    d = d * d;
    sum = sum + d;
  }
  return sum;
}

// The rules, of a pair with this ratio by the metric.
bool counts(const CrowdNmsParams& params, const FrameView& frame, std::uint32_t hi, std::uint32_t lo, float ratio) {
  const double threshold = threshold_of(params, frame.label(hi));
  switch (params.rule) {
    case CROWD_NMS_PLAIN:
    case CROWD_NMS_VISIBLE:
      return passes(params, ratio, threshold);
    case CROWD_NMS_ADAPTIVE: {
      const double density = frame.extras->densities[frame.first + hi];
      return passes(params, ratio, std::isnan(density) ? threshold : std::max(threshold, density));
    }
    case CROWD_NMS_SET:
      return frame.extras->proposals[frame.first + hi] != frame.extras->proposals[frame.first + lo] &&
             passes(params, ratio, threshold);
    case CROWD_NMS_FEATURE: {
      if (!passes(params, ratio, params.min_overlap))
        return false;
      const double distance = params.max_distance;
      return passes(params, ratio, threshold) || square_distance(frame, hi, lo) <= distance * distance;
    }
  }
  throw std::invalid_argument("the oracle lacks this rule");
}

}  // namespace

const CrowdNmsBox& tested_box(const CrowdNmsParams& params, const FrameView& frame, std::uint32_t i) {
  return reads(params.method, CROWD_NMS_READS_PAIRS) && params.rule == CROWD_NMS_VISIBLE
             ? frame.extras->visible[frame.first + i]
             : frame.boxes[i];
}

float ratio_of(const CrowdNmsParams& params, const CrowdNmsBox& hi, const CrowdNmsBox& lo) {
  const auto offset = static_cast<float>(params.pixel_offset);
  const float inter = common_area(hi, lo, offset);
  const float area_hi = area_of(hi, offset);
  const float area_lo = area_of(lo, offset);
  float ratio = inter / denominator(params.metric, area_hi, area_lo, inter);
  if (params.metric == CROWD_NMS_DIOU)
    ratio = ratio - distance_term(hi, lo, offset);
  if (params.metric == CROWD_NMS_IOU_NNSTREAMER)
    ratio = ratio_of_nnstreamer(hi, lo, offset);
  return ratio;
}

float ratio_of(const CrowdNmsParams& params, const FrameView& frame, std::uint32_t hi, std::uint32_t lo) {
  return ratio_of(params, tested_box(params, frame, hi), tested_box(params, frame, lo));
}

bool suppresses(const CrowdNmsParams& params, const FrameView& frame, std::uint32_t hi, std::uint32_t lo) {
  if (!params.class_agnostic && frame.label(hi) != frame.label(lo))
    return false;
  return counts(params, frame, hi, lo, ratio_of(params, frame, hi, lo));
}

bool lacks_array(const CrowdNmsParams& params, const Extras& extras) {
  if (has_weights(params) && extras.models.empty())
    return true;
  if (!reads(params.method, CROWD_NMS_READS_PAIRS))
    return false;
  switch (params.rule) {
    case CROWD_NMS_PLAIN:
      return false;
    case CROWD_NMS_ADAPTIVE:
      return extras.densities.empty();
    case CROWD_NMS_SET:
      return extras.proposals.empty();
    case CROWD_NMS_VISIBLE:
      return extras.visible.empty();
    case CROWD_NMS_FEATURE:
      return extras.features.empty();
  }
  throw std::invalid_argument("the oracle lacks this rule");
}

}  // namespace crowd::test
