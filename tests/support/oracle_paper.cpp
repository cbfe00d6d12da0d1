// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Algorithms 1 and 2 of Oro et al. 2020.

#include <algorithm>

#include "oracle_parts.hpp"

namespace crowd::test {

namespace {

// D has d_max slots, of which the first n are filled and the rest all zero, as cudaMemset leaves them.
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

}  // namespace

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

}  // namespace crowd::test
