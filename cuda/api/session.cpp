// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "api/device_session.hpp"
#include "core/call.hpp"
#include "core/failure.hpp"
#include "core/floating_point.hpp"
#include "core/methods.hpp"
#include "cpu/backend.hpp"
#include "kernels/tuning.hpp"

namespace crowd {

namespace {

constexpr std::size_t host_alignment = 64;

struct Free {
  void operator()(void* memory) const {
    std::free(memory);
  }
};

class HostSession final : public Session {
 public:
  HostSession(std::unique_ptr<void, Free> workspace, std::size_t bytes)
      : workspace_(std::move(workspace)), bytes_(bytes) {}

  CrowdNmsStatus run(const CrowdNmsParams& params, const CrowdNmsCandidates& candidates,
                     const CrowdNmsSurvivors& survivors) noexcept override {
    return cpu::run_checked(params, candidates, survivors, workspace_.get(), bytes_);
  }

 private:
  std::unique_ptr<void, Free> workspace_;
  std::size_t bytes_;
};

CrowdNmsStatus make_host_session(const CrowdNmsParams* params, std::uint32_t frames, std::uint32_t capacity,
                                 std::unique_ptr<Session>& session) noexcept {
  const std::size_t needed = session_bytes(CROWD_NMS_BACKEND_CPU, params, frames, capacity);
  const std::size_t bytes = (needed + host_alignment - 1) / host_alignment * host_alignment;
  std::unique_ptr<void, Free> workspace(std::aligned_alloc(host_alignment, std::max(bytes, host_alignment)));
  if (workspace)
    session.reset(new (std::nothrow) HostSession(std::move(workspace), bytes));
  if (!session)
    return fail(CROWD_NMS_OUT_OF_MEMORY, "no memory for %zu bytes of workspace: lower the capacity", bytes);
  return CROWD_NMS_OK;
}

}  // namespace

namespace {

bool has(CrowdNmsBackend backend, CrowdNmsMethod method) {
  return info_of(method).backends & 1u << backend;
}

std::size_t workspace_bytes(CrowdNmsBackend backend, const CrowdNmsParams& params, std::uint32_t frames,
                            std::uint32_t capacity) {
  return backend == CROWD_NMS_BACKEND_CUDA ? crowd_nms_cuda_workspace_bytes(&params, frames, capacity)
                                           : crowd_nms_cpu_workspace_bytes(&params, frames, capacity);
}

/// Of the largest call: the limit of some methods is below the session's capacity, which smaller calls may still use.
std::size_t largest_workspace(CrowdNmsBackend backend, const CrowdNmsParams& params, std::uint32_t frames,
                              std::uint32_t capacity) {
  const std::size_t bytes = workspace_bytes(backend, params, frames, capacity);
  return bytes ? bytes : workspace_bytes(backend, params, frames, std::min(capacity, tuning::soft_capacity));
}

}  // namespace

std::size_t session_bytes(CrowdNmsBackend backend, const CrowdNmsParams* params, std::uint32_t frames,
                          std::uint32_t capacity) {
  std::size_t bytes = 0;
  for (std::uint32_t method = 0; method < Methods::size; ++method) {
    CrowdNmsParams p;
    crowd_nms_params_init(&p);
    p.method = static_cast<CrowdNmsMethod>(method);
    if (!has(backend, p.method) || (reads_d_max(p) && !params))
      continue;
    if (reads_d_max(p)) {
      p.paper_d_max = params->paper_d_max;
      p.paper_k = params->paper_k;
    }
    p.weight_count = 1;
    p.model_weights[0] = 1;
    if (reads_merge(p))
      p.merge = CROWD_NMS_MERGE_WEIGHTED;
    bytes = std::max(bytes, largest_workspace(backend, p, frames, capacity));
  }
  return bytes;
}

}  // namespace crowd

struct CrowdNmsSession {
  CrowdNmsBackend kind;
  std::unique_ptr<crowd::Session> backend;
  std::uint32_t frames;
  std::uint32_t capacity;
  std::uint64_t paper_side;  ///< largest D_max that there is room for; 0: not made for methods that read it
};

namespace crowd {

namespace {

// The D_max that a session with these params has room for. 0 if no method that reads paper_d_max is available: the
// reason is in the last error, if there are params.
std::uint64_t room_for_paper(CrowdNmsBackend backend, const CrowdNmsParams* params, std::uint32_t frames,
                             std::uint32_t capacity) {
  if (!params)
    return 0;
  CrowdNmsParams p = *params;
  for (std::uint32_t method = 0; method < Methods::size; ++method) {
    p.method = static_cast<CrowdNmsMethod>(method);
    if (has(backend, p.method) && reads_d_max(p) && workspace_bytes(backend, p, frames, capacity))
      return paper_side(p, capacity);
  }
  return 0;
}

CrowdNmsStatus check_room_for_paper(const CrowdNmsSession& session, const CrowdNmsParams& params,
                                    std::uint32_t capacity) {
  if (!reads_d_max(params))
    return CROWD_NMS_OK;
  const std::uint64_t side = paper_side(params, capacity);
  if (side <= session.paper_side)
    return CROWD_NMS_OK;
  if (!session.paper_side)
    return fail(CROWD_NMS_INVALID_ARGUMENT,
                "this session was not made for method %s: give crowd_nms_session_new() params with paper_d_max %u "
                "and paper_k %u",
                info_of(params.method).name, params.paper_d_max, params.paper_k);
  return fail(CROWD_NMS_INVALID_ARGUMENT,
              "a D_max of %llu does not fit this session, made for one of %llu in method %s: give "
              "crowd_nms_session_new() params with paper_d_max %u and paper_k %u",
              static_cast<unsigned long long>(side), static_cast<unsigned long long>(session.paper_side),
              info_of(params.method).name, params.paper_d_max, params.paper_k);
}

// Not inlined, see FloatingPointModes.
[[gnu::noinline]] CrowdNmsStatus check_and_run(CrowdNmsSession& session, const CrowdNmsParams* params,
                                               const CrowdNmsCandidates* candidates,
                                               const CrowdNmsSurvivors* survivors) {
  if (const CrowdNmsStatus status = check_call(params, candidates, survivors); status != CROWD_NMS_OK)
    return status;
  if (candidates->frames > session.frames || candidates->capacity > session.capacity)
    return fail(CROWD_NMS_INVALID_ARGUMENT, "%u frames of %u candidates do not fit a session of %u times %u",
                candidates->frames, candidates->capacity, session.frames, session.capacity);
  if (const CrowdNmsStatus status = check_backend(info_of(params->method), session.kind); status != CROWD_NMS_OK)
    return status;
  if (const CrowdNmsStatus status = check_room_for_paper(session, *params, candidates->capacity);
      status != CROWD_NMS_OK)
    return status;
  return session.backend->run(*params, *candidates, *survivors);
}

}  // namespace

}  // namespace crowd

CrowdNmsStatus crowd_nms_session_new(CrowdNmsBackend backend, const CrowdNmsParams* params, uint32_t frames,
                                     uint32_t capacity, CrowdNmsSession** session) {
  if (!session)
    return crowd::fail(CROWD_NMS_INVALID_ARGUMENT, "session must not be NULL");
  *session = nullptr;
  if (crowd::raw(backend) > CROWD_NMS_BACKEND_CUDA)
    return crowd::fail(CROWD_NMS_INVALID_ARGUMENT, "backend %u is not a CrowdNmsBackend", crowd::raw(backend));
  if (!crowd::total_fits(frames, capacity))
    return crowd::fail(CROWD_NMS_INVALID_ARGUMENT, "%u frames of %u candidates are more than a session holds (%u)",
                       frames, capacity, CROWD_NMS_MAX_TOTAL);
  if (params) {
    if (const CrowdNmsStatus status = crowd_nms_params_check(params); status != CROWD_NMS_OK)
      return status;
    if (const CrowdNmsStatus status = crowd::check_backend(crowd::info_of(params->method), backend);
        status != CROWD_NMS_OK)
      return status;
  }
  std::unique_ptr<crowd::Session> made;
  const CrowdNmsStatus status = backend == CROWD_NMS_BACKEND_CUDA
                                    ? crowd::make_device_session(params, frames, capacity, made)
                                    : crowd::make_host_session(params, frames, capacity, made);
  if (status != CROWD_NMS_OK)
    return status;
  const std::uint64_t paper_side = crowd::room_for_paper(backend, params, frames, capacity);
  if (params && crowd::reads_d_max(*params) && !paper_side)
    return CROWD_NMS_UNSUPPORTED;
  *session = new (std::nothrow) CrowdNmsSession{backend, std::move(made), frames, capacity, paper_side};
  return *session ? CROWD_NMS_OK : crowd::fail(CROWD_NMS_OUT_OF_MEMORY, "no memory for a session");
}

CrowdNmsStatus crowd_nms_session_run(CrowdNmsSession* session, const CrowdNmsParams* params,
                                     const CrowdNmsCandidates* candidates, const CrowdNmsSurvivors* survivors) {
  if (!session)
    return crowd::fail(CROWD_NMS_INVALID_ARGUMENT, "session must not be NULL: make one with crowd_nms_session_new()");
  const crowd::FloatingPointModes modes;
  return crowd::check_and_run(*session, params, candidates, survivors);
}

void crowd_nms_session_free(CrowdNmsSession* session) {
  delete session;
}
