// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The algebra of the one overlap test and the one ranking. Both backends share them, so neither can catch their
// mistakes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "boxes.hpp"
#include "core/order.hpp"
#include "core/paper_rule.hpp"
#include "core/rules.hpp"
#include "oracle.hpp"
#include "tables.hpp"

namespace crowd::test {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float thresholds[] = {0, 0.1f, 0.25f, 0.5f, 0.7f, 1};

struct Pair {
  CrowdNmsBox a, b;
};

std::vector<Pair> pairs() {
  std::vector<Pair> pairs;
  for (const Distribution& from : distributions()) {
    const Boxes set = from.make(60, 5);
    for (const CrowdNmsBox& a : set.boxes) {
      for (const CrowdNmsBox& b : set.boxes) {
        if (is_well_formed(a, 0) && is_well_formed(b, 0))
          pairs.push_back({a, b});
      }
    }
  }
  return pairs;
}

OverlapRule rule(CrowdNmsMetric metric, float threshold, bool or_equal = false, float offset = 0) {
  return {metric, or_equal, threshold, offset};
}

// Neither 0 nor too much for a union.
bool has_an_area(const CrowdNmsBox& box) {
  return area(box, 0) > 0 && area(box, 0) + area(box, 0) < inf;
}

TEST(Overlap, is_symmetric_for_iou_and_ios) {
  for (const Pair& pair : pairs()) {
    for (const CrowdNmsMetric metric : {CROWD_NMS_IOU, CROWD_NMS_IOS}) {
      for (const float t : thresholds)
        ASSERT_EQ(overlaps(pair.a, pair.b, rule(metric, t)), overlaps(pair.b, pair.a, rule(metric, t)));
    }
  }
}

// The metrics that a search for overlapping boxes knows.
std::vector<CrowdNmsMetric> all_ratios() {
  std::vector<CrowdNmsMetric> ratios = all_metrics();
  std::erase_if(ratios, [](CrowdNmsMetric m) { return is_derived(m); });
  return ratios;
}

TEST(Overlap, over_higher_is_over_lower_the_other_way_round) {
  for (const Pair& pair : pairs()) {
    for (const float t : thresholds)
      ASSERT_EQ(overlaps(pair.a, pair.b, rule(CROWD_NMS_OVER_HIGHER, t)),
                overlaps(pair.b, pair.a, rule(CROWD_NMS_OVER_LOWER, t)));
  }
}

TEST(Overlap, of_a_box_with_itself_is_one) {
  for (const Pair& pair : pairs()) {
    if (!has_an_area(pair.a))
      continue;
    for (const CrowdNmsMetric m : all_ratios()) {
      ASSERT_TRUE(overlaps(pair.a, pair.a, rule(m, 1, true)));
      ASSERT_TRUE(overlaps(pair.a, pair.a, rule(m, 0.999f)));
      ASSERT_FALSE(overlaps(pair.a, pair.a, rule(m, 1)));
    }
  }
}

TEST(Overlap, falls_with_the_threshold_and_greater_implies_greater_equal) {
  for (const Pair& pair : pairs()) {
    for (const CrowdNmsMetric m : all_ratios()) {
      bool before = true;
      for (const float t : thresholds) {
        const bool now = overlaps(pair.a, pair.b, rule(m, t));
        ASSERT_TRUE(before || !now);
        ASSERT_TRUE(!now || overlaps(pair.a, pair.b, rule(m, t, true)));
        before = now;
      }
    }
  }
}

TEST(Overlap, of_boxes_apart_is_zero) {
  const CrowdNmsBox a = {0, 0, 10, 4};
  for (const CrowdNmsBox& b : {CrowdNmsBox{10, 0, 20, 4}, {0, 4, 10, 8}, {50, 50, 60, 51}, {-9, -9, -1, 30}}) {
    for (const CrowdNmsMetric m : all_ratios()) {
      EXPECT_FALSE(overlaps(a, b, rule(m, 0)));
      EXPECT_TRUE(overlaps(a, b, rule(m, 0, true)));
    }
  }
}

TEST(Overlap, does_not_change_when_lattice_boxes_move) {
  const Boxes set = distribution("integer_lattice").make(60, 3);
  for (const CrowdNmsBox& a : set.boxes) {
    for (const CrowdNmsBox& b : set.boxes) {
      const auto move = [](CrowdNmsBox box) {
        return CrowdNmsBox{box.x1 + 1000, box.y1 - 77, box.x2 + 1000, box.y2 - 77};
      };
      for (const float t : thresholds)
        ASSERT_EQ(overlaps(a, b, rule(CROWD_NMS_IOU, t)), overlaps(move(a), move(b), rule(CROWD_NMS_IOU, t)));
    }
  }
}

struct ByHeart {
  CrowdNmsMetric metric;
  float half_open, last_pixel_inclusive;  ///< ratio with an offset of 0, of 1
};

TEST(Overlap, knows_lattice_boxes_by_heart) {
  const CrowdNmsBox hi = {0, 0, 4, 10};
  const CrowdNmsBox lo = {2, 5, 12, 7};  // in common 2 x 2, areas 40 and 20; with an offset of 1 3 x 3, 55 and 33
  constexpr ByHeart rows[] = {
      {CROWD_NMS_IOU, 4.0f / 56, 9.0f / 79},
      {CROWD_NMS_IOS, 4.0f / 20, 9.0f / 33},
      {CROWD_NMS_OVER_HIGHER, 4.0f / 40, 9.0f / 55},
      {CROWD_NMS_OVER_LOWER, 4.0f / 20, 9.0f / 33},
  };
  std::vector<CrowdNmsMetric> known;
  for (const ByHeart& row : rows) {
    known.push_back(row.metric);
    for (const float offset : {0.0f, 1.0f}) {
      const float ratio = offset > 0 ? row.last_pixel_inclusive : row.half_open;
      EXPECT_TRUE(overlaps(hi, lo, rule(row.metric, ratio, true, offset))) << row.metric;
      EXPECT_FALSE(overlaps(hi, lo, rule(row.metric, ratio, false, offset))) << row.metric;
    }
  }
  EXPECT_EQ(known, all_ratios()) << "a row for each metric";
}

// In common 8 x 10 of 120: the centres are 2 apart, the corners of the common box sqrt(244).
TEST(Overlap, of_diou_is_less_where_centres_are_apart) {
  const CrowdNmsBox a = {0, 0, 10, 10}, b = {2, 0, 12, 10};
  const auto counts = [&](double threshold, std::uint32_t offset) {
    CrowdNmsParams params = default_params();
    params.metric = CROWD_NMS_DIOU;
    params.overlap_threshold = threshold;
    params.pixel_offset = offset;
    return pair_test(params).counts(0, 1, a, b, {}) && pair_test(params).counts(1, 0, b, a, {});
  };
  EXPECT_TRUE(counts(80.0 / 120 - 4.0 / 244 - 1e-6, 0));
  EXPECT_FALSE(counts(80.0 / 120 - 4.0 / 244 + 1e-6, 0));
  EXPECT_TRUE(counts(99.0 / 143 - 4.0 / 290 - 1e-6, 1));
  EXPECT_FALSE(counts(99.0 / 143 - 4.0 / 290 + 1e-6, 1));
  const CrowdNmsBox inside = {2.5f, 2.5f, 7.5f, 7.5f};  // same centre: nothing is taken off
  CrowdNmsParams params = default_params();
  params.metric = CROWD_NMS_DIOU;
  params.overlap_threshold = 0.25;
  params.comparator = CROWD_NMS_GREATER_EQUAL;
  EXPECT_TRUE(pair_test(params).counts(0, 1, a, inside, {}));
}

// Of whole pixels: (4 + 1) x (4 + 1) in common, of areas 25 and 25.
TEST(Overlap, of_nnstreamer_counts_a_pixel_more_in_intersections_alone) {
  const auto counts = [](const CrowdNmsBox& a, const CrowdNmsBox& b, double threshold, CrowdNmsComparator comparator) {
    CrowdNmsParams params = default_params();
    params.metric = CROWD_NMS_IOU_NNSTREAMER;
    params.overlap_threshold = threshold;
    params.comparator = comparator;
    return pair_test(params).counts(0, 1, a, b, {});
  };
  const CrowdNmsBox a = {0, 0, 5, 5}, b = {1, 1, 6, 6};
  EXPECT_TRUE(counts(a, b, 1, CROWD_NMS_GREATER_EQUAL));
  EXPECT_FALSE(counts(a, b, 1, CROWD_NMS_GREATER));
  const CrowdNmsBox beside = {5, 0, 10, 5};  // (0 + 1) x (5 + 1) of 25 + 25 - 6
  EXPECT_TRUE(counts(a, beside, 6.0 / 44 - 1e-6, CROWD_NMS_GREATER));
  EXPECT_FALSE(counts(a, beside, 6.0 / 44 + 1e-6, CROWD_NMS_GREATER));
  const CrowdNmsBox apart = {6, 0, 11, 5};
  EXPECT_FALSE(counts(a, apart, 0, CROWD_NMS_GREATER));
  EXPECT_TRUE(counts(a, apart, 0, CROWD_NMS_GREATER_EQUAL));
  const CrowdNmsBox dot = {0, 0, 1, 1};  // 4 in common of areas 1 and 1: a union below 0
  EXPECT_FALSE(counts(dot, dot, 0, CROWD_NMS_GREATER));
  EXPECT_TRUE(counts(dot, dot, 0, CROWD_NMS_GREATER_EQUAL));
}

// What the kernels' windows rest on.
TEST(Overlap, implies_the_iou_that_the_row_of_the_metric_says) {
  constexpr float rounding = 1e-5f;
  for (const Pair& pair : pairs()) {
    if (!has_an_area(pair.a) || !has_an_area(pair.b) || intersection(pair.a, pair.b, 0) < 1e-30f)
      continue;
    for (const CrowdNmsMetric m : all_ratios()) {
      for (const float t : thresholds) {
        const float iou = min_iou(Ratios{}, m, t) * (1 - rounding);
        if (iou > 0 && overlaps(pair.a, pair.b, rule(m, t))) {
          ASSERT_TRUE(overlaps(pair.a, pair.b, rule(CROWD_NMS_IOU, iou))) << m << " above " << t;
        }
      }
    }
  }
}

TEST(Overlap, of_areas_beyond_float_is_none) {
  const CrowdNmsBox endless = {-3e38f, -3e38f, 3e38f, 3e38f};
  EXPECT_FALSE(overlaps(endless, endless, rule(CROWD_NMS_IOU, 0, true)));
  const CrowdNmsBox speck = {0, 0, 1e-30f, 1e-30f};
  EXPECT_FALSE(overlaps(speck, speck, rule(CROWD_NMS_IOU, 0, true)));
}

TEST(WellFormed, is_finite_and_filled) {
  EXPECT_TRUE(is_well_formed({0, 0, 1, 2}, 0));
  EXPECT_TRUE(is_well_formed({-3.4028235e38f, 0, 3.4028235e38f, 2}, 0));
  EXPECT_TRUE(is_well_formed({0, 0, 1e-45f, 2}, 0));
  for (const float bad : {nan, -nan, inf, -inf}) {
    EXPECT_FALSE(is_well_formed({bad, 0, 1, 2}, 0));
    EXPECT_FALSE(is_well_formed({0, bad, 1, 2}, 0));
    EXPECT_FALSE(is_well_formed({0, 0, bad, 2}, 0));
    EXPECT_FALSE(is_well_formed({0, 0, 1, bad}, 1));
  }
  EXPECT_FALSE(is_well_formed({1, 0, 1, 2}, 0));
  EXPECT_FALSE(is_well_formed({0, 2, 1, 2}, 0));
  EXPECT_TRUE(is_well_formed({1, 2, 1, 2}, 1));
  EXPECT_FALSE(is_well_formed({2, 0, 1, 2}, 1));
  EXPECT_FALSE(is_well_formed({0, 3, 1, 2}, 1));
}

TEST(PaperRule, is_algorithm_one) {
  const CrowdNmsBox higher = {0, 0, 9, 4};                // 10 x 5 pixels
  EXPECT_FALSE(paper_keeps({0, 0, 9, 1}, higher, 0.4f));  // 20 of 50
  EXPECT_TRUE(paper_keeps({0, 0, 9, 1}, higher, 0.41f));
  EXPECT_TRUE(paper_keeps({50, 50, 60, 60}, higher, 0.1f));
  EXPECT_FALSE(paper_keeps({50, 50, 60, 60}, {7, 7, 7, 9}, 0.9f)) << "an empty box discards whatever it meets";
  EXPECT_TRUE(paper_keeps({50, 50, 60, 60}, {7, 7, 9, 7}, 0.9f)) << "only its width makes a box empty";
}

TEST(Order, keys_rise_with_scores) {
  const float scores[] = {-inf, -3.4028235e38f, -1, -1e-38f, -1e-45f, 0, 1e-45f, 1e-38f, 0.5f, 1, 3.4028235e38f, inf};
  for (std::size_t i = 1; i < std::size(scores); ++i)
    EXPECT_LT(score_key(scores[i - 1]), score_key(scores[i])) << scores[i];
  for (const float score : scores)
    EXPECT_EQ(key_score(score_key(score)), score);
  EXPECT_EQ(score_key(-0.0f), score_key(0.0f));
  EXPECT_LT(score_key(nan), score_key(-inf));
  EXPECT_EQ(score_key(nan), score_key(-nan));
}

TEST(Order, is_total_and_by_index_where_scores_tie) {
  EXPECT_GT(rank_key(0.5f, 3), rank_key(0.5f, 4));
  EXPECT_GT(rank_key(0.5f, 4), rank_key(0.25f, 0));
  EXPECT_GT(rank_key(-0.0f, 1), rank_key(0.0f, 2));
  EXPECT_GT(rank_key(-inf, 0xfffffffe), 0u) << "no candidate has the key 0";
  for (const std::uint32_t index : {0u, 1u, 77u, 0x7fffffffu, 0xfffffffeu})
    EXPECT_EQ(rank_index(rank_key(0.5f, index)), index);
}

TEST(Order, sorts_as_scores_and_indices_do) {
  const Boxes set = distribution("odd_scores").make(500, 11);
  std::vector<std::uint64_t> keys;
  std::vector<std::uint32_t> expected;
  for (std::uint32_t i = 0; i < set.size(); ++i) {
    if (std::isnan(set.scores[i]))
      continue;
    keys.push_back(rank_key(set.scores[i], i));
    expected.push_back(i);
  }
  std::sort(keys.rbegin(), keys.rend());
  std::stable_sort(expected.begin(), expected.end(), [&](auto a, auto b) { return set.scores[a] > set.scores[b]; });
  for (std::size_t r = 0; r < keys.size(); ++r)
    EXPECT_EQ(rank_index(keys[r]), expected[r]);
}

}  // namespace
}  // namespace crowd::test
