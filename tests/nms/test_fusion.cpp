// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The methods of crowd/nms.h that merge in a way of their own, with answers worked out by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "core/fusion.hpp"

namespace crowd::test {
namespace {

using testing::ElementsAre;

constexpr float inf = std::numeric_limits<float>::infinity();

MATCHER_P2(Spans, x1, x2, "") {
  const CrowdNmsBox& box = arg;
  return box.x1 == x1 && box.y1 == 0 && box.x2 == x2 && box.y2 == 8;
}

CrowdNmsParams with(CrowdNmsMethod method, double threshold) {
  CrowdNmsParams params = default_params();
  params.method = method;
  params.overlap_threshold = threshold;
  return params;
}

Result run(const CrowdNmsParams& params, const Boxes& set, std::vector<std::uint32_t> models = {}) {
  Batch batch = Batch::of(set);
  batch.extras.models = std::move(models);
  Result result = run_cpu(params, batch, {.max_survivors = set.size(), .boxes = true, .scores = true});
  EXPECT_EQ(result.status, CROWD_NMS_OK) << crowd_nms_last_error();
  const std::uint32_t found = result.reports[0].survivors;
  result.survivors.resize(found);
  result.members.resize(found);
  result.boxes.resize(found);
  result.scores.resize(found);
  return result;
}

struct Candidate {
  float x1, x2, score;
};

// Side by side, between 0 and 8 in y.
Boxes row(std::initializer_list<Candidate> candidates) {
  Boxes set;
  for (const Candidate& c : candidates)
    set.add({c.x1, 0, c.x2, 8}, c.score, 3);
  return set;
}

CrowdNmsParams weighted(CrowdNmsParams params, std::initializer_list<float> weights) {
  params.weight_count = static_cast<std::uint32_t>(weights.size());
  std::ranges::copy(weights, params.model_weights);
  return params;
}

TEST(Nmw, gives_a_candidate_to_the_survivor_that_is_closest) {
  // The last has 16 / 40 in common with the best, and 24 / 32 with the second.
  const Boxes set = row({{0, 28, 1}, {16, 44, 0.5f}, {12, 40, 0.25f}});
  const Result result = run(with(CROWD_NMS_NMW, 0.35), set);
  EXPECT_THAT(result.survivors, ElementsAre(0, 1));
  EXPECT_THAT(result.members, ElementsAre(1, 2));
  EXPECT_THAT(result.representatives, ElementsAre(0, 1, 1));
  constexpr double weight = 0.25 * 0.75;
  EXPECT_THAT(result.boxes, ElementsAre(Spans(0, 28), Spans(float((0.5 * 16 + weight * 12) / (0.5 + weight)),
                                                            float((0.5 * 44 + weight * 40) / (0.5 + weight)))));
  EXPECT_THAT(result.scores, ElementsAre(1, 0.5f));
  EXPECT_THAT(run(with(CROWD_NMS_GREEDY, 0.35), set).representatives, ElementsAre(0, 1, 0));
}

TEST(Nmw, takes_the_best_ranked_of_equally_close_ones) {
  const Result result = run(with(CROWD_NMS_NMW, 0.3), row({{0, 24, 0.5f}, {24, 48, 0.75f}, {12, 36, 0.25f}}));
  EXPECT_THAT(result.survivors, ElementsAre(1, 0));
  EXPECT_THAT(result.representatives, ElementsAre(0, 1, 1));
}

TEST(Nmw, leaves_candidates_to_better_ranked_survivors) {
  // The third is closest to the last, which ranks below it.
  const Result result = run(with(CROWD_NMS_NMW, 0.35), row({{0, 28, 1}, {12, 40, 0.5f}, {16, 44, 0.25f}}));
  EXPECT_THAT(result.survivors, ElementsAre(0, 2));
  EXPECT_THAT(result.representatives, ElementsAre(0, 0, 2));
}

TEST(Nmw, without_weights_or_with_infinite_ones_leaves_the_box) {
  for (const float score : {0.0f, -1.0f, inf, -inf})
    EXPECT_THAT(run(with(CROWD_NMS_NMW, 0.3), row({{0, 24, score}, {4, 28, score}})).boxes, ElementsAre(Spans(0, 24)));
}

TEST(Nmw, writes_boxes_where_nothing_else_is_asked_for) {
  const Boxes set = row({{0, 28, 1}, {16, 44, 0.5f}, {12, 40, 0.25f}});
  const CrowdNmsParams params = with(CROWD_NMS_NMW, 0.35);
  const Result result =
      run_cpu(params, Batch::of(set), {.max_survivors = 2, .members = false, .representatives = false, .boxes = true});
  EXPECT_EQ(result.boxes[1].x1, run(params, set).boxes[1].x1);
}

TEST(Nmw, ranks_by_what_models_weigh) {
  // 24 of 32 in common. The second's score times 3 / 4, the first's times 1 / 4.
  const Boxes set = row({{0, 28, 1}, {4, 32, 0.5f}, {100, 128, 0.25f}});
  const CrowdNmsParams params = weighted(with(CROWD_NMS_NMW, 0.5), {1, 3, 4});
  const Result result = run(params, set, {0, 1, 2});
  EXPECT_THAT(result.survivors, ElementsAre(1, 2)) << "0.375, 0.25; the first has 0.25, too, and goes to the second";
  EXPECT_THAT(result.representatives, ElementsAre(1, 1, 2));
  EXPECT_THAT(result.scores, ElementsAre(0.375f, 0.25f));
  constexpr double weight = 0.25 * 0.75;
  EXPECT_THAT(result.boxes, ElementsAre(Spans(float(0.375 * 4 / (0.375 + weight)),
                                              float((0.375 * 32 + weight * 28) / (0.375 + weight))),
                                        Spans(100, 128)));
}

TEST(Wbf, moves_the_box_that_candidates_are_compared_with) {
  // 20 from 8 is 16 / 40, but from the fused (0 + 8) / 2 = 4 it is 12 / 44; from 16 it is 24 / 32.
  const Boxes set = row({{0, 28, 0.5f}, {8, 36, 0.5f}, {16, 44, 0.25f}, {20, 48, 0.125f}});
  const Result result = run(with(CROWD_NMS_WBF, 0.38), set);
  EXPECT_THAT(result.survivors, ElementsAre(0, 3));
  EXPECT_THAT(result.representatives, ElementsAre(0, 0, 0, 3)) << "the third has 12 from the fused box, 16 / 40";
  EXPECT_THAT(result.members, ElementsAre(3, 1));
  // (0.5 * 0 + 0.5 * 8 + 0.25 * 16) / 1.25
  EXPECT_THAT(result.boxes, ElementsAre(Spans(float(8 / 1.25), float(43 / 1.25)), Spans(20, 48)));
  EXPECT_THAT(run(with(CROWD_NMS_GREEDY, 0.38), set).survivors, ElementsAre(0, 2));
}

TEST(Wbf, joins_the_closest_cluster_and_of_equal_ones_the_first) {
  EXPECT_THAT(run(with(CROWD_NMS_WBF, 0.35), row({{0, 28, 1}, {16, 44, 0.5f}, {12, 40, 0.25f}})).representatives,
              ElementsAre(0, 1, 1));
  EXPECT_THAT(run(with(CROWD_NMS_WBF, 0.3), row({{0, 24, 0.5f}, {24, 48, 0.75f}, {12, 36, 0.25f}})).representatives,
              ElementsAre(0, 1, 1));
}

TEST(Wbf, scores_by_the_mean_and_the_models_that_agree) {
  const Boxes set = row({{0, 24, 0.75f}, {0, 24, 0.25f}, {40, 64, 0.5f}});
  CrowdNmsParams params = with(CROWD_NMS_WBF, 0.5);
  EXPECT_THAT(run(params, set).scores, ElementsAre(0.5f, 0.5f));
  params.models = 0;
  EXPECT_THAT(run(params, set).scores, ElementsAre(0.5f, 0.5f));
  params.models = 2;
  EXPECT_THAT(run(params, set).scores, ElementsAre(0.5f, 0.25f));
  params.models = 4;
  EXPECT_THAT(run(params, set).scores, ElementsAre(0.25f, 0.125f)) << "in the order of the founders";
}

TEST(Wbf, ranks_and_merges_by_what_models_weigh) {
  const Boxes set = row({{0, 24, 0.75f}, {4, 28, 0.5f}, {40, 64, 0.5f}});
  const Result result = run(weighted(with(CROWD_NMS_WBF, 0.5), {2, 4, 1.5f}), set, {0, 1, 0});
  EXPECT_THAT(result.survivors, ElementsAre(1, 2)) << "by 1.5, 2 and 1";
  EXPECT_THAT(result.representatives, ElementsAre(1, 1, 2));
  EXPECT_THAT(result.boxes, ElementsAre(Spans(float(2 * 4 / 3.5), float((2 * 28 + 1.5 * 24) / 3.5)), Spans(40, 64)));
  // (2 + 1.5) / 2, times 2 of 3 models, and by 2 + 4 + 1.5.
  EXPECT_THAT(result.scores, ElementsAre(float(3.5 / 2 * 2 / 7.5), float(1 / 7.5)));
}

class Weights : public testing::TestWithParam<CrowdNmsMethod> {};

TEST_P(Weights, of_one_change_nothing) {
  const Boxes set = distribution("multi_class").make(300, 4);
  std::vector<std::uint32_t> models;
  for (std::uint32_t i = 0; i < set.size(); ++i)
    models.push_back(i % 3);
  CrowdNmsParams params = with(GetParam(), 0.4);
  params.models = 3;
  const Batch batch = Batch::of(set);
  const Wanted wanted = {.max_survivors = set.size(), .boxes = true, .scores = true};
  const Result plain = run_cpu(params, batch, wanted);
  Batch of_models = batch;
  of_models.extras.models = models;
  EXPECT_TRUE(same(plain, run_cpu(params, of_models, wanted), batch, wanted)) << "models without weights";
  EXPECT_TRUE(same(plain, run_cpu(weighted(params, {1, 1, 1}), of_models, wanted), batch, wanted));
}

TEST_P(Weights, leave_thresholds_to_scores_as_they_came) {
  CrowdNmsParams params = weighted(with(GetParam(), 0.5), {0.25f, 1});
  params.score_threshold = 0.5;
  const Result result = run(params, row({{0, 24, 0.5f}, {40, 64, 0.25f}}), {0, 1});
  EXPECT_THAT(result.survivors, ElementsAre(0));
  EXPECT_EQ(result.reports[0].below_threshold, 1u);
}

TEST_P(Weights, of_no_model_or_no_number_make_candidates_invalid) {
  CrowdNmsParams params = weighted(with(GetParam(), 0.5), {1, 0});
  params.score_threshold = 0.5;
  const Boxes set = row({{0, 24, 0.5f}, {0, 24, 0.75f}, {0, 24, 0.25f}, {40, 64, inf}, {80, 104, 1}});
  const Result result = run(params, set, {0, 2, ~0u, 1, 1});
  EXPECT_THAT(result.survivors, ElementsAre(0, 4)) << "infinity times 0 is not a number, 1 times 0 is";
  EXPECT_THAT(result.representatives, ElementsAre(0, CROWD_NMS_REJECTED, CROWD_NMS_REJECTED, CROWD_NMS_REJECTED, 4));
  EXPECT_EQ(result.reports[0].invalid, 3u);
  EXPECT_EQ(result.reports[0].below_threshold, 0u);
}

INSTANTIATE_TEST_SUITE_P(Method, Weights, testing::Values(CROWD_NMS_NMW, CROWD_NMS_WBF),
                         [](const auto& info) { return test_name(info.param); });

TEST(Wbf, adds_up_in_the_order_of_joining) {
  const Boxes set = row({{0, 24, -0x1p60f}, {0, 24, 1}, {0, 24, 0x1p60f}});
  EXPECT_THAT(run(with(CROWD_NMS_WBF, 0.5), set).scores, ElementsAre(0)) << "2^60 + 1, less 2^60";
}

TEST(Wbf, keeps_to_classes) {
  Boxes set = row({{0, 24, 0.75f}, {0, 24, 0.25f}});
  set.classes[1] = 4;
  CrowdNmsParams params = with(CROWD_NMS_WBF, 0.5);
  EXPECT_THAT(run(params, set).survivors, ElementsAre(0, 1));
  params.class_agnostic = 1;
  EXPECT_THAT(run(params, set).survivors, ElementsAre(0));
}

TEST(Wbf, without_weights_or_with_infinite_ones_leaves_the_box) {
  for (const float score : {0.0f, -1.0f, inf, -inf})
    EXPECT_THAT(run(with(CROWD_NMS_WBF, 0.3), row({{0, 24, score}, {4, 28, score}})).boxes, ElementsAre(Spans(0, 24)));
  const Boxes set = row({{0, 24, inf}, {4, 28, -inf}});
  EXPECT_THAT(run(with(CROWD_NMS_WBF, 0.3), set).scores, ElementsAre(inf)) << "no number: the founder's own";
}

TEST(Wbf, takes_at_most_96_bytes_of_workspace_a_candidate) {
  const CrowdNmsParams params = with(CROWD_NMS_WBF, 0.5), with_weights = weighted(params, {1, 2});
  for (const std::uint32_t n : {0u, 1u, 100u, 4096u, 100000u, 0x7fffffffu}) {
    EXPECT_LE(crowd_nms_cpu_workspace_bytes(&params, 1, n), std::size_t{96} * n + 8192) << n;
    EXPECT_LE(crowd_nms_cpu_workspace_bytes(&with_weights, 1, n), std::size_t{100} * n + 8192) << n;
  }
}

double quotient_of(double dividend, double divisor) {
  return quotient(dividend, divisor, 1 / divisor);
}

TEST(Quotient, is_rounded_as_a_division) {
  std::mt19937_64 random(27);
  std::uniform_real_distribution<double> mantissa(-2, 2);
  std::uniform_int_distribution<int> exponent(-149, 128);
  for (int i = 0; i < 100000; ++i) {
    const double divisor = std::ldexp(std::abs(mantissa(random)), exponent(random));
    const double dividend = std::ldexp(mantissa(random), exponent(random) + exponent(random));
    ASSERT_EQ(quotient_of(dividend, divisor), dividend / divisor) << dividend << " / " << divisor;
  }
  EXPECT_FALSE(std::signbit(quotient_of(0, 3)));
}

// Quotients that lie between two doubles but for less than the last bit of a quotient of twice their precision.
TEST(Quotient, is_rounded_as_a_division_next_to_ties) {
  __extension__ using Wide = unsigned __int128;
  constexpr std::uint64_t above_mantissa = std::uint64_t{1} << 53;
  constexpr std::uint64_t tie_bits = 2 * above_mantissa - 1;
  std::mt19937_64 random(28);
  int tried = 0;
  while (tried < 100000) {
    const std::uint64_t divisor = random() % (above_mantissa / 2) | above_mantissa / 2 | 1;
    std::uint64_t inverse = divisor;  // modulo 2^64: each step doubles the bits that are right, three of an odd number
    for (int step = 0; step < 5; ++step)
      inverse *= 2 - divisor * inverse;
    for (const std::uint64_t off : {std::uint64_t{1}, ~std::uint64_t{0}}) {
      const std::uint64_t tie = off * inverse & tie_bits;
      const Wide product = Wide{divisor} * tie - (off == 1 ? Wide{1} : ~Wide{0});
      const auto dividend = static_cast<std::uint64_t>(product / (2 * above_mantissa));
      if (tie < above_mantissa || dividend >= above_mantissa)
        continue;
      ++tried;
      ASSERT_EQ(static_cast<std::uint64_t>(product) & tie_bits, 0u);
      const auto a = static_cast<double>(dividend), b = static_cast<double>(divisor);
      ASSERT_EQ(quotient_of(a, b), a / b) << dividend << " / " << divisor;
    }
  }
}

}  // namespace
}  // namespace crowd::test
