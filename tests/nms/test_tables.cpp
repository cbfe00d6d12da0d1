// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The tables of methods, metrics and ways of merging say what the library does.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <span>
#include <string>

#include "cases.hpp"
#include "core/call.hpp"

namespace crowd::test {
namespace {

using testing::HasSubstr;

// Rows are counted from 0 and end in NULL; programs know them by their names.
template <typename Info>
void expect_names(const Info* (*info)(uint32_t), std::vector<std::string> first) {
  std::set<std::string> names;
  for (std::uint32_t value = 0; const Info* row = info(value); ++value) {
    EXPECT_TRUE(names.insert(row->name).second) << row->name << " twice";
    EXPECT_STRNE(row->name, "");
    EXPECT_STRNE(row->description, "");
    if (value < first.size()) {
      EXPECT_EQ(row->name, first[value]);
    }
  }
  EXPECT_GE(names.size(), first.size());
  for (const std::uint32_t value : {static_cast<std::uint32_t>(names.size()), 1000u, UINT32_MAX})
    EXPECT_EQ(info(value), nullptr) << value;
}

TEST(Info, has_a_name_for_every_row) {
  expect_names(crowd_nms_method_info, {"greedy", "map-reduce", "paper"});
  expect_names(crowd_nms_metric_info, {"iou", "ios", "over-higher", "over-lower"});
  expect_names(crowd_nms_merge_info, {"none", "mean", "weighted", "union", "vote"});
}

TEST(Info, says_which_backend_has_a_method) {
  for (const CrowdNmsMethod method : all_methods()) {
    const std::uint32_t backends = crowd_nms_method_info(method)->backends;
    EXPECT_NE(backends, 0u);
    CrowdNmsParams params = default_params();
    params.method = method;
    const bool on_cpu = backends & 1u << CROWD_NMS_BACKEND_CPU;
    EXPECT_EQ(crowd_nms_cpu_workspace_bytes(&params, 1, 100) > 0, on_cpu) << crowd_nms_last_error();
    CrowdNmsSession* session = nullptr;
    EXPECT_EQ(crowd_nms_session_new(CROWD_NMS_BACKEND_CPU, &params, 1, 100, &session),
              on_cpu ? CROWD_NMS_OK : CROWD_NMS_UNSUPPORTED);
    crowd_nms_session_free(session);
  }
}

TEST(Backend, that_lacks_a_method_refuses_it) {
  const CrowdNmsMethodInfo neither = {"soft", "", 0, 0, 0, 0, 0},
                           cpu_only = {"soft", "", 1u << CROWD_NMS_BACKEND_CPU, 0, 0, 0, 0};
  EXPECT_EQ(check_backend(neither, CROWD_NMS_BACKEND_CPU), CROWD_NMS_UNSUPPORTED);
  EXPECT_EQ(check_backend(cpu_only, CROWD_NMS_BACKEND_CPU), CROWD_NMS_OK);
  EXPECT_EQ(check_backend(cpu_only, CROWD_NMS_BACKEND_CUDA), CROWD_NMS_UNSUPPORTED);
  EXPECT_THAT(crowd_nms_last_error(), HasSubstr("the CUDA backend lacks method soft: use the CPU backend"));
}

/// With every member of the params changed that only what `what` names reads.
CrowdNmsParams changed(CrowdNmsParams params, CrowdNmsReads what) {
  switch (what) {
    case CROWD_NMS_READS_RULE:
      params.metric = CROWD_NMS_IOS;
      params.comparator = CROWD_NMS_GREATER_EQUAL;
      params.pixel_offset = 1;
      params.score_threshold = 0.5f;
      params.class_agnostic = 1;
      break;
    case CROWD_NMS_READS_D_MAX:
      params.paper_d_max = 64;
      params.paper_k = 4;
      break;
    case CROWD_NMS_READS_SIGMA:
      params.sigma = 1.5f;
      break;
    case CROWD_NMS_READS_MODELS:
      params.models = 3;
      break;
    case CROWD_NMS_READS_WEIGHTS:
      params.weight_count = 2;
      params.model_weights[0] = 1;
      params.model_weights[1] = 3;
      break;
    case CROWD_NMS_READS_PAIRS:
      params.rule = CROWD_NMS_SET;
      break;
    case CROWD_NMS_READS_MERGE:
      params.merge = CROWD_NMS_MERGE_UNION;
      params.cluster_score = CROWD_NMS_CLUSTER_SCORE_SUM;
      params.min_members = 2;
      break;
  }
  return params;
}

class ReadsOfCrowdNmsParams : public testing::TestWithParam<std::tuple<CrowdNmsMethod, CrowdNmsReads>> {};

TEST_P(ReadsOfCrowdNmsParams, are_those_that_change_the_answer) {
  const auto [method, what] = GetParam();
  Batch batch = Batch::of(distribution("multi_class").make(200, 4));
  batch.extras.proposals.assign(200, 7);
  for (std::uint32_t i = 0; i < 200; ++i)
    batch.extras.models.push_back(i % 2);
  const Wanted wanted = {.max_survivors = 200, .boxes = true, .scores = true};
  CrowdNmsParams params = default_params();
  params.method = method;
  const bool alike =
      bool(same(run_cpu(params, batch, wanted), run_cpu(changed(params, what), batch, wanted), batch, wanted));
  EXPECT_EQ(alike, !reads(method, what));
}

class OrderOfSurvivors : public testing::TestWithParam<CrowdNmsMethod> {};

TEST_P(OrderOfSurvivors, is_that_of_the_scores_that_info_says) {
  const Batch batch = Batch::of(distribution("multi_class").make(200, 4));
  const Wanted wanted = {.max_survivors = 200, .scores = true};
  CrowdNmsParams params = default_params();
  params.method = GetParam();
  const Result result = run_cpu(params, batch, wanted);
  const std::uint32_t n = result.reports[0].survivors;
  ASSERT_GT(n, 1u);
  std::vector<float> own;
  for (std::uint32_t r = 0; r < n; ++r)
    own.push_back(batch.all.scores[result.survivors[r]]);
  const std::span<const float> left = std::span(result.scores).first(n);
  const CrowdNmsMethodInfo& info = *crowd_nms_method_info(GetParam());
  EXPECT_EQ(std::ranges::is_sorted(left, std::greater<>()), info.orders_by_new_scores || !info.changes_scores);
  EXPECT_EQ(std::ranges::is_sorted(own, std::greater<>()), !info.orders_by_new_scores);
}

INSTANTIATE_TEST_SUITE_P(Method, OrderOfSurvivors, testing::ValuesIn(methods_of(CROWD_NMS_BACKEND_CPU)),
                         [](const auto& info) { return test_name(info.param); });

INSTANTIATE_TEST_SUITE_P(Method, ReadsOfCrowdNmsParams,
                         testing::Combine(testing::ValuesIn(methods_of(CROWD_NMS_BACKEND_CPU)),
                                          testing::Values(CROWD_NMS_READS_RULE, CROWD_NMS_READS_D_MAX,
                                                          CROWD_NMS_READS_MERGE, CROWD_NMS_READS_SIGMA,
                                                          CROWD_NMS_READS_MODELS, CROWD_NMS_READS_WEIGHTS,
                                                          CROWD_NMS_READS_PAIRS)),
                         [](const auto& info) {
                           return test_name(std::get<0>(info.param)) + "_" + std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace crowd::test
