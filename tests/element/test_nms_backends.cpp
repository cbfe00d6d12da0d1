// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which backend crowdnms chooses for candidates on the host, and what it does when the GPU fails: with a library in
// place of the real one that notes what is asked of it.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cluster/backends.hpp"
#include "fake_cuda_device.hpp"

struct CrowdNmsSession {
  CrowdNmsBackend backend;
  uint32_t capacity;
  bool paper;
};

namespace {

/// What the library in place of the real one does and has seen.
struct FakeLibrary {
  bool has_gpu = true;
  CrowdNmsStatus gpu_says = CROWD_NMS_OK;
  bool gpu_is_too_small = false;
  bool gpu_lacks_map_reduce = false;
  std::vector<std::string> calls;
  int sessions = 0;
};
FakeLibrary library;

const char* name(CrowdNmsBackend backend) {
  return backend == CROWD_NMS_BACKEND_CUDA ? "cuda" : "cpu";
}

const CrowdNmsMethodInfo* method_info(uint32_t method) {
  static CrowdNmsMethodInfo info;
  info = *crowd_nms_method_info(method);
  if (library.gpu_lacks_map_reduce && method == CROWD_NMS_MAP_REDUCE)
    info.backends = 1u << CROWD_NMS_BACKEND_CPU;
  return &info;
}
const char* last_error(void) {
  return "the reason";
}
CrowdNmsStatus params_check(const CrowdNmsParams* params) {
  return params->paper_k ? CROWD_NMS_OK : CROWD_NMS_INVALID_ARGUMENT;
}
CrowdNmsStatus cuda_probe(void) {
  return library.has_gpu ? CROWD_NMS_OK : CROWD_NMS_NO_GPU;
}
size_t cuda_workspace_bytes(const CrowdNmsParams* params, uint32_t, uint32_t) {
  const bool has_method = method_info(params->method)->backends & 1u << CROWD_NMS_BACKEND_CUDA;
  return library.has_gpu && !library.gpu_is_too_small && has_method;
}
CrowdNmsStatus session_new(CrowdNmsBackend backend, const CrowdNmsParams* params, uint32_t, uint32_t capacity,
                           CrowdNmsSession** session) {
  *session = nullptr;
  if (backend == CROWD_NMS_BACKEND_CUDA && !library.has_gpu)
    return CROWD_NMS_NO_GPU;
  *session = new CrowdNmsSession{backend, capacity, params != nullptr};
  library.sessions++;
  library.calls.push_back(std::string("new ") + name(backend) + (params ? " paper" : ""));
  return CROWD_NMS_OK;
}
CrowdNmsStatus session_run(CrowdNmsSession* session, const CrowdNmsParams*, const CrowdNmsCandidates* candidates,
                           const CrowdNmsSurvivors* survivors) {
  EXPECT_LE(candidates->capacity, session->capacity);
  library.calls.push_back(std::string("run ") + name(session->backend));
  if (session->backend == CROWD_NMS_BACKEND_CUDA && library.gpu_says != CROWD_NMS_OK)
    return library.gpu_says;
  *survivors->reports = {};
  survivors->reports->candidates = *candidates->counts;
  return CROWD_NMS_OK;
}
void session_free(CrowdNmsSession* session) {
  library.sessions -= session != nullptr;
  delete session;
}

constexpr crowd::Library functions = {
    .method_info = method_info,
    .params_check = params_check,
    .cuda_probe = cuda_probe,
    .cuda_workspace_bytes = cuda_workspace_bytes,
    .session_new = session_new,
    .session_run = session_run,
    .session_free = session_free,
    .last_error = last_error,
};

using namespace crowd;
using Calls = std::vector<std::string>;

class nms_backends : public testing::Test {
 protected:
  nms_backends() {
    library = {};
  }
  ~nms_backends() override {
    backends_.close();
    EXPECT_EQ(library.sessions, 0);
  }

  static Backends::Config config(BackendChoice backend, CrowdNmsMethod method = CROWD_NMS_GREEDY) {
    Backends::Config config = {.backend = backend, .capacity = 16384};
    config.params.overlap_threshold = .5f;
    config.params.paper_k = 32;
    config.params.method = method;
    return config;
  }

  CrowdNmsStatus run(const Backends::Config& config, std::size_t n) {
    if (const CrowdNmsStatus status = backends_.prepare(config); status != CROWD_NMS_OK)
      return status;
    const std::vector<CrowdNmsBox> boxes(n, {0, 0, 1, 1});
    const std::vector<float> scores(n);
    const std::vector<std::int32_t> classes(n);
    const meta::Candidates candidates = {boxes, scores, classes, static_cast<std::uint32_t>(n), {}};
    result_ = {};
    return backends_.run(config, candidates, 16384, true, result_);
  }

  test::FakeCudaDevice device_;
  Backends backends_{&device_, functions};
  Backends::Result result_;
};

TEST_F(nms_backends, auto_takes_the_gpu_from_the_crossover_on) {
  EXPECT_EQ(run(config(BackendChoice::automatic), gpu_crossover - 1), CROWD_NMS_OK);
  EXPECT_EQ(result_.backend, CROWD_NMS_BACKEND_CPU);
  EXPECT_EQ(run(config(BackendChoice::automatic), gpu_crossover), CROWD_NMS_OK);
  EXPECT_EQ(result_.backend, CROWD_NMS_BACKEND_CUDA);
  EXPECT_EQ(library.calls, (Calls{"new cpu", "new cuda", "run cpu", "run cuda"}));
  EXPECT_EQ(backends_.no_gpu_reason(), "");
}

TEST_F(nms_backends, auto_without_a_gpu_takes_the_cpu) {
  library.has_gpu = false;
  EXPECT_EQ(run(config(BackendChoice::automatic), 10000), CROWD_NMS_OK);
  EXPECT_EQ(result_.backend, CROWD_NMS_BACKEND_CPU);
  EXPECT_EQ(result_.gpu, Backends::GpuOutcome::fine);
  EXPECT_EQ(backends_.no_gpu_reason(), "the reason");
}

TEST_F(nms_backends, cuda_takes_the_gpu_for_every_frame) {
  EXPECT_EQ(run(config(BackendChoice::cuda), 1), CROWD_NMS_OK);
  EXPECT_EQ(library.calls, (Calls{"new cuda", "run cuda"}));
}

TEST_F(nms_backends, cuda_without_a_gpu_fails) {
  library.has_gpu = false;
  EXPECT_EQ(run(config(BackendChoice::cuda), 1), CROWD_NMS_NO_GPU);
  EXPECT_EQ(backends_.problem(), "the reason");
}

TEST_F(nms_backends, cpu_never_asks_for_a_gpu) {
  EXPECT_EQ(run(config(BackendChoice::cpu), 4000), CROWD_NMS_OK);
  EXPECT_EQ(library.calls, (Calls{"new cpu", "run cpu"}));
}

TEST_F(nms_backends, auto_goes_on_on_the_cpu_when_the_gpu_fails) {
  EXPECT_EQ(run(config(BackendChoice::automatic), 10000), CROWD_NMS_OK);
  library.gpu_says = CROWD_NMS_CUDA_ERROR;
  EXPECT_EQ(run(config(BackendChoice::automatic), 10000), CROWD_NMS_OK);
  EXPECT_EQ(result_.gpu, Backends::GpuOutcome::lost);
  EXPECT_EQ(result_.backend, CROWD_NMS_BACKEND_CPU);
  EXPECT_EQ(result_.report.candidates, 10000u);
  EXPECT_EQ(backends_.no_gpu_reason(), "the reason");
  EXPECT_EQ(run(config(BackendChoice::automatic), 10000), CROWD_NMS_OK);
  EXPECT_EQ(result_.gpu, Backends::GpuOutcome::fine) << "said once";
  EXPECT_EQ(library.calls, (Calls{"new cpu", "new cuda", "run cuda", "run cuda", "run cpu", "run cpu"}));
}

TEST_F(nms_backends, auto_keeps_a_gpu_that_refuses_a_frame) {
  for (const CrowdNmsStatus refusal : {CROWD_NMS_UNSUPPORTED, CROWD_NMS_INVALID_ARGUMENT}) {
    library.gpu_says = refusal;
    EXPECT_EQ(run(config(BackendChoice::automatic), 10000), CROWD_NMS_OK);
    EXPECT_EQ(result_.gpu, Backends::GpuOutcome::refused);
    EXPECT_EQ(result_.backend, CROWD_NMS_BACKEND_CPU);
    EXPECT_EQ(backends_.problem(), "the reason");
    EXPECT_EQ(backends_.no_gpu_reason(), "");
    library.gpu_says = CROWD_NMS_OK;
    EXPECT_EQ(run(config(BackendChoice::automatic), 10000), CROWD_NMS_OK);
    EXPECT_EQ(result_.backend, CROWD_NMS_BACKEND_CUDA);
  }
}

TEST_F(nms_backends, a_context_that_is_not_current_is_a_cuda_failure) {
  EXPECT_EQ(run(config(BackendChoice::automatic), 10000), CROWD_NMS_OK);
  device_.is_dead = true;
  EXPECT_EQ(run(config(BackendChoice::automatic), 10000), CROWD_NMS_OK);
  EXPECT_EQ(result_.gpu, Backends::GpuOutcome::lost);
  EXPECT_EQ(backends_.no_gpu_reason(), "the CUDA context cannot be made current");
  EXPECT_EQ(run(config(BackendChoice::cuda), 1), CROWD_NMS_CUDA_ERROR);
  EXPECT_EQ(library.calls, (Calls{"new cpu", "new cuda", "run cuda", "run cpu"}));
}

TEST_F(nms_backends, cuda_fails_when_the_gpu_fails) {
  library.gpu_says = CROWD_NMS_CUDA_ERROR;
  EXPECT_EQ(run(config(BackendChoice::cuda), 1000), CROWD_NMS_CUDA_ERROR);
}

TEST_F(nms_backends, sessions_are_made_again_only_for_what_they_depend_on) {
  run(config(BackendChoice::cpu), 5);
  auto other = config(BackendChoice::cpu, CROWD_NMS_MAP_REDUCE);
  other.params.overlap_threshold = .25f;
  other.params.paper_k = 7;
  run(other, 5);
  EXPECT_EQ(library.calls, (Calls{"new cpu", "run cpu", "run cpu"}));
  run(config(BackendChoice::cpu, CROWD_NMS_PAPER), 5);
  other = config(BackendChoice::cpu, CROWD_NMS_PAPER);
  other.params.paper_k = 16;
  run(other, 5);
  other.capacity = 100;
  run(other, 5);
  EXPECT_EQ(library.calls, (Calls{"new cpu", "run cpu", "run cpu", "new cpu paper", "run cpu", "new cpu paper",
                                  "run cpu", "new cpu paper", "run cpu"}));
}

TEST_F(nms_backends, auto_comes_back_to_the_gpu_from_a_method_that_it_lacks) {
  library.gpu_lacks_map_reduce = true;
  const auto lacking = config(BackendChoice::automatic, CROWD_NMS_MAP_REDUCE), other = config(BackendChoice::automatic);
  run(lacking, 10000);
  EXPECT_EQ(result_.backend, CROWD_NMS_BACKEND_CPU);
  EXPECT_EQ(backends_.no_gpu_reason(), "the reason");
  run(other, 10000);
  EXPECT_EQ(result_.backend, CROWD_NMS_BACKEND_CUDA);
  run(lacking, 10000);
  EXPECT_EQ(result_.backend, CROWD_NMS_BACKEND_CPU);
  EXPECT_EQ(backends_.prepare(config(BackendChoice::cuda, CROWD_NMS_MAP_REDUCE)), CROWD_NMS_UNSUPPORTED);
}

TEST_F(nms_backends, refused_settings_leave_nothing_behind) {
  auto refused = config(BackendChoice::cpu);
  refused.params.paper_k = 0;
  refused.capacity = 50;
  EXPECT_EQ(run(refused, 1), CROWD_NMS_INVALID_ARGUMENT);
  EXPECT_EQ(library.sessions, 0);
  EXPECT_EQ(run(config(BackendChoice::cpu), 1), CROWD_NMS_OK);
}

TEST_F(nms_backends, refused_settings_leave_the_backends_as_it_was) {
  const auto good = config(BackendChoice::cuda);
  EXPECT_EQ(run(good, 1), CROWD_NMS_OK);
  auto refused = config(BackendChoice::cuda, CROWD_NMS_PAPER);
  refused.params.paper_k = 0;
  EXPECT_EQ(backends_.prepare(refused), CROWD_NMS_INVALID_ARGUMENT);
  library.gpu_is_too_small = true;
  refused.params.paper_k = 1;
  EXPECT_EQ(backends_.prepare(refused), CROWD_NMS_UNSUPPORTED);
  EXPECT_EQ(backends_.problem(), "the reason");
  EXPECT_EQ(run(good, 1), CROWD_NMS_OK);
  EXPECT_EQ(library.calls, (Calls{"new cuda", "run cuda", "run cuda"}));
}

TEST_F(nms_backends, auto_takes_the_cpu_for_what_the_gpu_does_not_support) {
  library.gpu_is_too_small = true;
  EXPECT_EQ(run(config(BackendChoice::automatic, CROWD_NMS_PAPER), 10000), CROWD_NMS_OK);
  EXPECT_EQ(result_.backend, CROWD_NMS_BACKEND_CPU);
  EXPECT_EQ(backends_.no_gpu_reason(), "the reason");
  library.gpu_is_too_small = false;
  EXPECT_EQ(run(config(BackendChoice::automatic), 10000), CROWD_NMS_OK);
  EXPECT_EQ(result_.backend, CROWD_NMS_BACKEND_CUDA);
  EXPECT_EQ(backends_.no_gpu_reason(), "");
}

}  // namespace
