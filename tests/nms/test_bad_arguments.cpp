// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Whatever breaks the contract is refused, with a sentence that says what and touches nothing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <limits>
#include <string>

#include "oracle.hpp"

namespace crowd::test {
namespace {

using testing::HasSubstr;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// A call in which everything is right.
struct Call {
  CrowdNmsParams params = default_params();
  CrowdNmsBox box[2] = {{0, 0, 9, 5}, {20, 0, 29, 5}};
  float scores[2] = {0.5f, 0.6f};
  std::uint32_t indices[2] = {77, 77};
  CrowdNmsReport report = {77, 77, 77, 77, 77, 77};
  alignas(64) std::byte workspace[16384];
  void* at = workspace;
  std::size_t bytes = sizeof workspace;
  CrowdNmsCandidates candidates = {box, scores,  nullptr, nullptr, nullptr, 1,       2, 0,
                                   0,   nullptr, nullptr, nullptr, nullptr, nullptr, {}};
  CrowdNmsSurvivors survivors = {indices, nullptr, nullptr, &report, 2, 0, nullptr, nullptr, {}};

  CrowdNmsStatus run() {
    return crowd_nms_cpu(&params, &candidates, &survivors, at, bytes);
  }
};

struct Mistake {
  const char* name;
  std::function<void(Call&)> make;
  std::string says;
  CrowdNmsStatus status = CROWD_NMS_INVALID_ARGUMENT;
};

const Mistake mistakes[] = {
    {"method", [](Call& c) { c.params.method = static_cast<CrowdNmsMethod>(all_methods().size()); },
     "method " + std::to_string(all_methods().size())},
    {"metric", [](Call& c) { c.params.metric = static_cast<CrowdNmsMetric>(metric_count()); },
     "metric " + std::to_string(metric_count())},
    {"comparator", [](Call& c) { c.params.comparator = static_cast<CrowdNmsComparator>(2); }, "comparator 2"},
    {"merge", [](Call& c) { c.params.merge = static_cast<CrowdNmsMerge>(all_merges().size()); },
     "merge " + std::to_string(all_merges().size())},
    {"cluster_score", [](Call& c) { c.params.cluster_score = static_cast<CrowdNmsClusterScore>(4); },
     "cluster_score 4"},
    {"threshold_below", [](Call& c) { c.params.overlap_threshold = -0.1; }, "overlap_threshold is -0.1, must"},
    {"threshold_just_below", [](Call& c) { c.params.overlap_threshold = -1e-300; },
     "overlap_threshold is -1e-300, must"},
    {"threshold_above", [](Call& c) { c.params.overlap_threshold = 1.5; }, "overlap_threshold is 1.5, must"},
    {"threshold_just_above", [](Call& c) { c.params.overlap_threshold = 1 + 0x1p-52; },
     "overlap_threshold is 1.0000000000000002, must"},
    {"threshold_nan", [](Call& c) { c.params.overlap_threshold = nan; }, "overlap_threshold"},
    {"score_nan", [](Call& c) { c.params.score_threshold = nan; }, "score_threshold is NaN"},
    {"min_overlap",
     [](Call& c) {
       c.params.rule = CROWD_NMS_FEATURE;
       c.params.min_overlap = 0.7;
       c.params.overlap_threshold = 0.1 + 0.2;
     },
     "min_overlap is 0.7, must lie between 0 and overlap_threshold (0.30000000000000004)"},
    {"threshold_of_class",
     [](Call& c) {
       c.params.class_count = 1;
       c.params.class_settings[0] = {};
       c.params.class_settings[0].overlap_threshold = -0.3;
     },
     "overlap_threshold of class 0 is -0.3, must"},
    {"max_distance", [](Call& c) { c.params.max_distance = -0.1f; }, "max_distance is -0.1, must"},
    {"max_distance_far_below", [](Call& c) { c.params.max_distance = -16777215; }, "max_distance is -16777215, must"},
    {"sigma", [](Call& c) { c.params.sigma = -std::numeric_limits<float>::denorm_min(); }, "sigma is -1e-45, must"},
    {"pixel_offset", [](Call& c) { c.params.pixel_offset = 2; }, "pixel_offset (2)"},
    {"class_agnostic", [](Call& c) { c.params.class_agnostic = 9; }, "class_agnostic (9)"},
    {"too_many_weights", [](Call& c) { c.params.weight_count = CROWD_NMS_MAX_MODEL_WEIGHTS + 1; },
     "weight_count is 17, must be at most 16"},
    {"weight_below_zero",
     [](Call& c) {
       c.params.weight_count = 2;
       c.params.model_weights[0] = 1;
       c.params.model_weights[1] = -0.5f;
     },
     "the weight of model 1 is -0.5"},
    {"weight_nan",
     [](Call& c) {
       c.params.weight_count = 1;
       c.params.model_weights[0] = nan;
     },
     "the weight of model 0 is nan"},
    {"weight_infinite",
     [](Call& c) {
       c.params.weight_count = 1;
       c.params.model_weights[0] = std::numeric_limits<float>::infinity();
     },
     "the weight of model 0 is inf"},
    {"weights_of_zero", [](Call& c) { c.params.weight_count = 3; }, "all 3 weights of models are 0"},
    {"nmw_without_models",
     [](Call& c) {
       c.params.method = CROWD_NMS_NMW;
       c.params.weight_count = 1;
       c.params.model_weights[0] = 1;
     },
     "method nmw reads the candidates' models"},
    {"wbf_without_models",
     [](Call& c) {
       c.params.method = CROWD_NMS_WBF;
       c.params.weight_count = 1;
       c.params.model_weights[0] = 1;
     },
     "method wbf reads the candidates' models"},
    {"d_max",
     [](Call& c) {
       c.params.method = CROWD_NMS_PAPER;
       c.params.paper_d_max = 65568;
     },
     "paper_d_max is 65568"},
    {"k_of_zero",
     [](Call& c) {
       c.params.method = CROWD_NMS_PAPER;
       c.params.paper_k = 0;
     },
     "paper_k is 0"},
    {"k_no_divisor",
     [](Call& c) {
       c.params.method = CROWD_NMS_PAPER;
       c.params.paper_d_max = 100;
       c.params.paper_k = 32;
     },
     "must divide paper_d_max (100)"},
    {"d_max_of_capacity",
     [](Call& c) {
       c.params.method = CROWD_NMS_PAPER;
       c.candidates.capacity = 65537;
     },
     "set paper_d_max", CROWD_NMS_UNSUPPORTED},
    {"no_boxes", [](Call& c) { c.candidates.boxes = nullptr; }, "boxes and scores must not be NULL"},
    {"no_scores", [](Call& c) { c.candidates.scores = nullptr; }, "boxes and scores must not be NULL"},
    {"no_reports", [](Call& c) { c.survivors.reports = nullptr; }, "reports must not be NULL"},
    {"no_survivors", [](Call& c) { c.survivors.survivors = nullptr; }, "survivors must not be NULL"},
    {"too_many",
     [](Call& c) {
       c.candidates.frames = 70000;
       c.candidates.capacity = 70000;
     },
     "split the batch"},
    {"no_workspace", [](Call& c) { c.at = nullptr; }, "aligned to 64 bytes"},
    {"crooked_workspace",
     [](Call& c) {
       c.at = c.workspace + 32;
       c.bytes -= 32;
     },
     "aligned to 64 bytes"},
    {"small_workspace", [](Call& c) { c.bytes = crowd_nms_cpu_workspace_bytes(&c.params, 1, 2) - 1; },
     "crowd_nms_cpu_workspace_bytes()", CROWD_NMS_WORKSPACE_TOO_SMALL},
};

class BadArgument : public testing::TestWithParam<Mistake> {};

TEST_P(BadArgument, is_refused_with_its_name_and_touches_nothing) {
  Call call;
  GetParam().make(call);
  EXPECT_EQ(call.run(), GetParam().status);
  EXPECT_THAT(crowd_nms_last_error(), HasSubstr(GetParam().says));
  EXPECT_EQ(call.indices[0], 77u);
  EXPECT_EQ(call.report.candidates, 77u);
}

INSTANTIATE_TEST_SUITE_P(Each, BadArgument, testing::ValuesIn(mistakes),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Call, with_everything_right_runs) {
  Call call;
  EXPECT_EQ(call.run(), CROWD_NMS_OK) << crowd_nms_last_error();
  EXPECT_EQ(call.indices[0], 1u);
  EXPECT_EQ(call.indices[1], 0u);
}

TEST(Call, takes_exactly_the_workspace_it_asks_for) {
  Call call;
  call.bytes = crowd_nms_cpu_workspace_bytes(&call.params, 1, 2);
  EXPECT_EQ(call.run(), CROWD_NMS_OK) << crowd_nms_last_error();
}

TEST(Call, without_frames_needs_nothing) {
  Call call;
  call.candidates = {};
  call.survivors = {};
  call.at = nullptr;
  call.bytes = 0;
  EXPECT_EQ(call.run(), CROWD_NMS_OK) << crowd_nms_last_error();
}

TEST(Call, without_capacity_only_counts) {
  Call call;
  const std::uint32_t count = 5;
  call.candidates = {nullptr, nullptr, nullptr, nullptr, &count,  1,       0, 0,
                     0,       nullptr, nullptr, nullptr, nullptr, nullptr, {}};
  EXPECT_EQ(call.run(), CROWD_NMS_OK) << crowd_nms_last_error();
  EXPECT_EQ(call.report, (CrowdNmsReport{5, 5, 0, 0, 0, 0}));
}

TEST(Call, without_frames_minds_the_capacity) {
  Call call;
  call.candidates = {};
  call.candidates.capacity = CROWD_NMS_MAX_TOTAL + 1;
  EXPECT_EQ(call.run(), CROWD_NMS_INVALID_ARGUMENT);
  EXPECT_EQ(crowd_nms_cpu_workspace_bytes(&call.params, 0, CROWD_NMS_MAX_TOTAL + 1), 0u);
  EXPECT_THAT(crowd_nms_last_error(), HasSubstr("lower the capacity"));
}

// Everything that takes params.
void expect_refused_everywhere(Call& call, const char* says) {
  const auto refused = [says](CrowdNmsStatus status) {
    EXPECT_EQ(status, CROWD_NMS_INVALID_ARGUMENT);
    EXPECT_THAT(crowd_nms_last_error(), HasSubstr(says));
  };
  refused(crowd_nms_params_check(&call.params));
  refused(call.run());
  EXPECT_EQ(crowd_nms_cpu_workspace_bytes(&call.params, 1, 2), 0u);
  CrowdNmsSession* session = nullptr;
  refused(crowd_nms_session_new(CROWD_NMS_BACKEND_CPU, &call.params, 1, 2, &session));
  EXPECT_EQ(session, nullptr);
  ASSERT_EQ(crowd_nms_session_new(CROWD_NMS_BACKEND_CPU, nullptr, 1, 2, &session), CROWD_NMS_OK);
  refused(crowd_nms_session_run(session, &call.params, &call.candidates, &call.survivors));
  call.candidates.frames = 0;
  refused(crowd_nms_session_run(session, &call.params, &call.candidates, &call.survivors));
  refused(call.run());
  crowd_nms_session_free(session);
  EXPECT_EQ(call.indices[0], 77u);
  EXPECT_EQ(call.report.candidates, 77u);
}

TEST(UnknownEnumerator, is_refused_by_everything_that_takes_it) {
  Call method, metric, comparator;
  method.params.method = static_cast<CrowdNmsMethod>(77);
  expect_refused_everywhere(method, "method 77");
  metric.params.metric = static_cast<CrowdNmsMetric>(77);
  expect_refused_everywhere(metric, "metric 77");
  comparator.params.comparator = static_cast<CrowdNmsComparator>(77);
  expect_refused_everywhere(comparator, "comparator 77");
  Call merge, cluster_score;
  merge.params.merge = static_cast<CrowdNmsMerge>(77);
  expect_refused_everywhere(merge, "merge 77");
  cluster_score.params.cluster_score = static_cast<CrowdNmsClusterScore>(77);
  expect_refused_everywhere(cluster_score, "cluster_score 77");
}

TEST(ReservedField, is_refused_where_it_is_set) {
  Call params;
  params.params.reserved[5] = 1;
  expect_refused_everywhere(params, "reserved fields of params");
  Call candidates;
  candidates.candidates.reserved[2] = &candidates;
  EXPECT_EQ(candidates.run(), CROWD_NMS_INVALID_ARGUMENT);
  EXPECT_THAT(crowd_nms_last_error(), HasSubstr("reserved fields of candidates"));
  Call flags_of_candidates;
  flags_of_candidates.candidates.flags = 1;
  EXPECT_EQ(flags_of_candidates.run(), CROWD_NMS_INVALID_ARGUMENT);
  Call survivors, flags;
  survivors.survivors.reserved[0] = &survivors;
  EXPECT_EQ(survivors.run(), CROWD_NMS_INVALID_ARGUMENT);
  EXPECT_THAT(crowd_nms_last_error(), HasSubstr("reserved fields of survivors"));
  flags.survivors.flags = 1;
  EXPECT_EQ(flags.run(), CROWD_NMS_INVALID_ARGUMENT);
}

TEST(Version, of_the_library_is_that_of_its_header) {
  EXPECT_EQ(crowd_nms_version(), CROWD_NMS_VERSION);
  EXPECT_LT(CROWD_NMS_VERSION_NUMBER(0, 1, 999), CROWD_NMS_VERSION_NUMBER(0, 2, 0));
  EXPECT_LT(CROWD_NMS_VERSION_NUMBER(0, 999, 999), CROWD_NMS_VERSION_NUMBER(1, 0, 0));
}

// A struct that grew would break programs built before.
TEST(Structs, keep_their_size) {
  if (sizeof(void*) != 8)
    GTEST_SKIP() << "sizes are those of 64 bits";
  EXPECT_EQ(sizeof(CrowdNmsParams), 2240u);
  EXPECT_EQ(sizeof(CrowdNmsCandidates), 120u);
  EXPECT_EQ(sizeof(CrowdNmsSurvivors), 88u);
  EXPECT_EQ(sizeof(CrowdNmsReport), 24u);
  EXPECT_EQ(sizeof(CrowdNmsTotals), 80u);
  EXPECT_EQ(sizeof(CrowdNmsGathered), 104u);
}

TEST(NullArgument, is_refused) {
  Call call;
  EXPECT_EQ(crowd_nms_cpu(nullptr, &call.candidates, &call.survivors, call.at, call.bytes), CROWD_NMS_INVALID_ARGUMENT);
  EXPECT_THAT(crowd_nms_last_error(), HasSubstr("params must not be NULL"));
  EXPECT_EQ(crowd_nms_cpu(&call.params, nullptr, &call.survivors, call.at, call.bytes), CROWD_NMS_INVALID_ARGUMENT);
  EXPECT_THAT(crowd_nms_last_error(), HasSubstr("candidates and survivors must not be NULL"));
  EXPECT_EQ(crowd_nms_cpu(&call.params, &call.candidates, nullptr, call.at, call.bytes), CROWD_NMS_INVALID_ARGUMENT);
  EXPECT_EQ(crowd_nms_params_check(nullptr), CROWD_NMS_INVALID_ARGUMENT);
  crowd_nms_params_init(nullptr);
}

TEST(WorkspaceQuery, says_zero_to_illegal_arguments) {
  CrowdNmsParams params = default_params();
  EXPECT_EQ(crowd_nms_cpu_workspace_bytes(nullptr, 1, 1), 0u);
  EXPECT_EQ(crowd_nms_cpu_workspace_bytes(&params, 70000, 70000), 0u);
  EXPECT_THAT(crowd_nms_last_error(), HasSubstr("split the batch"));
  params.overlap_threshold = 2;
  EXPECT_EQ(crowd_nms_cpu_workspace_bytes(&params, 1, 1), 0u);
}

TEST(Status, has_a_text_for_everything) {
  for (int status = CROWD_NMS_OK; status <= CROWD_NMS_CUDA_ERROR + 1; ++status)
    EXPECT_STRNE(crowd_nms_status_text(static_cast<CrowdNmsStatus>(status)), "");
}

TEST(Defaults, are_greedy_iou_above_one_half_per_class) {
  const CrowdNmsParams params = default_params();
  EXPECT_EQ(params.method, CROWD_NMS_GREEDY);
  EXPECT_EQ(params.metric, CROWD_NMS_IOU);
  EXPECT_EQ(params.comparator, CROWD_NMS_GREATER);
  EXPECT_EQ(params.overlap_threshold, 0.5);
  EXPECT_EQ(params.score_threshold, -std::numeric_limits<float>::infinity());
  EXPECT_EQ(params.pixel_offset, 0u);
  EXPECT_EQ(params.class_agnostic, 0u);
  EXPECT_EQ(params.merge, CROWD_NMS_MERGE_NONE);
  EXPECT_EQ(params.cluster_score, CROWD_NMS_CLUSTER_SCORE_NONE);
  EXPECT_EQ(params.min_members, 0u);
  EXPECT_EQ(params.models, 1u);
  EXPECT_EQ(crowd_nms_params_check(&params), CROWD_NMS_OK);
}

}  // namespace
}  // namespace crowd::test
