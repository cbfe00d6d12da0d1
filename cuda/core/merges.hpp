// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The ways of merging (CrowdNmsMerge), a row each, for host and device.
//
// A row is made for a survivor, is given the boxes it is merged of in the order of their indices, and then has the
// box. Each operation is rounded once: compiled without contraction, as overlap.hpp is.
#pragma once

#include "core/minmax.hpp"
#include "core/table.hpp"
#include "crowd/nms.h"

namespace crowd {

/// What a survivor's box is merged of.
enum class MergedOf { nothing, members, voters };

/// Sums of four coordinates.
struct BoxSum {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;

  CROWD_HD void add(double weight, const CrowdNmsBox& box) {
    x1 += weight * box.x1;
    y1 += weight * box.y1;
    x2 += weight * box.x2;
    y2 += weight * box.y2;
  }
  CROWD_HD CrowdNmsBox over(double divisor) const {
    return {static_cast<float>(x1 / divisor), static_cast<float>(y1 / divisor), static_cast<float>(x2 / divisor),
            static_cast<float>(y2 / divisor)};
  }
};

struct NoMerge {
  static constexpr CrowdNmsMerge value = CROWD_NMS_MERGE_NONE;
  static constexpr char name[] = "none";
  static constexpr char description[] = "the survivor's own box";
  static constexpr MergedOf of = MergedOf::nothing;
  CROWD_HD void add(const CrowdNmsBox&, float) {}
  CROWD_HD CrowdNmsBox box(const CrowdNmsBox& own) const {
    return own;
  }
};

struct MeanMerge {
  static constexpr CrowdNmsMerge value = CROWD_NMS_MERGE_MEAN;
  static constexpr char name[] = "mean";
  static constexpr char description[] = "the mean of the boxes that a survivor represents (box clustering of lsnms)";
  static constexpr MergedOf of = MergedOf::members;
  CROWD_HD void add(const CrowdNmsBox& box, float) {
    sum.add(1, box);
    count += 1;
  }
  CROWD_HD CrowdNmsBox box(const CrowdNmsBox&) const {
    return sum.over(count);
  }

  BoxSum sum;
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
  CROWD_HD void add(const CrowdNmsBox& box, float score) {
    add_weighted(box, merge_weight(score));
  }
  CROWD_HD void add_weighted(const CrowdNmsBox& box, double weight) {
    sum.add(weight, box);
    weights += weight;
  }
  CROWD_HD CrowdNmsBox box(const CrowdNmsBox& own) const {
    return can_divide(weights) ? sum.over(weights) : own;
  }

  BoxSum sum;
  double weights = 0;
};

struct UnionMerge {
  static constexpr CrowdNmsMerge value = CROWD_NMS_MERGE_UNION;
  static constexpr char name[] = "union";
  static constexpr char description[] = "the box around them (GREEDYNMM of sahi)";
  static constexpr MergedOf of = MergedOf::members;
  CROWD_HD void add(const CrowdNmsBox& box, float) {
    around = any ? CrowdNmsBox{smaller(around.x1, box.x1), smaller(around.y1, box.y1), larger(around.x2, box.x2),
                               larger(around.y2, box.y2)}
                 : box;
    any = true;
  }
  CROWD_HD CrowdNmsBox box(const CrowdNmsBox&) const {
    return around;
  }

  CrowdNmsBox around = {};
  bool any = false;
};

struct VoteMerge : WeightedMerge {
  static constexpr CrowdNmsMerge value = CROWD_NMS_MERGE_VOTE;
  static constexpr char name[] = "vote";
  static constexpr char description[] =
      "the mean of all boxes that overlap it, weighted by their scores (box voting, Gidaris & Komodakis 2015)";
  static constexpr MergedOf of = MergedOf::voters;
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
