// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The ways of merging (CrowdNmsMerge), a row each, for host and device.
//
// A row is made for an edge of a survivor's box: x1, y1, x2 or y2. It is given that edge of the boxes it is merged of
// in the order of their indices, and then has the survivor's. Each operation is rounded once: compiled without
// contraction, as overlap.hpp is.
#pragma once

#include "core/minmax.hpp"
#include "core/table.hpp"
#include "crowd/nms.h"

namespace crowd {

/// What a survivor's box is merged of.
enum class MergedOf { nothing, members, voters };

/// Of x1, y1, x2 and y2.
enum class EdgeSide { low, high };

struct NoMerge {
  static constexpr CrowdNmsMerge value = CROWD_NMS_MERGE_NONE;
  static constexpr char name[] = "none";
  static constexpr char description[] = "the survivor's own box";
  static constexpr MergedOf of = MergedOf::nothing;
  CROWD_HD explicit NoMerge(EdgeSide) {}
  CROWD_HD void add(float, float) {}
  CROWD_HD float edge(float own) const {
    return own;
  }
};

struct MeanMerge {
  static constexpr CrowdNmsMerge value = CROWD_NMS_MERGE_MEAN;
  static constexpr char name[] = "mean";
  static constexpr char description[] = "the mean of the boxes that a survivor represents (box clustering of lsnms)";
  static constexpr MergedOf of = MergedOf::members;
  CROWD_HD explicit MeanMerge(EdgeSide) {}
  CROWD_HD void add(float edge, float) {
    sum += edge;
    count += 1;
  }
  CROWD_HD float edge(float) const {
    return static_cast<float>(sum / count);
  }

  double sum = 0;
  double count = 0;
};

/// Exact.
CROWD_HD inline double merge_weight(float score) {
  return 0.0f < score ? score : 0.0f;
}

/// Whether sums are divided by this one of weights.
CROWD_HD inline bool can_divide(double weights) {
  constexpr double max_double = 1.7976931348623157e+308;
  return weights > 0 && weights <= max_double;
}

struct WeightedMerge {
  static constexpr CrowdNmsMerge value = CROWD_NMS_MERGE_WEIGHTED;
  static constexpr char name[] = "weighted";
  static constexpr char description[] = "their mean, weighted by their scores (BlazeFace, Bazarevsky et al. 2019)";
  static constexpr MergedOf of = MergedOf::members;
  CROWD_HD explicit WeightedMerge(EdgeSide) {}
  CROWD_HD void add(float edge, float score) {
    add_weighted(edge, merge_weight(score));
  }
  CROWD_HD void add_weighted(float edge, double weight) {
    sum += weight * edge;
    weights += weight;
  }
  CROWD_HD float edge(float own) const {
    return can_divide(weights) ? static_cast<float>(sum / weights) : own;
  }

  double sum = 0;
  double weights = 0;
};

struct UnionMerge {
  static constexpr CrowdNmsMerge value = CROWD_NMS_MERGE_UNION;
  static constexpr char name[] = "union";
  static constexpr char description[] = "the box around them (GREEDYNMM of sahi)";
  static constexpr MergedOf of = MergedOf::members;
  CROWD_HD explicit UnionMerge(EdgeSide of_edge) : side(of_edge) {}
  CROWD_HD void add(float edge, float) {
    const float beyond = side == EdgeSide::low ? smaller(outermost, edge) : larger(outermost, edge);
    outermost = any ? beyond : edge;
    any = true;
  }
  CROWD_HD float edge(float) const {
    return outermost;
  }

  EdgeSide side;
  float outermost = 0;
  bool any = false;
};

struct VoteMerge : WeightedMerge {
  static constexpr CrowdNmsMerge value = CROWD_NMS_MERGE_VOTE;
  static constexpr char name[] = "vote";
  static constexpr char description[] =
      "the mean of all boxes that overlap it, weighted by their scores (box voting, Gidaris & Komodakis 2015)";
  static constexpr MergedOf of = MergedOf::voters;
  using WeightedMerge::WeightedMerge;
};

using Merges = Table<NoMerge, MeanMerge, WeightedMerge, UnionMerge, VoteMerge>;
static_assert(in_order(Merges{}), "rows are in the order of CrowdNmsMerge");

template <typename... Row>
constexpr MergedOf merged_of(Table<Row...>, CrowdNmsMerge merge) {
  constexpr MergedOf rows[] = {Row::of...};
  return rows[merge];
}

/// The score of a cluster (CrowdNmsClusterScore), used as a row of the table above is.
struct ScoreSum {
  CROWD_HD void add(float score) {
    max = count > 0 ? larger(max, score) : score;
    sum += score;
    count += 1;
  }
  CROWD_HD float score(CrowdNmsClusterScore kind, float own) const {
    float result = own;
    if (kind == CROWD_NMS_CLUSTER_SCORE_MAX)
      result = max;
    else if (kind == CROWD_NMS_CLUSTER_SCORE_MEAN)
      result = static_cast<float>(sum / count);
    else if (kind == CROWD_NMS_CLUSTER_SCORE_SUM)
      result = static_cast<float>(sum);
    return result == result ? result : own;
  }

  float max = 0;
  double sum = 0;
  double count = 0;
};

}  // namespace crowd
