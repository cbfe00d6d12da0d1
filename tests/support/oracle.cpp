// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "oracle_parts.hpp"

namespace crowd::test {

bool in_better_rank(const FrameView& frame, std::uint32_t a, std::uint32_t b) {
  const float sa = frame.scores[a];
  const float sb = frame.scores[b];
  if (std::isnan(sa) || std::isnan(sb))
    return std::isnan(sa) == std::isnan(sb) ? a < b : std::isnan(sb);
  return sa != sb ? sa > sb : a < b;
}

namespace {

bool well_formed(const CrowdNmsBox& box, std::uint32_t offset) {
  if (!std::isfinite(box.x1) || !std::isfinite(box.y1) || !std::isfinite(box.x2) || !std::isfinite(box.y2))
    return false;
  return offset ? box.x2 >= box.x1 && box.y2 >= box.y1 : box.x2 > box.x1 && box.y2 > box.y1;
}

// One operation a statement: every one is rounded to float.
float area_of(const CrowdNmsBox& box, float offset) {
  float w = box.x2 - box.x1;
  w = w + offset;
  float h = box.y2 - box.y1;
  h = h + offset;
  return w * h;
}

float common_extent(float low_a, float high_a, float low_b, float high_b, float offset) {
  float extent = std::min(high_a, high_b) - std::max(low_a, low_b);
  extent = extent + offset;
  return std::max(0.0f, extent);
}

float common_area(const CrowdNmsBox& a, const CrowdNmsBox& b, float offset) {
  const float w = common_extent(a.x1, a.x2, b.x1, b.x2, offset);
  const float h = common_extent(a.y1, a.y2, b.y1, b.y2, offset);
  return w * h;
}

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

const CrowdNmsClassSettings* settings_of(const CrowdNmsParams& params, std::int32_t label) {
  for (std::uint32_t k = 0; k < params.class_count; ++k) {
    if (params.class_settings[k].label == label)
      return &params.class_settings[k];
  }
  return nullptr;
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

const CrowdNmsBox& tested_box(const CrowdNmsParams& params, const FrameView& frame, std::uint32_t i) {
  return params.rule == CROWD_NMS_VISIBLE ? frame.extras->visible[frame.first + i] : frame.boxes[i];
}

}  // namespace

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

float least_score_of(const CrowdNmsParams& params, const FrameView& frame, std::uint32_t i) {
  const CrowdNmsClassSettings* own = settings_of(params, frame.label(i));
  return own && !std::isnan(own->score_threshold) ? own->score_threshold : params.score_threshold;
}

namespace {

bool is_left_out(const CrowdNmsParams& params, const FrameView& frame, std::uint32_t i) {
  if (!settings_of(params, frame.label(i)) && params.listed_only)
    return true;
  const auto offset = static_cast<float>(params.pixel_offset);
  const CrowdNmsBox& box = frame.boxes[i];
  float width = box.x2 - box.x1;
  width = width + offset;
  float height = box.y2 - box.y1;
  height = height + offset;
  return !(frame.scores[i] >= least_score_of(params, frame, i)) || width < params.min_width ||
         height < params.min_height || width > params.max_width || height > params.max_height;
}

}  // namespace

Indices valid_in_rank_order(const CrowdNmsParams& params, const FrameView& frame, Outcome& outcome) {
  Indices ranked;
  for (std::uint32_t i = 0; i < frame.n; ++i) {
    if (!well_formed(frame.boxes[i], params.pixel_offset) ||
        !well_formed(tested_box(params, frame, i), params.pixel_offset) || std::isnan(frame.scores[i]))
      ++outcome.invalid;
    else if (is_left_out(params, frame, i))
      ++outcome.below;
    else {
      ranked.push_back(i);
      outcome.representatives[i] = CROWD_NMS_NONE;
    }
  }
  std::sort(ranked.begin(), ranked.end(), [&](auto a, auto b) { return in_better_rank(frame, a, b); });
  return ranked;
}

Outcome greedy(const CrowdNmsParams& params, const FrameView& frame) {
  Outcome outcome;
  outcome.representatives.resize(frame.n, CROWD_NMS_REJECTED);
  for (const std::uint32_t i : valid_in_rank_order(params, frame, outcome)) {
    const auto by = std::find_if(outcome.survivors.begin(), outcome.survivors.end(),
                                 [&](auto s) { return suppresses(params, frame, s, i); });
    outcome.representatives[i] = by == outcome.survivors.end() ? i : *by;
    if (by == outcome.survivors.end())
      outcome.survivors.push_back(i);
  }
  return outcome;
}

namespace {

Outcome map_reduce(const CrowdNmsParams& params, const FrameView& frame) {
  Outcome outcome;
  outcome.representatives.resize(frame.n, CROWD_NMS_REJECTED);
  const Indices ranked = valid_in_rank_order(params, frame, outcome);
  for (auto i = ranked.begin(); i != ranked.end(); ++i) {
    if (std::any_of(ranked.begin(), i, [&](auto better) { return suppresses(params, frame, better, *i); }))
      continue;
    outcome.survivors.push_back(*i);
    outcome.representatives[*i] = *i;
  }
  for (const std::uint32_t i : ranked) {
    for (auto s = outcome.survivors.begin();
         s != outcome.survivors.end() && outcome.representatives[i] == CROWD_NMS_NONE; ++s) {
      if (in_better_rank(frame, *s, i) && suppresses(params, frame, *s, i))
        outcome.representatives[i] = *s;
    }
  }
  return outcome;
}

// Oro et al. 2020. D has d_max slots, of which the first n are filled and the rest all zero, as cudaMemset leaves them.
class Paper {
 public:
  Paper(const CrowdNmsParams& params, const FrameView& frame, std::uint32_t d_max)
      : theta_(params.overlap_threshold), d_max_(d_max), k_(params.paper_k), boxes_(d_max), scores_(d_max, 0.0f) {
    std::copy_n(frame.boxes, frame.n, boxes_.begin());
    std::copy_n(frame.scores, frame.n, scores_.begin());
    b_.assign(std::size_t{d_max} * d_max, 1);
    for (std::uint32_t i = 0; i < d_max; ++i) {
      for (std::uint32_t j = 0; j < d_max; ++j)
        map(i, j);
    }
  }

  // Algorithm 2 for block i: k reductions, each of d_max / k elements.
  bool v(std::uint32_t i) const {
    bool v = true;
    const std::uint32_t threads = d_max_ / k_;
    for (std::uint32_t part = 0; part < k_; ++part) {
      bool all = true;
      for (std::uint32_t thread = 0; thread < threads; ++thread)
        all = (b(i, part * threads + thread) && v) && all;
      v = all;
    }
    return v;
  }

  bool b(std::uint32_t i, std::uint32_t j) const {
    return b_[std::size_t{i} * d_max_ + j];
  }

 private:
  // Algorithm 1 for thread (i, j).
  void map(std::uint32_t i, std::uint32_t j) {
    if (!(scores_[i] < scores_[j]))
      return;
    const float a = area_of(boxes_[j], 1);
    const float inter = common_area(boxes_[i], boxes_[j], 1);
    const float ratio = inter / a;
    const float z = boxes_[j].x2 - boxes_[j].x1;
    const bool z_is_not_zero = z != 0;
    b_[std::size_t{i} * d_max_ + j] = double{ratio} < theta_ && z_is_not_zero;
  }

  double theta_;
  std::uint32_t d_max_;
  std::uint32_t k_;
  std::vector<CrowdNmsBox> boxes_;
  std::vector<float> scores_;
  std::vector<std::uint8_t> b_;
};

Outcome paper(const CrowdNmsParams& params, const FrameView& frame, std::uint32_t d_max) {
  const Paper matrix(params, frame, d_max);
  Outcome outcome;
  outcome.representatives.resize(frame.n, CROWD_NMS_NONE);
  for (std::uint32_t i = 0; i < frame.n; ++i) {
    if (matrix.v(i))
      outcome.survivors.push_back(i);
  }
  std::sort(outcome.survivors.begin(), outcome.survivors.end(),
            [&](auto a, auto b) { return in_better_rank(frame, a, b); });
  for (std::uint32_t i = 0; i < frame.n; ++i) {
    const auto by = std::find_if(outcome.survivors.begin(), outcome.survivors.end(),
                                 [&](auto s) { return s == i || !matrix.b(i, s); });
    if (by != outcome.survivors.end())
      outcome.representatives[i] = *by;
  }
  return outcome;
}

std::uint32_t side_of_b(const CrowdNmsParams& params, std::uint32_t capacity) {
  if (params.paper_d_max)
    return params.paper_d_max;
  const std::uint32_t parts = (capacity + params.paper_k - 1) / params.paper_k;
  return std::max(parts, 1u) * params.paper_k;
}

Outcome run(const CrowdNmsParams& params, const FrameView& frame, std::uint32_t capacity) {
  switch (params.method) {
    case CROWD_NMS_GREEDY:
      return greedy(params, frame);
    case CROWD_NMS_MAP_REDUCE:
      return map_reduce(params, frame);
    case CROWD_NMS_NMW:
      return nmw(params, frame);
    case CROWD_NMS_WBF:
      return wbf(params, frame);
    case CROWD_NMS_PAPER:
      return paper(params, frame, side_of_b(params, capacity));
    case CROWD_NMS_SOFT_LINEAR:
    case CROWD_NMS_SOFT_GAUSSIAN:
      return soft(params, frame);
    case CROWD_NMS_MATRIX_LINEAR:
    case CROWD_NMS_MATRIX_GAUSSIAN:
      return matrix(params, frame);
  }
  throw std::invalid_argument("the oracle lacks this method");
}

void write(const Outcome& outcome, const Wanted& wanted, const Batch& batch, std::uint32_t f, Result& result) {
  const auto found = static_cast<std::uint32_t>(outcome.survivors.size());
  const std::uint32_t written = std::min(found, wanted.max_survivors);
  for (std::uint32_t r = 0; r < written; ++r) {
    const std::uint32_t s = outcome.survivors[r];
    result.survivors[std::size_t{f} * wanted.max_survivors + r] = s;
    if (wanted.boxes)
      result.boxes[std::size_t{f} * wanted.max_survivors + r] = outcome.boxes[r];
    if (wanted.scores)
      result.scores[std::size_t{f} * wanted.max_survivors + r] = outcome.scores[r];
    if (wanted.members)
      result.members[std::size_t{f} * wanted.max_survivors + r] =
          static_cast<std::uint32_t>(std::count(outcome.representatives.begin(), outcome.representatives.end(), s));
  }
  for (std::size_t i = 0; wanted.representatives && i < outcome.representatives.size(); ++i)
    result.representatives[std::size_t{f} * batch.capacity + i] = outcome.representatives[i];
  CrowdNmsReport& report = result.reports[f];
  report.invalid = outcome.invalid;
  report.below_threshold = outcome.below;
  report.survivors = found;
  report.clipped = found - written;
}

}  // namespace

Result run_oracle(const CrowdNmsParams& params, const Batch& batch, const Wanted& wanted) {
  Result result = Result::sized(batch, wanted);
  for (std::uint32_t f = 0; f < batch.frames; ++f) {
    const std::uint32_t given = batch.counts.empty() ? batch.capacity : batch.counts[f];
    const std::uint32_t first = batch.offsets.empty() ? f * batch.capacity : batch.offsets[f];
    std::uint32_t n = std::min(given, batch.capacity);
    if (params.method == CROWD_NMS_PAPER)
      n = std::min(n, side_of_b(params, batch.capacity));
    for (std::uint32_t i = n; wanted.representatives && i < std::min(given, batch.capacity); ++i)
      result.representatives[std::size_t{f} * batch.capacity + i] = CROWD_NMS_REJECTED;
    const FrameView frame = {batch.all.boxes.data() + first,
                             batch.all.scores.data() + first,
                             batch.with_classes ? batch.all.classes.data() + first : nullptr,
                             n,
                             &batch.extras,
                             first};
    result.reports[f] = {};
    result.reports[f].candidates = given;
    result.reports[f].overflow = given - n;
    Outcome outcome = run(params, frame, batch.capacity);
    if (outcome.boxes.empty() && (wanted.boxes || wanted.scores || params.min_members > 1))
      merge(params, frame, outcome);
    write(outcome, wanted, batch, f, result);
  }
  return result;
}

}  // namespace crowd::test
