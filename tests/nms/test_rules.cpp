// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Rules, settings of classes and limits of size, worked out by hand on three boxes: the second overlaps the first with
// an IoU of 0.8, the third overlaps the first with 0.6 and the second with 0.75.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>

#include "oracle.hpp"

namespace crowd::test {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

class Rules : public testing::TestWithParam<CrowdNmsMethod> {
 protected:
  Rules() {
    all.add({0, 0, 10, 10}, 0.9f, 0);
    all.add({0, 0, 10, 8}, 0.8f, 1);
    all.add({0, 0, 10, 6}, 0.7f, 2);
    params.method = GetParam();
    params.class_agnostic = 1;
  }
  std::vector<std::uint32_t> survivors() {
    Batch batch = Batch::of(all);
    batch.extras = extras;
    const Result result = run_cpu(params, batch, {.max_survivors = 3});
    EXPECT_EQ(result.status, CROWD_NMS_OK) << crowd_nms_last_error();
    report = result.reports[0];
    return {result.survivors.begin(), result.survivors.begin() + report.survivors};
  }
  CrowdNmsClassSettings& class_settings(std::int32_t label) {
    params.class_settings[params.class_count] = {label, nan, nan};
    return params.class_settings[params.class_count++];
  }
  bool spares_the_third() const {
    return GetParam() != CROWD_NMS_MAP_REDUCE;
  }

  // The first and the third, which map-reduce drops for the second.
  const std::vector<std::uint32_t> both = {0, 2}, alone = {0};
  Boxes all;
  Extras extras;
  CrowdNmsParams params = default_params();
  CrowdNmsReport report{};
};

TEST_P(Rules, plain_is_the_default) {
  EXPECT_THAT(survivors(), ElementsAre(0));
}

TEST_P(Rules, adaptive_asks_for_the_density_of_the_better_one) {
  params.rule = CROWD_NMS_ADAPTIVE;
  extras.densities = {0.7f, 0, 1};
  EXPECT_THAT(survivors(), ElementsAreArray(spares_the_third() ? both : alone));
  extras.densities = {0.85f, 0.74f, 0};
  EXPECT_THAT(survivors(), ElementsAre(0, 1));
  extras.densities = {0.85f, 0.76f, 0};
  EXPECT_THAT(survivors(), ElementsAre(0, 1, 2));
  extras.densities = {nan, -1, 0.1f};  // of no use: the threshold stands
  EXPECT_THAT(survivors(), ElementsAre(0));
}

TEST_P(Rules, set_spares_those_of_one_proposal) {
  params.rule = CROWD_NMS_SET;
  extras.proposals = {7, 7, 8};
  EXPECT_THAT(survivors(), ElementsAre(0, 1));
  extras.proposals = {7, 8, 7};
  EXPECT_THAT(survivors(), ElementsAreArray(spares_the_third() ? both : alone));
}

TEST_P(Rules, visible_looks_at_what_is_seen) {
  params.rule = CROWD_NMS_VISIBLE;
  extras.visible = {{0, 0, 10, 2}, {0, 2, 10, 8}, {0, 2, 10, 6}};
  EXPECT_THAT(survivors(), ElementsAre(0, 1));
  extras.visible[1].x2 = nan;
  EXPECT_THAT(survivors(), ElementsAre(0, 2));
  EXPECT_EQ(report.invalid, 1u);
  all.boxes[2].x2 = nan;
  EXPECT_THAT(survivors(), ElementsAre(0));
  EXPECT_EQ(report.invalid, 2u);
}

TEST_P(Rules, feature_tells_boxes_apart_that_overlap_a_little) {
  params.rule = CROWD_NMS_FEATURE;
  params.overlap_threshold = 0.7;
  params.min_overlap = 0.1;
  params.max_distance = 5;
  extras.feature_length = 2;
  extras.features = {0, 0, 9, 9, 3, 4};  // the third is 5 from the first
  EXPECT_THAT(survivors(), ElementsAre(0));
  params.max_distance = 4.99f;
  EXPECT_THAT(survivors(), ElementsAreArray(spares_the_third() ? both : alone));
  params.max_distance = 5;
  params.min_overlap = 0.65;
  EXPECT_THAT(survivors(), ElementsAreArray(spares_the_third() ? both : alone));
  params.min_overlap = 0.1;
  extras.features[5] = nan;  // unlike all
  EXPECT_THAT(survivors(), ElementsAreArray(spares_the_third() ? both : alone));
}

TEST_P(Rules, a_class_has_its_own_threshold_for_what_it_suppresses) {
  class_settings(1).overlap_threshold = 0.76;
  class_settings(0).overlap_threshold = 0.85;
  EXPECT_THAT(survivors(), ElementsAre(0, 1, 2));
  params.class_settings[0].overlap_threshold = 0.74;
  EXPECT_THAT(survivors(), ElementsAre(0, 1));
  params.class_settings[1].overlap_threshold = 0.1;
  EXPECT_THAT(survivors(), ElementsAre(0));
  params.overlap_threshold = 1;  // of neither class
  EXPECT_THAT(survivors(), ElementsAre(0));
}

TEST_P(Rules, a_class_has_its_own_score_threshold) {
  params.score_threshold = 0.85f;
  params.overlap_threshold = 1;
  class_settings(2).score_threshold = 0.7f;
  class_settings(0).overlap_threshold = 1;
  EXPECT_THAT(survivors(), ElementsAre(0, 2));
  EXPECT_EQ(report.below_threshold, 1u);
  params.class_settings[0].score_threshold = 0.75f;
  EXPECT_THAT(survivors(), ElementsAre(0));
}

TEST_P(Rules, classes_that_are_not_listed_can_be_left_out) {
  params.overlap_threshold = 1;
  params.listed_only = 1;
  EXPECT_THAT(survivors(), ElementsAre());
  EXPECT_EQ(report.below_threshold, 3u);
  class_settings(1);
  class_settings(0);
  EXPECT_THAT(survivors(), ElementsAre(0, 1));
  EXPECT_EQ(report.below_threshold, 1u);
}

TEST_P(Rules, boxes_beyond_the_limits_of_size_are_left_out) {
  params.overlap_threshold = 1;
  params.min_height = 8;
  EXPECT_THAT(survivors(), ElementsAre(0, 1));
  params.max_height = 9;
  EXPECT_THAT(survivors(), ElementsAre(1));
  params.pixel_offset = 1;
  EXPECT_THAT(survivors(), ElementsAre(1));  // one of 6 is 7 high, one of 8 is 9
  params.max_width = 10;
  EXPECT_THAT(survivors(), ElementsAre());
  params.max_width = 11;
  params.min_width = 11;
  EXPECT_THAT(survivors(), ElementsAre(1));
  EXPECT_EQ(report.below_threshold, 2u);
}

// The same candidates twice, with other features.
TEST_P(Rules, feature_reads_each_frames_own_values) {
  params.rule = CROWD_NMS_FEATURE;
  params.overlap_threshold = 0.9;
  params.max_distance = 1;
  Batch batch = Batch::of(all);
  for (std::uint32_t i = 0; i < 3; ++i)
    batch.all.add(all.boxes[i], all.scores[i], all.classes[i]);
  batch.frames = 2;
  batch.extras.feature_length = 2;
  batch.extras.features = {0, 0, 9, 9, 50, 50, 7, 7, 7, 7, 7, 7};
  const Result result = run_cpu(params, batch, {.max_survivors = 3});
  EXPECT_EQ(result.reports[0].survivors, 3u);
  EXPECT_EQ(result.reports[1].survivors, 1u);
}

// Those that suppress by rules; soft ones lower scores instead.
std::vector<CrowdNmsMethod> suppressing_methods() {
  std::vector<CrowdNmsMethod> methods = methods_of(CROWD_NMS_BACKEND_CPU);
  std::erase_if(methods, [](CrowdNmsMethod method) {
    return !reads(method, CROWD_NMS_READS_PAIRS) || crowd_nms_method_info(method)->changes_scores;
  });
  return methods;
}

INSTANTIATE_TEST_SUITE_P(Method, Rules, testing::ValuesIn(suppressing_methods()),
                         [](const auto& info) { return test_name(info.param); });

struct Refused {
  const char* why;
  std::function<void(CrowdNmsParams&)> change;
};

TEST(RuleParams, beyond_their_range_are_refused) {
  const Refused rows[] = {
      {"is not a CrowdNmsRule",
       [](auto& p) {
         const std::uint32_t rule = 5;
         std::memcpy(&p.rule, &rule, sizeof rule);
       }},
      {"max_distance", [](auto& p) { p.max_distance = -1; }},
      {"max_distance", [](auto& p) { p.max_distance = nan; }},
      {"max_distance", [](auto& p) { p.max_distance = std::numeric_limits<float>::infinity(); }},
      {"min_overlap", [](auto& p) { p.rule = CROWD_NMS_FEATURE, p.min_overlap = 0.6; }},
      {"min_overlap", [](auto& p) { p.rule = CROWD_NMS_FEATURE, p.min_overlap = nan; }},
      {"limit of size", [](auto& p) { p.max_height = nan; }},
      {"listed_only", [](auto& p) { p.listed_only = 2; }},
      {"class_count", [](auto& p) { p.class_count = CROWD_NMS_MAX_CLASS_SETTINGS + 1; }},
      {"twice", [](auto& p) { p.class_count = 2, p.class_settings[1].score_threshold = 1; }},
      {"overlap_threshold of class 0", [](auto& p) { p.class_count = 1, p.class_settings[0].overlap_threshold = 1.5; }},
  };
  for (const Refused& row : rows) {
    CrowdNmsParams params = default_params();
    row.change(params);
    EXPECT_EQ(crowd_nms_params_check(&params), CROWD_NMS_INVALID_ARGUMENT) << row.why;
    EXPECT_THAT(crowd_nms_last_error(), HasSubstr(row.why));
  }
}

TEST(RuleParams, may_fill_the_table_of_classes) {
  CrowdNmsParams params = default_params();
  params.class_count = CROWD_NMS_MAX_CLASS_SETTINGS;
  for (std::uint32_t k = 0; k < params.class_count; ++k)
    params.class_settings[k] = {static_cast<std::int32_t>(1000 - k), nan, k % 2 ? 1.0 : 0.0};
  Boxes all;
  for (std::int32_t label : {1000, 999, 873, 872}) {
    all.add({0, 0, 10, 10}, 0.9f, label);
    all.add({0, 0, 10, 6}, 0.8f, label);
  }
  const Batch batch = Batch::of(all);
  const Result result = run_cpu(params, batch, {.max_survivors = 8});
  // Thresholds 0, 1, 1, and of the last one, which is not listed, 0.5.
  EXPECT_EQ(result.reports[0].survivors, 6u);
}

TEST(RuleArrays, that_are_missing_are_asked_for) {
  Boxes all;
  all.add({0, 0, 1, 1}, 1);
  for (const CrowdNmsRule rule : all_rules()) {
    CrowdNmsParams params = default_params();
    params.rule = rule;
    Batch batch = Batch::of(all);
    batch.extras.feature_length = 1;
    const Result result = run_cpu(params, batch, {.max_survivors = 1});
    if (rule == CROWD_NMS_PLAIN) {
      EXPECT_EQ(result.status, CROWD_NMS_OK);
      continue;
    }
    EXPECT_EQ(result.status, CROWD_NMS_INVALID_ARGUMENT);
    EXPECT_THAT(crowd_nms_last_error(), HasSubstr(crowd_nms_rule_info(rule)->name));
    params.method = CROWD_NMS_PAPER;  // reads no rule
    EXPECT_EQ(run_cpu(params, batch, {.max_survivors = 1}).status, CROWD_NMS_OK);
  }
}

}  // namespace
}  // namespace crowd::test
