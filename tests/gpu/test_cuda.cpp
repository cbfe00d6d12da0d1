// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend against the oracle: every distribution, size, method, metric, comparator and option; plain, inside
// graph capture, and through a session.

#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>

#include "cases.hpp"
#include "device_runner.hpp"
#include "environment.hpp"
#include "every_core.hpp"
#include "exact_ratios.hpp"
#include "rule_cases.hpp"

namespace crowd::test {
namespace {

const Mode modes[] = {{"plain", run_cuda}, {"captured", run_captured}, {"session", run_cuda_session}};

/// What CUDA refuses: more than 1024 threads a block.
bool fits_hardware(const Case& it) {
  if (!reads(it.params.method, CROWD_NMS_READS_D_MAX))
    return true;
  return crowd_nms_cuda_workspace_bytes(&it.params, it.batch.frames, it.batch.capacity) > 0;
}

class CudaAgainstOracle : public testing::TestWithParam<CrowdNmsMethod> {
 protected:
  CrowdNmsMethod method() const {
    return GetParam();
  }

  /// In every mode, on a core of its own.
  void agrees(const Case& it) {
    if (!fits_hardware(it))
      return;
    ++cases_;
    on_every_core_([it] { expect_as_oracle(modes, it); });
  }

  /// For for_each_case() and its like.
  std::function<void(const Case&)> agrees() {
    return [this](const Case& it) { agrees(it); };
  }

  void TearDown() override {
    on_every_core_.finish();
    EXPECT_TRUE(cases_ || IsSkipped());
    RecordProperty("cases", static_cast<int>(cases_));
  }

 private:
  EveryCore on_every_core_;
  std::size_t cases_ = 0;
};

TEST_P(CudaAgainstOracle, agrees_on_small_frames) {
  for_each_case(small_sizes, method(), quick() ? 1 : 4, agrees());
}

TEST_P(CudaAgainstOracle, agrees_on_medium_frames) {
  if (quick())
    GTEST_SKIP() << "CROWD_GPU_TEST=quick";
  for_each_case(medium_sizes, method(), 4, agrees());
}

TEST_P(CudaAgainstOracle, agrees_on_large_frames) {
  if (quick())
    GTEST_SKIP() << "CROWD_GPU_TEST=quick";
  for_each_case(large_sizes, method(), 1, agrees());
}

TEST_P(CudaAgainstOracle, agrees_on_huge_frames) {
  if (quick())
    GTEST_SKIP() << "CROWD_GPU_TEST=quick";
  if (reads(method(), CROWD_NMS_READS_D_MAX))
    GTEST_SKIP() << "the oracle's matrix stops at D_max 8192";
  for_each_huge_case(method(), agrees());
}

TEST_P(CudaAgainstOracle, agrees_on_hard_frames) {
  if (quick())
    GTEST_SKIP() << "CROWD_GPU_TEST=quick";
  for_each_hard_case(method(), agrees());
}

TEST_P(CudaAgainstOracle, agrees_at_exact_ratios) {
  for_each_exact_ratio(method(), agrees());
  if (!quick())
    for_each_near_ratio(method(), agrees());
}

TEST_P(CudaAgainstOracle, agrees_on_ragged_batches) {
  for_each_batch(method(), agrees());
  agrees(sorted_crowds(method()));
}

TEST_P(CudaAgainstOracle, agrees_on_few_candidates_with_much_room) {
  if (reads(method(), CROWD_NMS_READS_D_MAX))
    GTEST_SKIP() << "the oracle's matrix stops at D_max 8192";
  for_each_case_of_room(method(), agrees());
  for_each_case_of_few(method(), agrees());
}

TEST_P(CudaAgainstOracle, agrees_on_survivors_of_larger_frames) {
  if (method() != CROWD_NMS_MAP_REDUCE)
    GTEST_SKIP() << "other methods have one way for all outputs";
  constexpr std::uint32_t sizes[] = {4300, 8193, 8704, 16384};
  for_each_case_of_survivors(std::span(sizes).first(quick() ? 1 : 4), method(), agrees());
}

TEST_P(CudaAgainstOracle, agrees_on_giants_among_small_boxes) {
  for_each_case_of_giants(method(), agrees());
}

TEST_P(CudaAgainstOracle, agrees_on_crowds) {
  for_each_case_of_crowds(method(), agrees());
}

TEST_P(CudaAgainstOracle, agrees_on_batches_of_crowds) {
  if (method() != CROWD_NMS_GREEDY && method() != CROWD_NMS_MAP_REDUCE)
    GTEST_SKIP() << "other methods look for no peaks";
  for_each_batch_of_crowds(method(), agrees());
}

TEST_P(CudaAgainstOracle, agrees_where_whole_blocks_wait) {
  if (method() != CROWD_NMS_GREEDY && method() != CROWD_NMS_MAP_REDUCE)
    GTEST_SKIP() << "other methods wait for no blocks";
  for_each_case_of_waiting(1300, method(), agrees());
  // Of smaller frames map-reduce leaves no candidate to its last stage (tuning::staged_one_by_one).
  if (!quick() || method() == CROWD_NMS_MAP_REDUCE)
    for_each_case_of_waiting(9000, method(), agrees());
}

TEST_P(CudaAgainstOracle, agrees_on_many_classes_in_one_spot) {
  for_each_case_of_classes(method(), agrees());
}

TEST_P(CudaAgainstOracle, agrees_on_nested_boxes) {
  for_each_case_of_nested(method(), agrees());
}

TEST_P(CudaAgainstOracle, agrees_with_rules) {
  if (!reads(method(), CROWD_NMS_READS_RULE))
    GTEST_SKIP() << "the method reads no rules";
  for_each_ruled_case(small_sizes, method(), quick() ? 1 : 5, agrees());
  for_each_ruled_batch(method(), agrees());
  if (method() == CROWD_NMS_GREEDY || method() == CROWD_NMS_MAP_REDUCE)
    for_each_ruled_case_of_tiny_frames(method(), agrees());
  if (quick())
    return;
  for_each_ruled_case(medium_sizes, method(), 3, agrees());
  for_each_ruled_case(large_sizes, method(), 1, agrees());
}

TEST_P(CudaAgainstOracle, agrees_when_merging) {
  const auto agrees_merged = [&](const Case& it) { agrees(merging(it)); };
  for_each_case(small_sizes, method(), quick() ? 1 : 4, agrees_merged);
  for_each_batch(method(), agrees_merged);
  if (reads(method(), CROWD_NMS_READS_RULE))
    for_each_ruled_batch(method(), agrees_merged);
  if (quick())
    return;
  for_each_case(medium_sizes, method(), 4, agrees_merged);
  for_each_case(large_sizes, method(), 1, agrees_merged);
  if (reads(method(), CROWD_NMS_READS_RULE))
    for_each_ruled_case(medium_sizes, method(), 3, agrees_merged);
}

// Survivors of few members, of as many as a warp sorts and of more, below and above the direct path's capacity.
TEST_P(CudaAgainstOracle, agrees_on_every_way_of_merging) {
  if (!reads(method(), CROWD_NMS_READS_MERGE))
    GTEST_SKIP() << "the method reads no ways of merging";
  const std::vector<std::uint32_t> sizes = quick() ? std::vector{1300u} : std::vector{1300u, 4096u, 4500u};
  for (const std::uint32_t n : sizes) {
    for (const Boxes& set : {crowd(n, 2, 100, 100, 5), distribution("clustered").make(n, 3)}) {
      for (const CrowdNmsMerge merge : all_merges()) {
        Case it{"merging", default_params(), Batch::of(set), {n, true, true, true, true}};
        it.params.method = method();
        it.params.merge = merge;
        it.params.cluster_score = static_cast<CrowdNmsClusterScore>(merge % (CROWD_NMS_CLUSTER_SCORE_SUM + 1));
        it.params.min_members = merge % 2 * 3;
        agrees(it);
      }
    }
  }
}

TEST(CudaWbf, agrees_where_fused_boxes_meet_other_components) {
  for_each_case_of_corners([](const Case& it) { expect_as_oracle(modes, it); });
}

INSTANTIATE_TEST_SUITE_P(Method, CudaAgainstOracle, testing::ValuesIn(methods_of(CROWD_NMS_BACKEND_CUDA)),
                         [](const auto& info) { return test_name(info.param); });

Wanted everything(const Batch& batch) {
  return {batch.capacity, true, true};
}

/// Captures a call of a frame of this capacity and replays it with each number of candidates.
void expect_reads_counts(std::uint32_t capacity, std::span<const std::uint32_t> counts, CrowdNmsMethod method,
                         bool survivors_alone) {
  Batch batch = Batch::of(crowd(capacity, 147, 4646, 1800, 11));
  batch.counts = {capacity};
  CrowdNmsParams params = default_params();
  params.method = method;
  const Wanted wanted = survivors_alone ? Wanted{capacity, false, false} : everything(batch);
  DeviceCall call(params, batch, wanted);
  CapturedCall captured(call);
  ASSERT_EQ(captured.status(), CROWD_NMS_OK) << crowd_nms_last_error();
  for (const std::uint32_t count : counts) {
    batch.counts = {count};
    call.set_counts(batch.counts);
    captured.replay();
    EXPECT_TRUE(same(run_oracle(params, batch, wanted), call.results(), batch, wanted))
        << "capacity " << capacity << " count " << count;
  }
}

TEST(Cuda, reads_the_counts_on_the_device_at_every_replay) {
  constexpr std::uint32_t counts[] = {0, 1, 700, 3000, 5000};
  expect_reads_counts(3000, counts, CROWD_NMS_GREEDY, false);
}

// Frames that the direct path takes and frames that the stages take, in turn.
TEST(Cuda, reads_the_counts_of_frames_with_much_room_at_every_replay) {
  constexpr std::uint32_t counts[] = {61, 4600, 0, 4096, 4097, 4096, 5000, 61};
  expect_reads_counts(4600, counts, CROWD_NMS_GREEDY, false);
  expect_reads_counts(4600, counts, CROWD_NMS_MAP_REDUCE, true);
}

TEST(Cuda, gives_one_answer_ten_thousand_times) {
  const int runs = quick() ? 3 : 10000;
  const Batch batch = Batch::of(crowd(2895, 147, 4646, 1800, 12));
  DeviceCall call(default_params(), batch, everything(batch));
  const Result expected = run_oracle(default_params(), batch, everything(batch));
  for (int i = 0; i < runs; ++i) {
    call.poison();
    ASSERT_EQ(call.enqueue(nullptr), CROWD_NMS_OK) << crowd_nms_last_error();
    ASSERT_TRUE(same(expected, call.results(), batch, everything(batch))) << "run " << i;
  }
}

TEST(Cuda, agrees_with_the_cpu_backend_on_thousands_of_frames) {
  const std::uint64_t seeds = quick() ? 20 : 10000;
  EveryCore on_every_core;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    on_every_core([seed] {
      const RandomFrame it = random_frame(seed);
      EXPECT_TRUE(same(run_cpu(it.params, it.batch, everything(it.batch)),
                       run_cuda(it.params, it.batch, everything(it.batch)), it.batch, everything(it.batch)))
          << it.name;
    });
  }
}

/// A way through the backend: a frame that takes it, small enough for racecheck.
struct Path {
  CrowdNmsMethod method;
  std::uint32_t n;
  const char* distribution;
  bool survivors_alone = false;
};

/// Those of greedy and map-reduce, and one of each other method.
std::vector<Path> every_path() {
  std::vector<Path> paths = {
      {CROWD_NMS_GREEDY, 200, "clustered"},
      {CROWD_NMS_GREEDY, 1500, "clustered"},
      {CROWD_NMS_GREEDY, 2500, "clustered"},
      {CROWD_NMS_GREEDY, 300, "chain"},
      {CROWD_NMS_GREEDY, 2500, "chain"},
      {CROWD_NMS_GREEDY, 700, "all_equal"},
      {CROWD_NMS_GREEDY, 8000, "clustered"},
      {CROWD_NMS_MAP_REDUCE, 200, "clustered"},
      {CROWD_NMS_MAP_REDUCE, 2500, "clustered"},
      {CROWD_NMS_MAP_REDUCE, 8000, "uniform"},
      {CROWD_NMS_MAP_REDUCE, 4300, "clustered", true},
  };
  for (const CrowdNmsMethod method : methods_of(CROWD_NMS_BACKEND_CUDA))
    if (method != CROWD_NMS_GREEDY && method != CROWD_NMS_MAP_REDUCE)
      paths.push_back({method, 256, "clustered"});
  return paths;
}

class CudaOnPath : public testing::TestWithParam<Path> {};

// Boxes and scores too where the method merges, so that the kernels behind the path run.
TEST_P(CudaOnPath, agrees_with_the_oracle) {
  const Path& path = GetParam();
  Case it{"seed=5", default_params(), Batch::of(distribution(path.distribution).make(path.n, 5)), {}};
  it.params.method = path.method;
  it.wanted = path.survivors_alone ? Wanted{path.n, false, false} : everything(it.batch);
  expect_as_oracle(run_cuda, it);
  if (!reads(path.method, CROWD_NMS_READS_MERGE))
    return;
  it.params.merge = CROWD_NMS_MERGE_WEIGHTED;
  it.wanted.boxes = it.wanted.scores = true;
  expect_as_oracle(run_cuda, it);
}

INSTANTIATE_TEST_SUITE_P(Every, CudaOnPath, testing::ValuesIn(every_path()), [](const auto& info) {
  return test_name(info.param.method) + "_" + std::to_string(info.param.n) + "_" + info.param.distribution;
});

TEST(Cuda, agrees_on_a_batch_of_small_frames) {
  Case it{"seed=6", default_params(), Batch::of(distribution("clustered").make(900, 6)), {}};
  it.batch.frames = 3;
  it.batch.capacity = 300;
  it.batch.counts = {300, 0, 270};
  it.wanted = everything(it.batch);
  expect_as_oracle(run_cuda, it);
}

TEST(Cuda, refuses_the_methods_that_it_lacks) {
  for (const CrowdNmsMethod method : all_methods()) {
    CrowdNmsParams params = default_params();
    params.method = method;
    const bool has_it = crowd_nms_method_info(method)->backends & 1u << CROWD_NMS_BACKEND_CUDA;
    EXPECT_EQ(crowd_nms_cuda_workspace_bytes(&params, 1, 100) > 0, has_it) << crowd_nms_last_error();
    CrowdNmsSession* session = nullptr;
    EXPECT_EQ(crowd_nms_session_new(CROWD_NMS_BACKEND_CUDA, &params, 1, 100, &session),
              has_it ? CROWD_NMS_OK : CROWD_NMS_UNSUPPORTED);
    crowd_nms_session_free(session);
  }
}

TEST(Cuda, refuses_what_the_hardware_cannot_do_with_a_remedy) {
  CrowdNmsParams params = default_params();
  params.method = CROWD_NMS_PAPER;
  params.paper_d_max = 4096;
  params.paper_k = 2;
  EXPECT_EQ(crowd_nms_cuda_workspace_bytes(&params, 1, 4096), 0u);
  EXPECT_STREQ(crowd_nms_last_error(),
               "paper_d_max / paper_k is 2048 threads a block, CUDA has at most 1024: raise paper_k to 4 or more");
  params = default_params();
  EXPECT_EQ(crowd_nms_cuda_workspace_bytes(&params, 65536, 1), 0u);
  EXPECT_NE(std::string(crowd_nms_last_error()).find("split the batch"), std::string::npos);
}

TEST(Cuda, refuses_a_small_or_misaligned_workspace) {
  const CrowdNmsParams params = default_params();
  const std::size_t bytes = crowd_nms_cuda_workspace_bytes(&params, 1, 100);
  const DeviceBytes memory(bytes + 256);
  const DeviceBytes boxes(100 * sizeof(CrowdNmsBox)), scores(400), survivors(400), report(sizeof(CrowdNmsReport));
  CrowdNmsCandidates in{};
  in.boxes = boxes.as<CrowdNmsBox>();
  in.scores = scores.as<float>();
  in.frames = 1;
  in.capacity = 100;
  const CrowdNmsSurvivors out{
      survivors.as<std::uint32_t>(), nullptr, nullptr, report.as<CrowdNmsReport>(), 100, 0, nullptr, nullptr, {}};
  EXPECT_EQ(crowd_nms_cuda(&params, &in, &out, memory.as<void>(), bytes - 1, nullptr), CROWD_NMS_WORKSPACE_TOO_SMALL);
  EXPECT_EQ(crowd_nms_cuda(&params, &in, &out, memory.as<std::byte>() + 8, bytes, nullptr), CROWD_NMS_INVALID_ARGUMENT);
}

TEST(Cuda, keeps_the_workspace_within_what_the_header_says) {
  CrowdNmsParams params = default_params();
  for (const std::uint32_t n : {1u, 100u, 129u, 4096u, 100000u}) {
    const std::uint32_t masks = n > 4096 ? 0 : (n + 127) / 128 * 16;
    const std::uint32_t of_small_frames = n > 4096 ? 5u << 19 : 0;
    params.merge = CROWD_NMS_MERGE_NONE;
    EXPECT_LE(crowd_nms_cuda_workspace_bytes(&params, 1, n), (64 + masks) * n + 8192 + of_small_frames) << n;
    params.merge = CROWD_NMS_MERGE_WEIGHTED;
    EXPECT_LE(crowd_nms_cuda_workspace_bytes(&params, 1, n), (84 + masks) * n + 12288 + of_small_frames) << n;
    EXPECT_LE(crowd_nms_cuda_workspace_bytes(&params, 3, n), 3 * ((84 + masks) * n + 12288)) << n;
  }
}

}  // namespace
}  // namespace crowd::test
