// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowd/nms.h, "Merging", word by word.

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "oracle_parts.hpp"

namespace crowd::test {

namespace {

Indices members_of(std::uint32_t survivor, const Outcome& outcome) {
  Indices members;
  for (std::uint32_t i = 0; i < outcome.representatives.size(); ++i) {
    if (outcome.representatives[i] == survivor)
      members.push_back(i);
  }
  return members;
}

Indices voters_of(std::uint32_t survivor, const CrowdNmsParams& params, const FrameView& frame,
                  const Outcome& outcome) {
  Indices voters;
  for (std::uint32_t i = 0; i < frame.n; ++i) {
    if (outcome.representatives[i] == CROWD_NMS_REJECTED)
      continue;
    const bool overlap = in_better_rank(frame, i, survivor) ? suppresses(params, frame, i, survivor)
                                                            : suppresses(params, frame, survivor, i);
    if (i == survivor || overlap)
      voters.push_back(i);
  }
  return voters;
}

float mean_of(const FrameView& frame, const Indices& members, float CrowdNmsBox::*x) {
  double sum = 0;
  for (const std::uint32_t i : members)
    sum = sum + double{frame.boxes[i].*x};
  const double quotient = sum / static_cast<double>(members.size());
  return static_cast<float>(quotient);
}

double weight_of(const FrameView& frame, std::uint32_t i) {
  return frame.scores[i] > 0 ? frame.scores[i] : 0;
}

double sum_of_weights(const FrameView& frame, const Indices& members) {
  double sum = 0;
  for (const std::uint32_t i : members)
    sum = sum + weight_of(frame, i);
  return sum;
}

float weighted_mean_of(const FrameView& frame, const Indices& members, float CrowdNmsBox::*x) {
  double sum = 0;
  for (const std::uint32_t i : members) {
    const double product = weight_of(frame, i) * double{frame.boxes[i].*x};
    sum = sum + product;
  }
  const double quotient = sum / sum_of_weights(frame, members);
  return static_cast<float>(quotient);
}

float min_of(const FrameView& frame, const Indices& members, float CrowdNmsBox::*x) {
  float min = frame.boxes[members[0]].*x;
  for (const std::uint32_t i : members)
    min = std::min(min, frame.boxes[i].*x);
  return min;
}

float max_of(const FrameView& frame, const Indices& members, float CrowdNmsBox::*x) {
  float max = frame.boxes[members[0]].*x;
  for (const std::uint32_t i : members)
    max = std::max(max, frame.boxes[i].*x);
  return max;
}

CrowdNmsBox weighted_box(const FrameView& frame, const Indices& members, std::uint32_t survivor) {
  const double weights = sum_of_weights(frame, members);
  if (weights == 0 || std::isinf(weights))
    return frame.boxes[survivor];
  return {weighted_mean_of(frame, members, &CrowdNmsBox::x1), weighted_mean_of(frame, members, &CrowdNmsBox::y1),
          weighted_mean_of(frame, members, &CrowdNmsBox::x2), weighted_mean_of(frame, members, &CrowdNmsBox::y2)};
}

CrowdNmsBox box_of(std::uint32_t survivor, const CrowdNmsParams& params, const FrameView& frame,
                   const Outcome& outcome) {
  const Indices members = members_of(survivor, outcome);
  switch (params.merge) {
    case CROWD_NMS_MERGE_NONE:
      return frame.boxes[survivor];
    case CROWD_NMS_MERGE_MEAN:
      return {mean_of(frame, members, &CrowdNmsBox::x1), mean_of(frame, members, &CrowdNmsBox::y1),
              mean_of(frame, members, &CrowdNmsBox::x2), mean_of(frame, members, &CrowdNmsBox::y2)};
    case CROWD_NMS_MERGE_WEIGHTED:
      return weighted_box(frame, members, survivor);
    case CROWD_NMS_MERGE_UNION:
      return {min_of(frame, members, &CrowdNmsBox::x1), min_of(frame, members, &CrowdNmsBox::y1),
              max_of(frame, members, &CrowdNmsBox::x2), max_of(frame, members, &CrowdNmsBox::y2)};
    case CROWD_NMS_MERGE_VOTE:
      return weighted_box(frame, voters_of(survivor, params, frame, outcome), survivor);
  }
  throw std::invalid_argument("the oracle lacks this way of merging");
}

float score_of(std::uint32_t survivor, const CrowdNmsParams& params, const FrameView& frame, const Outcome& outcome) {
  const float own = frame.scores[survivor];
  if (params.cluster_score == CROWD_NMS_CLUSTER_SCORE_NONE)
    return own;
  const Indices members = members_of(survivor, outcome);
  float max = frame.scores[members[0]];
  double sum = 0;
  for (const std::uint32_t i : members) {
    max = std::max(max, frame.scores[i]);
    sum = sum + double{frame.scores[i]};
  }
  if (params.cluster_score == CROWD_NMS_CLUSTER_SCORE_MAX)
    return max;
  if (params.cluster_score == CROWD_NMS_CLUSTER_SCORE_MEAN)
    sum = sum / static_cast<double>(members.size());
  return std::isnan(sum) ? own : static_cast<float>(sum);
}

void drop_small_clusters(std::uint32_t min_members, Outcome& outcome) {
  Indices large;
  for (const std::uint32_t survivor : outcome.survivors) {
    if (members_of(survivor, outcome).size() >= min_members)
      large.push_back(survivor);
    else
      std::replace(outcome.representatives.begin(), outcome.representatives.end(), survivor,
                   std::uint32_t{CROWD_NMS_NONE});
  }
  outcome.survivors = large;
}

}  // namespace

void merge(const CrowdNmsParams& given, const FrameView& frame, Outcome& outcome) {
  CrowdNmsParams params = given;
  if (!reads(params.method, CROWD_NMS_READS_MERGE)) {
    params.merge = CROWD_NMS_MERGE_NONE;
    params.cluster_score = CROWD_NMS_CLUSTER_SCORE_NONE;
    params.min_members = 0;
  }
  if (params.min_members > 1)
    drop_small_clusters(params.min_members, outcome);
  for (const std::uint32_t survivor : outcome.survivors) {
    outcome.boxes.push_back(box_of(survivor, params, frame, outcome));
    if (!outcome.has_new_scores)
      outcome.scores.push_back(score_of(survivor, params, frame, outcome));
  }
}

}  // namespace crowd::test
