// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowd/nms.h, "Soft methods", word by word.

#include <algorithm>
#include <cmath>
#include <limits>

#include "oracle_parts.hpp"

namespace crowd::test {

namespace {

double e_to_the(double x) {
  if (x < -700)
    return 0;
  const double n = std::trunc(x * 1.4426950408889634 - 0.5);
  double r = x - n * 0.6931471803691238;
  r = r - n * 1.9082149292705877e-10;
  double factorial = 1;
  for (int k = 2; k <= 13; ++k)
    factorial = factorial * k;
  double sum = 1 / factorial;
  for (int k = 12; k >= 0; --k) {
    factorial = factorial / (k + 1);
    sum = sum * r;
    sum = sum + 1 / factorial;
  }
  return std::ldexp(sum, static_cast<int>(n));
}

bool is_gaussian(const CrowdNmsParams& params) {
  return params.method == CROWD_NMS_SOFT_GAUSSIAN || params.method == CROWD_NMS_MATRIX_GAUSSIAN;
}

void take_every_overlap(CrowdNmsParams& params) {
  params.overlap_threshold = 0;
  params.min_overlap = 0;
  params.comparator = CROWD_NMS_GREATER;
  for (CrowdNmsClassSettings& own : params.class_settings)
    own.overlap_threshold = std::numeric_limits<double>::quiet_NaN();
}

void take_scores_as_weights(CrowdNmsParams& params) {
  params.score_threshold = std::max(params.score_threshold, 0.0f);
  for (CrowdNmsClassSettings& own : params.class_settings) {
    if (!std::isnan(own.score_threshold))
      own.score_threshold = std::max(own.score_threshold, 0.0f);
  }
}

float soft_factor(const CrowdNmsParams& params, float ratio) {
  if (!is_gaussian(params))
    return std::max(0.0f, 1 - ratio);
  const double square = double{ratio} * ratio;
  return static_cast<float>(e_to_the(-square / params.sigma));
}

float matrix_factor(const CrowdNmsParams& params, float ratio, float covered) {
  if (is_gaussian(params)) {
    const double more = double{ratio} * ratio - double{covered} * covered;
    return more > 0 ? static_cast<float>(e_to_the(-(more * params.sigma))) : 1;
  }
  if (covered >= 1)
    return 1;
  return std::min(1.0f, std::max(0.0f, 1 - ratio) / (1 - covered));
}

}  // namespace

Outcome soft(const CrowdNmsParams& given, const FrameView& frame) {
  CrowdNmsParams params = given;
  take_scores_as_weights(params);
  if (is_gaussian(params))
    take_every_overlap(params);
  Outcome outcome;
  outcome.has_new_scores = true;
  outcome.representatives.resize(frame.n, CROWD_NMS_REJECTED);
  Indices remaining = valid_in_rank_order(params, frame, outcome);
  std::vector<float> scores(frame.scores, frame.scores + frame.n);
  while (!remaining.empty()) {
    const auto best = std::min_element(remaining.begin(), remaining.end(), [&](auto a, auto b) {
      return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
    });
    const std::uint32_t survivor = *best;
    remaining.erase(best);
    outcome.survivors.push_back(survivor);
    outcome.scores.push_back(scores[survivor]);
    outcome.representatives[survivor] = survivor;
    std::erase_if(remaining, [&](std::uint32_t i) {
      if (!suppresses(params, frame, survivor, i))
        return false;
      scores[i] = scores[i] * soft_factor(params, ratio_of(params, frame, survivor, i));
      const bool falls = !(scores[i] >= min_score_of(params, frame, i));
      if (falls)
        outcome.representatives[i] = survivor;
      return falls;
    });
  }
  return outcome;
}

Outcome matrix(const CrowdNmsParams& given, const FrameView& frame) {
  CrowdNmsParams params = given;
  take_scores_as_weights(params);
  take_every_overlap(params);
  Outcome outcome;
  outcome.has_new_scores = true;
  outcome.representatives.resize(frame.n, CROWD_NMS_REJECTED);
  const Indices ranked = valid_in_rank_order(params, frame, outcome);
  std::vector<float> covered(frame.n, 0.0f), scores(frame.n);
  for (auto j = ranked.begin(); j != ranked.end(); ++j) {
    for (auto i = ranked.begin(); i != j; ++i) {
      if (suppresses(params, frame, *i, *j))
        covered[*j] = std::max(covered[*j], ratio_of(params, frame, *i, *j));
    }
  }
  Indices by(frame.n, CROWD_NMS_NONE);
  for (auto j = ranked.begin(); j != ranked.end(); ++j) {
    float least = 1;
    for (auto i = ranked.begin(); i != j; ++i) {
      if (!suppresses(params, frame, *i, *j))
        continue;
      const float factor = matrix_factor(params, ratio_of(params, frame, *i, *j), covered[*i]);
      if (factor < least) {
        least = factor;
        by[*j] = *i;
      }
    }
    scores[*j] = frame.scores[*j] * least;
    if (scores[*j] >= min_score_of(params, frame, *j))
      outcome.survivors.push_back(*j);
  }
  const auto survives = [&](std::uint32_t i) {
    return std::find(outcome.survivors.begin(), outcome.survivors.end(), i) != outcome.survivors.end();
  };
  for (const std::uint32_t i : ranked) {
    const std::uint32_t representative = survives(i) ? i : by[i];
    outcome.representatives[i] = survives(representative) ? representative : std::uint32_t{CROWD_NMS_NONE};
  }
  std::sort(outcome.survivors.begin(), outcome.survivors.end(),
            [&](auto a, auto b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; });
  for (const std::uint32_t i : outcome.survivors)
    outcome.scores.push_back(scores[i]);
  return outcome;
}

}  // namespace crowd::test
