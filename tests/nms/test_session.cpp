// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sessions with the CPU backend.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "rule_cases.hpp"

namespace crowd::test {
namespace {

using testing::HasSubstr;

using Session = std::unique_ptr<CrowdNmsSession, void (*)(CrowdNmsSession*)>;

Session make(const CrowdNmsParams* params, std::uint32_t frames, std::uint32_t capacity) {
  CrowdNmsSession* session = nullptr;
  EXPECT_EQ(crowd_nms_session_new(CROWD_NMS_BACKEND_CPU, params, frames, capacity, &session), CROWD_NMS_OK)
      << crowd_nms_last_error();
  return {session, crowd_nms_session_free};
}

Result run(CrowdNmsSession* session, const CrowdNmsParams& params, const Batch& batch, const Wanted& wanted) {
  Result result = Result::sized(batch, wanted);
  const CrowdNmsCandidates candidates = batch.candidates();
  const CrowdNmsSurvivors outputs = result.outputs(wanted);
  result.status = crowd_nms_session_run(session, &params, &candidates, &outputs);
  return result;
}

TEST(CpuSession, gives_what_the_plain_call_gives_again_and_again) {
  CrowdNmsParams paper = default_params();
  paper.method = CROWD_NMS_PAPER;
  const Session session = make(&paper, 12, 310);
  for (const CrowdNmsMethod method : methods_of(CROWD_NMS_BACKEND_CPU)) {
    for_each_batch(method, [&](const Case& it) {
      expect_as_oracle([&](const auto& params, const auto& batch,
                           const auto& wanted) { return run(session.get(), params, batch, wanted); },
                       merging(it));
    });
  }
}

TEST(CpuSession, has_room_for_weights_of_models) {
  const Session session = make(nullptr, 12, 310);
  for (const CrowdNmsMethod method : {CROWD_NMS_NMW, CROWD_NMS_WBF}) {
    for_each_ruled_batch(method, [&](const Case& it) {
      expect_as_oracle([&](const auto& params, const auto& batch,
                           const auto& wanted) { return run(session.get(), params, batch, wanted); },
                       it);
    });
  }
}

TEST(CpuSession, refuses_what_does_not_fit) {
  const Session session = make(nullptr, 2, 100);
  const Batch batch = Batch::of(distribution("uniform").make(101, 1));
  EXPECT_EQ(run(session.get(), default_params(), batch, {}).status, CROWD_NMS_INVALID_ARGUMENT);
  EXPECT_THAT(crowd_nms_last_error(), HasSubstr("do not fit a session of 2 times 100"));
}

TEST(CpuSession, refuses_what_does_not_fit_without_frames_too) {
  const Session session = make(nullptr, 2, 100);
  Batch batch;
  batch.frames = 0;
  batch.capacity = 101;
  EXPECT_EQ(run(session.get(), default_params(), batch, {}).status, CROWD_NMS_INVALID_ARGUMENT);
  EXPECT_THAT(crowd_nms_last_error(), HasSubstr("do not fit a session of 2 times 100"));
  CrowdNmsSession* none = nullptr;
  EXPECT_EQ(crowd_nms_session_new(CROWD_NMS_BACKEND_CPU, nullptr, 0, CROWD_NMS_MAX_TOTAL + 1, &none),
            CROWD_NMS_INVALID_ARGUMENT);
  EXPECT_THAT(crowd_nms_last_error(), HasSubstr("more than a session holds"));
  EXPECT_EQ(none, nullptr);
}

TEST(CpuSession, not_made_for_paper_says_how_to_make_one) {
  const Session session = make(nullptr, 1, 100);
  const Batch batch = Batch::of(distribution("uniform").make(50, 1));
  CrowdNmsParams params = default_params();
  params.method = CROWD_NMS_PAPER;
  params.paper_d_max = 64;
  params.paper_k = 16;
  EXPECT_EQ(run(session.get(), params, batch, {}).status, CROWD_NMS_INVALID_ARGUMENT);
  EXPECT_STREQ(crowd_nms_last_error(),
               "this session was not made for method paper: give crowd_nms_session_new() params "
               "with paper_d_max 64 and paper_k 16");
  const Session made = make(&params, 1, 100);
  EXPECT_EQ(run(made.get(), params, batch, {}).status, CROWD_NMS_OK) << crowd_nms_last_error();
  params.paper_d_max = 128;
  EXPECT_EQ(run(made.get(), params, batch, {}).status, CROWD_NMS_INVALID_ARGUMENT);
  EXPECT_THAT(crowd_nms_last_error(), HasSubstr("made for one of 64"));
  EXPECT_THAT(crowd_nms_last_error(), HasSubstr("paper_d_max 128"));
}

TEST(CpuSession, for_a_matrix_that_is_too_large_is_not_made) {
  CrowdNmsParams params = default_params();
  params.method = CROWD_NMS_PAPER;
  CrowdNmsSession* none = nullptr;
  EXPECT_EQ(crowd_nms_session_new(CROWD_NMS_BACKEND_CPU, &params, 1, 70000, &none), CROWD_NMS_UNSUPPORTED);
  EXPECT_THAT(crowd_nms_last_error(), HasSubstr("set paper_d_max"));
  EXPECT_EQ(none, nullptr);
}

TEST(CpuSession, refuses_bad_arguments) {
  const Session session = make(nullptr, 1, 100);
  const Batch batch = Batch::of(distribution("uniform").make(50, 1));
  CrowdNmsParams params = default_params();
  EXPECT_EQ(run(nullptr, params, batch, {}).status, CROWD_NMS_INVALID_ARGUMENT);
  EXPECT_THAT(crowd_nms_last_error(), HasSubstr("crowd_nms_session_new"));
  params.overlap_threshold = 7;
  EXPECT_EQ(run(session.get(), params, batch, {}).status, CROWD_NMS_INVALID_ARGUMENT);
  CrowdNmsSession* none = nullptr;
  EXPECT_EQ(crowd_nms_session_new(CROWD_NMS_BACKEND_CPU, nullptr, 1, 1, nullptr), CROWD_NMS_INVALID_ARGUMENT);
  EXPECT_EQ(crowd_nms_session_new(CROWD_NMS_BACKEND_CPU, &params, 1, 1, &none), CROWD_NMS_INVALID_ARGUMENT);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(crowd_nms_session_new(CROWD_NMS_BACKEND_CPU, nullptr, 70000, 70000, &none), CROWD_NMS_INVALID_ARGUMENT);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(crowd_nms_session_new(static_cast<CrowdNmsBackend>(2), nullptr, 1, 1, &none), CROWD_NMS_INVALID_ARGUMENT);
  EXPECT_EQ(none, nullptr);
  EXPECT_THAT(crowd_nms_last_error(), HasSubstr("backend 2"));
  crowd_nms_session_free(nullptr);
}

TEST(CpuSession, does_not_mind_another_in_another_thread) {
  const auto work = [](std::uint64_t seed) {
    const Session session = make(nullptr, 1, 3000);
    for (std::uint64_t i = 0; i < 20; ++i) {
      const Case it{.name = "dense seed=" + std::to_string(seed + i),
                    .params = default_params(),
                    .batch = Batch::of(distribution("dense").make(700, seed + i)),
                    .wanted = {.max_survivors = 700}};
      expect_as_oracle([&](const auto& params, const auto& batch,
                           const auto& wanted) { return run(session.get(), params, batch, wanted); },
                       it);
    }
  };
  std::thread one(work, 1);
  std::thread other(work, 1000);
  one.join();
  other.join();
}

}  // namespace
}  // namespace crowd::test
