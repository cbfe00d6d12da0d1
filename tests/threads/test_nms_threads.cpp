// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowd/nms.h from many threads at once: sessions of their own, plain calls and errors. Under ThreadSanitizer a data
// race fails them; without it, a wrong answer does.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "oracle.hpp"

namespace crowd::test {
namespace {

constexpr unsigned threads = 4;

void in_threads(const std::function<void(unsigned)>& work) {
  std::vector<std::thread> all;
  for (unsigned i = 0; i < threads; i++)
    all.emplace_back(work, i);
  for (std::thread& thread : all)
    thread.join();
}

Result run_session(CrowdNmsSession* session, const CrowdNmsParams& params, const Batch& batch, const Wanted& wanted) {
  Result result = Result::sized(batch, wanted);
  const CrowdNmsCandidates candidates = batch.candidates();
  const CrowdNmsSurvivors outputs = result.outputs(wanted);
  result.status = crowd_nms_session_run(session, &params, &candidates, &outputs);
  return result;
}

// The candidates are shared, as a detector's would be by the branches of a tee.
TEST(Threads, have_sessions_of_their_own_and_plain_calls_beside) {
  const Batch batch = Batch::of(distribution("dense").make(400, 1));
  const Wanted wanted{.max_survivors = 400};
  const std::vector<CrowdNmsMethod> methods = quick_methods_of(CROWD_NMS_BACKEND_CPU);
  in_threads([&](unsigned i) {
    CrowdNmsParams params = default_params();
    params.method = methods[i % methods.size()];
    const Result expected = run_oracle(params, batch, wanted);
    for (unsigned again = 0; again < 5; again++) {
      CrowdNmsSession* made = nullptr;
      ASSERT_EQ(crowd_nms_session_new(CROWD_NMS_BACKEND_CPU, &params, 1, 400, &made), CROWD_NMS_OK);
      const std::unique_ptr<CrowdNmsSession, void (*)(CrowdNmsSession*)> session(made, crowd_nms_session_free);
      for (unsigned frame = 0; frame < 5; frame++) {
        EXPECT_TRUE(same(expected, run_session(made, params, batch, wanted), batch, wanted));
        EXPECT_TRUE(same(expected, run_cpu(params, batch, wanted), batch, wanted));
      }
    }
  });
}

// A session may go from thread to thread, one call at a time.
TEST(Threads, may_hand_a_session_on) {
  const Batch batch = Batch::of(distribution("dense").make(300, 2));
  const Wanted wanted{.max_survivors = 300};
  const Result expected = run_oracle(default_params(), batch, wanted);
  CrowdNmsSession* session = nullptr;
  ASSERT_EQ(crowd_nms_session_new(CROWD_NMS_BACKEND_CPU, nullptr, 1, 300, &session), CROWD_NMS_OK);
  for (unsigned i = 0; i < threads; i++)
    std::thread([&] {
      EXPECT_TRUE(same(expected, run_session(session, default_params(), batch, wanted), batch, wanted));
    }).join();
  crowd_nms_session_free(session);
}

TEST(Threads, have_errors_of_their_own) {
  in_threads([](unsigned i) {
    CrowdNmsParams params = default_params();
    params.paper_k = 0;
    params.paper_d_max = 1000 + i;
    params.method = CROWD_NMS_PAPER;
    for (unsigned again = 0; again < 500; again++) {
      ASSERT_EQ(crowd_nms_params_check(&params), CROWD_NMS_INVALID_ARGUMENT);
      ASSERT_NE(std::string(crowd_nms_last_error()).find(std::to_string(1000 + i)), std::string::npos)
          << crowd_nms_last_error();
    }
  });
}

}  // namespace
}  // namespace crowd::test
