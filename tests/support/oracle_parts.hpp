// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the parts of the oracle know of each other.
#pragma once

#include <cstdint>
#include <vector>

#include "oracle.hpp"

namespace crowd::test {

using Indices = std::vector<std::uint32_t>;

struct FrameView {
  const CrowdNmsBox* boxes;
  const float* scores;  ///< products, where models have weights
  const float* given_scores;
  const std::int32_t* classes;
  std::uint32_t n;
  const Extras* extras;
  std::uint32_t first;  ///< of the frame's entries in `extras`

  std::int32_t label(std::uint32_t i) const {
    return classes ? classes[i] : 0;
  }
};

struct Outcome {
  Indices survivors;        // in rank order
  Indices representatives;  // or CROWD_NMS_NONE, or CROWD_NMS_REJECTED
  std::uint32_t invalid = 0;
  std::uint32_t below = 0;
  std::vector<CrowdNmsBox> boxes;  // of the survivors
  std::vector<float> scores;       // of the survivors
  bool has_new_scores = false;     // `scores` are the method's
};

/// Whether models weigh differently by these.
bool has_weights(const CrowdNmsParams& params);

/// The `n` scores from `first` on, each times what its model's weight makes of it.
std::vector<float> weighted_scores(const CrowdNmsParams& params, const Batch& batch, std::uint32_t first,
                                   std::uint32_t n);

bool in_better_rank(const FrameView& frame, std::uint32_t a, std::uint32_t b);

/// Of a class that has any; else null.
const CrowdNmsClassSettings* settings_of(const CrowdNmsParams& params, std::int32_t label);

float area_of(const CrowdNmsBox& box, float offset);
float common_area(const CrowdNmsBox& a, const CrowdNmsBox& b, float offset);

/// The box of a candidate that the rule looks at.
const CrowdNmsBox& tested_box(const CrowdNmsParams& params, const FrameView& frame, std::uint32_t i);

/// Whether `hi` and `lo`, the worse-ranked one, are of a class and overlap.
bool suppresses(const CrowdNmsParams& params, const FrameView& frame, std::uint32_t hi, std::uint32_t lo);

/// The ratio by the metric.
float ratio_of(const CrowdNmsParams& params, const CrowdNmsBox& hi, const CrowdNmsBox& lo);

/// The same, of boxes that the rule looks at.
float ratio_of(const CrowdNmsParams& params, const FrameView& frame, std::uint32_t hi, std::uint32_t lo);

/// Of what such a box suppresses.
double threshold_of(const CrowdNmsParams& params, std::int32_t label);

/// Whether a ratio is an overlap.
bool passes(const CrowdNmsParams& params, float ratio, double threshold);

/// What a candidate's score must be.
float min_score_of(const CrowdNmsParams& params, const FrameView& frame, std::uint32_t i);

/// The valid candidates; counts the others.
Indices valid_in_rank_order(const CrowdNmsParams& params, const FrameView& frame, Outcome& outcome);

Outcome greedy(const CrowdNmsParams& params, const FrameView& frame);

/// With a matrix of D_max = side_of_b() rows and columns.
Outcome paper(const CrowdNmsParams& params, const FrameView& frame, std::uint32_t d_max);
std::uint32_t side_of_b(const CrowdNmsParams& params, std::uint32_t capacity);

/// The methods that merge in a way of their own.
Outcome nmw(const CrowdNmsParams& params, const FrameView& frame);
Outcome wbf(const CrowdNmsParams& params, const FrameView& frame);

/// The soft methods.
Outcome soft(const CrowdNmsParams& params, const FrameView& frame);
Outcome matrix(const CrowdNmsParams& params, const FrameView& frame);

/// Drops small clusters, and gives each survivor a box and a score.
void merge(const CrowdNmsParams& params, const FrameView& frame, Outcome& outcome);

}  // namespace crowd::test
