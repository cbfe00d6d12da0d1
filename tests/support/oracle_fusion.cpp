// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The methods of crowd/nms.h that merge in a way of their own, word by word.

#include <algorithm>
#include <cmath>

#include "oracle_parts.hpp"

namespace crowd::test {

namespace {

/// Means of coordinates.
struct WeightedSum {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0, weights = 0;

  void add(double weight, const CrowdNmsBox& box) {
    x1 = x1 + weight * double{box.x1};
    y1 = y1 + weight * double{box.y1};
    x2 = x2 + weight * double{box.x2};
    y2 = y2 + weight * double{box.y2};
    weights = weights + weight;
  }
  CrowdNmsBox mean_or(const CrowdNmsBox& other) const {
    if (weights == 0 || !std::isfinite(weights))
      return other;
    return {static_cast<float>(x1 / weights), static_cast<float>(y1 / weights), static_cast<float>(x2 / weights),
            static_cast<float>(y2 / weights)};
  }
};

double weight_of(float score) {
  return score > 0 ? score : 0;
}

CrowdNmsBox nmw_box(const CrowdNmsParams& params, const FrameView& frame, const Outcome& outcome,
                    std::uint32_t survivor) {
  WeightedSum sum;
  for (std::uint32_t i = 0; i < frame.n; ++i) {
    if (outcome.representatives[i] != survivor)
      continue;
    const double ratio = i == survivor ? 1.0 : double{ratio_of(params, frame, survivor, i)};
    sum.add(weight_of(frame.scores[i]) * ratio, frame.boxes[i]);
  }
  return sum.mean_or(frame.boxes[survivor]);
}

}  // namespace

bool has_weights(const CrowdNmsParams& params) {
  return reads(params.method, CROWD_NMS_READS_WEIGHTS) && params.weight_count > 0;
}

std::vector<float> weighted_scores(const CrowdNmsParams& params, const Batch& batch, std::uint32_t first,
                                   std::uint32_t n) {
  std::vector<float> scores;
  float largest = 0;
  for (std::uint32_t model = 0; model < params.weight_count; ++model)
    largest = std::max(largest, params.model_weights[model]);
  for (std::uint32_t i = first; i < first + n; ++i) {
    const std::uint32_t model = batch.extras.models[i];
    if (model >= params.weight_count) {
      scores.push_back(std::nanf(""));
      continue;
    }
    float factor = params.model_weights[model];
    if (params.method == CROWD_NMS_NMW)
      factor = factor / largest;
    scores.push_back(batch.all.scores[i] * factor);
  }
  return scores;
}

Outcome nmw(const CrowdNmsParams& params, const FrameView& frame) {
  Outcome outcome = greedy(params, frame);
  for (std::uint32_t i = 0; i < frame.n; ++i) {
    if (outcome.representatives[i] == CROWD_NMS_REJECTED || outcome.representatives[i] == i)
      continue;
    float largest = -1;
    for (const std::uint32_t survivor : outcome.survivors) {
      if (!in_better_rank(frame, survivor, i) || !suppresses(params, frame, survivor, i))
        continue;
      const float ratio = ratio_of(params, frame, survivor, i);
      if (ratio > largest) {
        largest = ratio;
        outcome.representatives[i] = survivor;
      }
    }
  }
  for (const std::uint32_t survivor : outcome.survivors) {
    outcome.boxes.push_back(nmw_box(params, frame, outcome, survivor));
    outcome.scores.push_back(frame.scores[survivor]);
  }
  return outcome;
}

namespace {

struct Cluster {
  CrowdNmsBox fused;
  Indices members;  // in the order of joining
};

void fuse(const FrameView& frame, Cluster& cluster) {
  WeightedSum sum;
  for (const std::uint32_t i : cluster.members)
    sum.add(weight_of(frame.scores[i]), frame.boxes[i]);
  cluster.fused = sum.mean_or(cluster.fused);
}

float fused_score(const CrowdNmsParams& params, const FrameView& frame, const Cluster& cluster) {
  double models = params.models ? params.models : 1;
  double weights = models;
  if (has_weights(params)) {
    models = params.weight_count;
    weights = 0;
    for (std::uint32_t model = 0; model < params.weight_count; ++model)
      weights = weights + double{params.model_weights[model]};
  }
  const auto n = static_cast<double>(cluster.members.size());
  double score = 0;
  for (const std::uint32_t i : cluster.members)
    score = score + double{frame.scores[i]};
  score = score / n;
  score = score * std::min(n, models);
  score = score / weights;
  return std::isnan(score) ? frame.scores[cluster.members[0]] : static_cast<float>(score);
}

Cluster* closest(const CrowdNmsParams& params, const FrameView& frame, std::vector<Cluster>& clusters,
                 std::uint32_t i) {
  Cluster* closest = nullptr;
  float largest = -1;
  for (Cluster& cluster : clusters) {
    if (!params.class_agnostic && frame.label(cluster.members[0]) != frame.label(i))
      continue;
    const float ratio = ratio_of(params, cluster.fused, frame.boxes[i]);
    if (ratio > largest) {
      largest = ratio;
      closest = &cluster;
    }
  }
  if (!closest || !passes(params, largest, threshold_of(params, frame.label(closest->members[0]))))
    return nullptr;
  return closest;
}

}  // namespace

Outcome wbf(const CrowdNmsParams& given, const FrameView& frame) {
  CrowdNmsParams params = given;
  params.rule = CROWD_NMS_PLAIN;
  Outcome outcome;
  outcome.representatives.resize(frame.n, CROWD_NMS_REJECTED);
  std::vector<Cluster> clusters;
  for (const std::uint32_t i : valid_in_rank_order(params, frame, outcome)) {
    if (Cluster* const cluster = closest(params, frame, clusters, i)) {
      cluster->members.push_back(i);
      fuse(frame, *cluster);
    } else {
      clusters.push_back({frame.boxes[i], {i}});
    }
  }
  for (const Cluster& cluster : clusters) {
    outcome.survivors.push_back(cluster.members[0]);
    outcome.boxes.push_back(cluster.fused);
    outcome.scores.push_back(fused_score(params, frame, cluster));
    for (const std::uint32_t i : cluster.members)
      outcome.representatives[i] = cluster.members[0];
  }
  return outcome;
}

}  // namespace crowd::test
