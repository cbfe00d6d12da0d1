// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Soft methods, worked out by hand, and the arithmetic of their factors.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/decay.hpp"
#include "oracle.hpp"

namespace crowd::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr float inf = std::numeric_limits<float>::infinity();

/// The first and the second have an IoU of 0.5, the second and the third, too; the fourth is apart.
class SoftMethods : public testing::Test {
 protected:
  SoftMethods() {
    all.add({0, 0, 10, 10}, 0.8f);
    all.add({0, 0, 10, 5}, 0.6f);
    all.add({0, 0, 10, 2.5f}, 0.5f);
    all.add({50, 50, 60, 60}, 0.25f);
    params.score_threshold = 0;
  }
  std::vector<std::uint32_t> survivors(CrowdNmsMethod method) {
    params.method = method;
    Wanted wanted = {.max_survivors = 8};
    wanted.scores = true;
    const Result result = run_cpu(params, Batch::of(all), wanted);
    EXPECT_EQ(result.status, CROWD_NMS_OK) << crowd_nms_last_error();
    report = result.reports[0];
    const std::uint32_t found = report.survivors;
    scores = {result.scores.begin(), result.scores.begin() + found};
    representatives = result.representatives;
    return {result.survivors.begin(), result.survivors.begin() + found};
  }

  Boxes all;
  CrowdNmsParams params = default_params();
  CrowdNmsReport report{};
  std::vector<float> scores;
  std::vector<std::uint32_t> representatives;
};

// The second falls to 0.3 by the first; so the third, which is 0.25 in the first, comes before it, and halves it.
TEST_F(SoftMethods, soft_linear_takes_the_best_by_what_is_left) {
  params.overlap_threshold = 0.4;
  EXPECT_THAT(survivors(CROWD_NMS_SOFT_LINEAR), ElementsAre(0, 2, 3, 1));
  EXPECT_THAT(scores, ElementsAre(0.8f, 0.5f, 0.25f, 0.6f * 0.5f * 0.5f));
  EXPECT_THAT(representatives, ElementsAre(0, 1, 2, 3));
  params.score_threshold = 0.2f;
  EXPECT_THAT(survivors(CROWD_NMS_SOFT_LINEAR), ElementsAre(0, 2, 3));
  EXPECT_THAT(representatives, ElementsAre(0, 2, 2, 3));
  params.overlap_threshold = 0.5;
  EXPECT_THAT(survivors(CROWD_NMS_SOFT_LINEAR), ElementsAre(0, 1, 2, 3)) << "no ratio is above";
  params.comparator = CROWD_NMS_GREATER_EQUAL;
  EXPECT_THAT(survivors(CROWD_NMS_SOFT_LINEAR), ElementsAre(0, 2, 3));
}

TEST_F(SoftMethods, soft_gaussian_takes_all_that_overlap) {
  params.overlap_threshold = 1;
  params.sigma = 0.5f;
  EXPECT_THAT(survivors(CROWD_NMS_SOFT_GAUSSIAN), ElementsAre(0, 2, 3, 1));
  EXPECT_NEAR(scores[1], 0.5 * std::exp(-0.0625 / 0.5), 1e-7);
  EXPECT_NEAR(scores[3], 0.6 * std::exp(-0.25 / 0.5) * std::exp(-0.25 / 0.5), 1e-7);
}

TEST_F(SoftMethods, matrix_linear_spares_what_only_covered_ones_overlap) {
  EXPECT_THAT(survivors(CROWD_NMS_MATRIX_LINEAR), ElementsAre(0, 2, 1, 3));
  // The second is 0.5 in the first. The third is 0.25 in the first, 0.5 in the second: 0.75, and (1 - 0.5) / (1 - 0.5).
  EXPECT_THAT(scores, ElementsAre(0.8f, 0.5f * 0.75f, 0.6f * 0.5f, 0.25f));
}

TEST_F(SoftMethods, matrix_gaussian_is_one_at_most) {
  params.sigma = 2;
  EXPECT_THAT(survivors(CROWD_NMS_MATRIX_GAUSSIAN), ElementsAre(0, 2, 1, 3));
  EXPECT_NEAR(scores[1], 0.5 * std::exp(-2 * 0.0625), 1e-7);
  EXPECT_NEAR(scores[2], 0.6 * std::exp(-2 * 0.25), 1e-7);
}

TEST_F(SoftMethods, matrix_linear_defines_exact_duplicates) {
  all.add({0, 0, 10, 10}, 0.7f);  // of the first: nothing is left of it, and it lowers nothing
  survivors(CROWD_NMS_MATRIX_LINEAR);
  EXPECT_THAT(scores, ElementsAre(0.8f, 0.5f * 0.75f, 0.6f * 0.5f, 0.25f, 0.0f));
}

TEST_F(SoftMethods, take_scores_as_weights) {
  params.score_threshold = -inf;
  all.scores[3] = -0.1f;
  for (const CrowdNmsMethod method :
       {CROWD_NMS_SOFT_LINEAR, CROWD_NMS_SOFT_GAUSSIAN, CROWD_NMS_MATRIX_LINEAR, CROWD_NMS_MATRIX_GAUSSIAN}) {
    survivors(method);
    EXPECT_EQ(report.below_threshold, 1u) << test_name(method);
  }
  // Nothing is left of infinity where it is covered by its like: NaN, below every threshold.
  all.scores = {inf, inf, 1, 1};
  all.boxes[1] = all.boxes[0];
  EXPECT_THAT(survivors(CROWD_NMS_SOFT_LINEAR), ElementsAre(0, 2, 3));
  EXPECT_EQ(representatives[1], 0u);
}

TEST_F(SoftMethods, leave_classes_alone) {
  all.classes = {0, 1, 1, 2};
  params.overlap_threshold = 0;
  EXPECT_THAT(survivors(CROWD_NMS_SOFT_LINEAR), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(scores, ElementsAre(0.8f, 0.6f, 0.25f, 0.25f));
  params.class_agnostic = 1;
  EXPECT_THAT(survivors(CROWD_NMS_SOFT_LINEAR), ElementsAre(0, 2, 3, 1));
}

TEST_F(SoftMethods, refuse_a_sigma_that_is_none) {
  for (const float sigma : {0.0f, -1.0f, inf, std::numeric_limits<float>::quiet_NaN()}) {
    params.sigma = sigma;
    EXPECT_EQ(crowd_nms_params_check(&params), CROWD_NMS_INVALID_ARGUMENT);
    EXPECT_THAT(crowd_nms_last_error(), HasSubstr("sigma"));
  }
}

TEST(Decay, is_the_exponential_to_the_last_places) {
  Dice dice(1);
  for (int i = 0; i < 1000000; ++i) {
    const double x = -std::ldexp(1 + double{dice.unit()}, static_cast<int>(dice.below(40)) - 31);
    const double expected = x < -700 ? 0 : std::exp(x);
    ASSERT_NEAR(exponential(x), expected, expected * 1e-15) << x;
  }
  EXPECT_EQ(exponential(0), 1);
  EXPECT_EQ(exponential(-inf), 0);
}

// What the order of survivors rests on.
TEST(Decay, falls_with_the_overlap) {
  for (const float sigma : {0.1f, 0.5f, 2.0f}) {
    float before = 1;
    for (float ratio = 0; ratio <= 1; ratio += 0x1p-12f) {
      const float factor = gaussian_decay(ratio, sigma);
      ASSERT_LE(factor, before) << ratio;
      ASSERT_NEAR(factor, std::exp(-ratio * ratio / sigma), 1e-6);
      before = factor;
    }
  }
  EXPECT_EQ(linear_decay(1.5f), 0.0f);
  EXPECT_EQ(linear_decay(inf), 0.0f);
}

}  // namespace
}  // namespace crowd::test
