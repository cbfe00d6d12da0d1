// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What calls of the CUDA backend refuse and need, and how survivors are gathered, in the emulator.

#include "emulated.hpp"
#include "gathering.hpp"

namespace crowd::test {
namespace {

TEST(EmulatedCalls, lacks_the_methods_that_its_table_says) {
  for (const CrowdNmsMethod method : all_methods()) {
    CrowdNmsParams params = default_params();
    params.method = method;
    const Batch batch = Batch::of(distribution("dense").make(100, 1));
    const bool has_it = crowd_nms_method_info(method)->backends & 1u << CROWD_NMS_BACKEND_CUDA;
    EXPECT_EQ(crowd_nms_cuda_workspace_bytes(&params, 1, 100) > 0, has_it) << crowd_nms_last_error();
    EXPECT_EQ(run_emulated(params, batch, {100, true, true}).status, has_it ? CROWD_NMS_OK : CROWD_NMS_UNSUPPORTED);
  }
}

TEST(EmulatedCalls, refuses_more_candidates_than_a_method_takes) {
  constexpr std::uint32_t most = 65536;
  CrowdNmsParams params = default_params();
  EXPECT_GT(crowd_nms_cuda_workspace_bytes(&params, 1, most + 1), 0u);
  params.merge = CROWD_NMS_MERGE_VOTE;
  EXPECT_GT(crowd_nms_cuda_workspace_bytes(&params, 1, most), 0u);
  EXPECT_EQ(crowd_nms_cuda_workspace_bytes(&params, 1, most + 1), 0u);
  EXPECT_STREQ(
      crowd_nms_last_error(),
      "a capacity of 65537 is more than the CUDA backend takes in method greedy with merge vote (65536): lower it");
  params.method = CROWD_NMS_SOFT_LINEAR;
  EXPECT_GT(crowd_nms_cuda_workspace_bytes(&params, 1, most), 0u);
  EXPECT_EQ(crowd_nms_cuda_workspace_bytes(&params, 1, most + 1), 0u);
  EXPECT_STREQ(crowd_nms_last_error(),
               "a capacity of 65537 is more than the CUDA backend takes in method soft-linear (65536): lower it");
  for (const CrowdNmsMethod method : {CROWD_NMS_NMW, CROWD_NMS_WBF}) {
    params.method = method;
    EXPECT_EQ(crowd_nms_cuda_workspace_bytes(&params, 1, most + 1), 0u);
    EXPECT_LE(crowd_nms_cuda_workspace_bytes(&params, 1, most) - 1, std::size_t{320} * most);
  }
}

TEST(EmulatedCalls, keeps_the_workspace_of_soft_methods_within_what_the_header_says) {
  constexpr std::size_t constant = 16384;
  const struct {
    CrowdNmsMethod method;
    std::size_t most, most_of_many;
  } methods[] = {{CROWD_NMS_SOFT_LINEAR, 64 + 2080, 64 + 544}, {CROWD_NMS_MATRIX_GAUSSIAN, 64 + 2048, 64 + 512}};
  for (const auto& [method, most, most_of_many] : methods) {
    CrowdNmsParams params = default_params();
    params.method = method;
    for (const std::uint32_t n : {1u, 100u, 4096u, 4097u, 65536u})
      EXPECT_LE(crowd_nms_cuda_workspace_bytes(&params, 1, n), most * n + constant) << method << ' ' << n;
    for (const std::uint32_t n : {4096u, 4369u, 65536u}) {
      const std::uint32_t frames = (262144 + n - 1) / n;
      EXPECT_LE(crowd_nms_cuda_workspace_bytes(&params, frames, n), (most_of_many * n + constant) * frames)
          << method << ' ' << n;
    }
  }
}

// Sessions keep the workspace of the largest call.
TEST(EmulatedCalls, needs_no_more_workspace_for_fewer_candidates) {
  for (const CrowdNmsMethod method : quick_methods_of(CROWD_NMS_BACKEND_CUDA)) {
    CrowdNmsParams params = default_params();
    params.method = method;
    std::size_t before = 0;
    for (std::uint32_t n = 60000; n <= 65536; n += 16) {
      const std::size_t bytes = crowd_nms_cuda_workspace_bytes(&params, 4, n);
      EXPECT_GE(bytes, before) << method << ' ' << n;
      before = bytes;
    }
    for (std::uint32_t n = 4090; n <= 8700; n += 10)
      for (std::uint32_t frames = 1; frames < 6; ++frames)
        EXPECT_GE(crowd_nms_cuda_workspace_bytes(&params, frames + 1, n),
                  crowd_nms_cuda_workspace_bytes(&params, frames, n))
            << method << ' ' << frames << ' ' << n;
    EXPECT_GE(crowd_nms_cuda_workspace_bytes(&params, 2, 32769), crowd_nms_cuda_workspace_bytes(&params, 1, 65536))
        << method;
  }
}

TEST(gather, hands_out_survivors_as_boxes) {
  expect_gathers([](const Case& it, const Result& found, Gathered& out) {
    const CrowdNmsCandidates candidates = it.batch.candidates();
    Result results = found;
    const CrowdNmsSurvivors survivors = results.outputs(it.wanted);
    const CrowdNmsGathered gathered = out.arrays();
    for (int twice = 0; twice < 2; ++twice)
      ASSERT_EQ(crowd_nms_cuda_gather(&candidates, &survivors, &gathered, nullptr), CROWD_NMS_OK)
          << crowd_nms_last_error();
  });
}

TEST(gather, hands_out_survivors_as_boxes_with_the_call) {
  expect_calls_and_gathers([](const Case& it, Result& found, Gathered& out) {
    const CrowdNmsCandidates candidates = emulated_candidates(it.batch);
    const CrowdNmsSurvivors survivors = found.outputs(it.wanted);
    const CrowdNmsGathered gathered = out.arrays();
    const EmulatedWorkspace workspace(it.params, it.batch);
    for (int twice = 0; twice < 2; ++twice)
      ASSERT_EQ(crowd_nms_cuda_and_gather(&it.params, &candidates, &survivors, &gathered, workspace.get(),
                                          workspace.bytes(), nullptr),
                CROWD_NMS_OK)
          << crowd_nms_last_error();
  });
}

TEST(gather, says_what_is_wrong_with_its_arguments) {
  const Batch batch = Batch::of(distribution("chain").make(5, 1));
  const Wanted wanted{batch.capacity, false, false, true};
  Result results = Result::sized(batch, wanted);
  const CrowdNmsCandidates candidates = batch.candidates();
  CrowdNmsSurvivors survivors = results.outputs(wanted);
  Gathered out(batch, wanted);
  CrowdNmsGathered gathered{};
  const auto refused = [&](const char* word) {
    const CrowdNmsStatus status = crowd_nms_cuda_gather(&candidates, &survivors, &gathered, nullptr);
    return status == CROWD_NMS_INVALID_ARGUMENT && std::string(crowd_nms_last_error()).find(word) != std::string::npos;
  };
  EXPECT_TRUE(refused("counts"));
  gathered.boxes = out.boxes.data();
  gathered.scores = out.scores.data();
  gathered.counts = out.counts.data();
  gathered.members = out.counts.data();
  EXPECT_TRUE(refused("members"));
  gathered.members = nullptr;
  gathered.totals_copy = &out.totals_copy;
  EXPECT_TRUE(refused("totals"));
  gathered.totals_copy = nullptr;
  gathered.boxes = reinterpret_cast<CrowdNmsBox*>(reinterpret_cast<char*>(out.boxes.data()) + 4);
  EXPECT_TRUE(refused("aligned"));
  gathered.boxes = out.boxes.data();
  survivors.boxes = reinterpret_cast<CrowdNmsBox*>(reinterpret_cast<char*>(results.boxes.data()) + 4);
  EXPECT_TRUE(refused("aligned"));
  EXPECT_EQ(crowd_nms_cuda_gather(nullptr, &survivors, &gathered, nullptr), CROWD_NMS_INVALID_ARGUMENT);
  const CrowdNmsParams params = default_params();
  EXPECT_EQ(crowd_nms_cuda_and_gather(&params, &candidates, &survivors, &gathered, nullptr, 0, nullptr),
            CROWD_NMS_INVALID_ARGUMENT);
  EXPECT_NE(std::string(crowd_nms_last_error()).find("aligned"), std::string::npos);
  survivors.boxes = nullptr;
  EXPECT_EQ(crowd_nms_cuda_and_gather(&params, &candidates, &survivors, &gathered, nullptr, 0, nullptr),
            CROWD_NMS_WORKSPACE_TOO_SMALL);
}

}  // namespace
}  // namespace crowd::test
