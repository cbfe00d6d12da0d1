// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cluster/backends.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "cluster/changed_values.hpp"
#include "cluster/problem.hpp"

namespace crowd {

CrowdNmsStatus Backends::fail(CrowdNmsStatus status) {
  problem_ = library_problem(status, library_.last_error());
  return status;
}

CrowdNmsStatus Backends::fail_without_context() {
  problem_ = "the CUDA context cannot be made current";
  return CROWD_NMS_CUDA_ERROR;
}

CrowdNmsStatus Backends::fail_for_memory(std::size_t candidates) {
  problem_ = "no memory for " + std::to_string(candidates) + " candidates";
  return CROWD_NMS_OUT_OF_MEMORY;
}

Backends::Sessions Backends::no_sessions(std::uint32_t frames, std::uint32_t capacity) const {
  return {frames, capacity, Session(nullptr, library_.session_free), Session(nullptr, library_.session_free)};
}

CrowdNmsStatus Backends::make(CrowdNmsBackend backend, const Config& config, Sessions& sessions) {
  CrowdNmsSession* made = nullptr;
  const CrowdNmsStatus status = library_.session_new(backend, shape_of(config).d_max ? &config.params : nullptr,
                                                     sessions.frames, sessions.capacity, &made);
  (backend == CROWD_NMS_BACKEND_CUDA ? sessions.gpu : sessions.cpu).reset(made);
  return status == CROWD_NMS_OK ? status : fail(status);
}

CrowdNmsStatus Backends::make_on_gpu(const Config& config, Sessions& sessions) {
  if (!library_.cuda_workspace_bytes(&config.params, sessions.frames, sessions.capacity)) {
    fail(CROWD_NMS_UNSUPPORTED);
    return library_.cuda_probe() == CROWD_NMS_OK ? CROWD_NMS_UNSUPPORTED : fail(CROWD_NMS_NO_GPU);
  }
  const CudaDevice::Current current(device_);
  if (!current)
    return fail_without_context();
  return make(CROWD_NMS_BACKEND_CUDA, config, sessions);
}

void Backends::free_on_gpu(Session& session) {
  if (!session)
    return;
  const CudaDevice::Current current(device_);
  session.reset();
}

// Never shrinks: what it was last prepared for has to fit until the new one is ready.
bool Backends::make_room(std::size_t places) {
  const std::size_t size = std::max(places, places_.size());
  try {
    survivors_.resize(size);
    members_.resize(size);
    boxes_.resize(size);
    scores_.resize(size);
    representatives_.resize(size);
    places_.resize(size);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

Backends::Shape Backends::shape_of(const Config& config) const {
  const CrowdNmsMethodInfo& method = *library_.method_info(config.params.method);
  const bool d_max = method.reads & CROWD_NMS_READS_D_MAX;
  return {
      .backend = config.backend,
      .capacity = config.capacity,
      .cuda = (method.backends & 1u << CROWD_NMS_BACKEND_CUDA) != 0,
      .d_max = d_max,
      .paper_d_max = d_max ? config.params.paper_d_max : 0,
      .paper_k = d_max ? config.params.paper_k : 0,
  };
}

CrowdNmsStatus Backends::prepare(const Config& config) {
  if (const CrowdNmsStatus status = library_.params_check(&config.params); status != CROWD_NMS_OK)
    return fail(status);
  const Shape shape = shape_of(config);
  if (shape_ == shape)
    return CROWD_NMS_OK;
  Sessions made = no_sessions(1, config.capacity);
  if (config.backend != BackendChoice::cuda) {
    if (const CrowdNmsStatus status = make(CROWD_NMS_BACKEND_CPU, config, made); status != CROWD_NMS_OK)
      return status;
  }
  if (!make_room(config.capacity))
    return fail_for_memory(config.capacity);
  std::string no_gpu_reason;
  if (config.backend != BackendChoice::cpu) {
    const CrowdNmsStatus status = make_on_gpu(config, made);
    if (status != CROWD_NMS_OK && config.backend == BackendChoice::cuda)
      return status;
    if (status != CROWD_NMS_OK)
      no_gpu_reason = problem_;
  }
  close();
  one_ = std::move(made);
  no_gpu_reason_ = std::move(no_gpu_reason);
  shape_ = shape;
  return CROWD_NMS_OK;
}

void Backends::close() {
  for (Sessions* sessions : {&one_, &many_}) {
    free_on_gpu(sessions->gpu);
    *sessions = no_sessions(0, 0);
  }
  shape_.reset();
  no_gpu_reason_.clear();
}

void Backends::fill_places(std::size_t begin, std::size_t n, std::span<const std::uint32_t> survivors) {
  for (std::size_t i = begin; i < begin + n; ++i)
    places_[i] = representatives_[i] == CROWD_NMS_REJECTED ? meta::place_rejected : meta::place_suppressed;
  for (std::size_t rank = 0; rank < survivors.size(); ++rank)
    places_[begin + survivors[rank]] = static_cast<std::int32_t>(rank);
}

/// What became of a frame of `n` candidates, whose report the result has.
void Backends::fill_verdict(const Call& call, std::size_t frame, std::size_t n, Result& result) {
  const std::size_t found = result.report.survivors - result.report.clipped;
  const std::size_t first = frame * call.output.max_survivors, begin = frame * call.input.capacity;
  result.verdict = {.survivors = {survivors_.data() + first, found}, .members = {members_.data() + first, found}};
  if (call.output.boxes)
    result.verdict.boxes = {boxes_.data() + first, found};
  if (call.output.scores)
    result.verdict.scores = {scores_.data() + first, found};
  if (!call.output.representatives)
    return;
  fill_places(begin, n, result.verdict.survivors);
  result.verdict.representatives = {representatives_.data() + begin, n};
  result.verdict.places = {places_.data() + begin, n};
}

/// Into the arrays of this object, which have room.
CrowdNmsSurvivors Backends::output_of(const Config& config, const CrowdNmsCandidates& input,
                                      std::uint32_t max_survivors, bool with_representatives, CrowdNmsReport* reports) {
  if (with_representatives)
    std::fill_n(representatives_.begin(), std::size_t{input.frames} * input.capacity, CROWD_NMS_REJECTED);
  const ChangedValues changed = changed_values(*library_.method_info(config.params.method), config.params);
  return {
      .survivors = survivors_.data(),
      .members = members_.data(),
      .representatives = with_representatives ? representatives_.data() : nullptr,
      .reports = reports,
      .max_survivors = std::min(max_survivors, input.capacity),
      .flags = 0,
      .boxes = changed.boxes ? boxes_.data() : nullptr,
      .scores = changed.scores ? scores_.data() : nullptr,
      .reserved = {},
  };
}

CrowdNmsStatus Backends::run_session(const Config& config, bool on_gpu, const Sessions& sessions, const Call& call,
                                     Result& result) {
  const GstClockTime start = gst_util_get_timestamp();
  CrowdNmsStatus status = CROWD_NMS_OK;
  if (on_gpu) {
    const CudaDevice::Current current(device_);
    if (!current)
      return fail_without_context();
    status = library_.session_run(sessions.gpu.get(), &config.params, &call.input, &call.output);
  } else {
    status = library_.session_run(sessions.cpu.get(), &config.params, &call.input, &call.output);
  }
  result.time = gst_util_get_timestamp() - start;
  result.backend = on_gpu ? CROWD_NMS_BACKEND_CUDA : CROWD_NMS_BACKEND_CPU;
  return status == CROWD_NMS_OK ? status : fail(status);
}

void Backends::lose_gpu() {
  no_gpu_reason_ = problem_;
  free_on_gpu(one_.gpu);
  free_on_gpu(many_.gpu);
}

CrowdNmsStatus Backends::run_call(const Config& config, const Sessions& sessions, const Call& call, Result& result) {
  const bool on_gpu = sessions.gpu && (config.backend == BackendChoice::cuda || call.total >= gpu_crossover);
  const CrowdNmsStatus status = run_session(config, on_gpu, sessions, call, result);
  if (status == CROWD_NMS_OK || !on_gpu || config.backend != BackendChoice::automatic)
    return status;
  const bool refused = status == CROWD_NMS_UNSUPPORTED || status == CROWD_NMS_INVALID_ARGUMENT;
  result.gpu = refused ? GpuOutcome::refused : GpuOutcome::lost;
  if (!refused)
    lose_gpu();
  return run_session(config, false, sessions, call, result);
}

CrowdNmsStatus Backends::run(const Config& config, const meta::Candidates& candidates, std::uint32_t max_survivors,
                             bool with_representatives, Result& result) {
  const auto n = static_cast<std::uint32_t>(candidates.boxes.size());
  Call call{};
  call.input.boxes = candidates.boxes.data();
  call.input.scores = candidates.scores.data();
  call.input.classes = candidates.classes.data();
  call.input.densities = candidates.densities.data();
  call.input.proposals = candidates.proposals.data();
  call.input.visible = candidates.visible.data();
  call.input.features = candidates.features.data();
  call.input.feature_length = candidates.feature_length;
  call.input.models = candidates.models.data();
  call.input.counts = &candidates.count;
  call.input.frames = 1;
  call.input.capacity = n;
  call.total = n;
  call.output = output_of(config, call.input, max_survivors, with_representatives, &result.report);
  const CrowdNmsStatus status = run_call(config, one_, call, result);
  if (status == CROWD_NMS_OK)
    fill_verdict(call, 0, n, result);
  return status;
}

}  // namespace crowd
