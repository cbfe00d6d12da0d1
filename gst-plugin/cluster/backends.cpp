// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cluster/backends.hpp"

#include <algorithm>
#include <new>
#include <utility>

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

CrowdNmsStatus Backends::make(CrowdNmsBackend backend, const Config& config, Session& session) {
  CrowdNmsSession* made = nullptr;
  const CrowdNmsStatus status =
      library_.session_new(backend, shape_of(config).d_max ? &config.params : nullptr, 1, config.capacity, &made);
  session.reset(made);
  return status == CROWD_NMS_OK ? status : fail(status);
}

CrowdNmsStatus Backends::make_on_gpu(const Config& config, Session& session) {
  if (!library_.cuda_workspace_bytes(&config.params, 1, config.capacity)) {
    fail(CROWD_NMS_UNSUPPORTED);
    return library_.cuda_probe() == CROWD_NMS_OK ? CROWD_NMS_UNSUPPORTED : fail(CROWD_NMS_NO_GPU);
  }
  const CudaDevice::Current current(device_);
  if (!current)
    return fail_without_context();
  return make(CROWD_NMS_BACKEND_CUDA, config, session);
}

void Backends::free_on_gpu(Session& session) {
  if (!session)
    return;
  const CudaDevice::Current current(device_);
  session.reset();
}

// Never shrinks: what it was last prepared for has to fit until the new one is ready.
bool Backends::make_room(std::uint32_t capacity) {
  const std::size_t size = std::max<std::size_t>(capacity, places_.size());
  try {
    survivors_.resize(size);
    members_.resize(size);
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
  const Shape shape = shape_of(config);
  if (shape_ == shape)
    return CROWD_NMS_OK;
  if (const CrowdNmsStatus status = library_.params_check(&config.params); status != CROWD_NMS_OK)
    return fail(status);
  Session cpu(nullptr, library_.session_free), gpu(nullptr, library_.session_free);
  if (config.backend != BackendChoice::cuda) {
    if (const CrowdNmsStatus status = make(CROWD_NMS_BACKEND_CPU, config, cpu); status != CROWD_NMS_OK)
      return status;
  }
  if (!make_room(config.capacity)) {
    problem_ = "no memory for " + std::to_string(config.capacity) + " candidates";
    return CROWD_NMS_OUT_OF_MEMORY;
  }
  std::string no_gpu_reason;
  if (config.backend != BackendChoice::cpu) {
    const CrowdNmsStatus status = make_on_gpu(config, gpu);
    if (status != CROWD_NMS_OK && config.backend == BackendChoice::cuda)
      return status;
    if (status != CROWD_NMS_OK)
      no_gpu_reason = problem_;
  }
  close();
  cpu_ = std::move(cpu);
  gpu_ = std::move(gpu);
  no_gpu_reason_ = std::move(no_gpu_reason);
  shape_ = shape;
  return CROWD_NMS_OK;
}

void Backends::close() {
  free_on_gpu(gpu_);
  cpu_.reset();
  shape_.reset();
  no_gpu_reason_.clear();
}

void Backends::fill_places(const Result& result, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    places_[i] = representatives_[i] == CROWD_NMS_REJECTED ? meta::place_rejected : meta::place_suppressed;
  for (std::size_t rank = 0; rank < result.verdict.survivors.size(); ++rank)
    places_[survivors_[rank]] = static_cast<std::int32_t>(rank);
}

CrowdNmsStatus Backends::run_session(const Config& config, bool on_gpu, const CrowdNmsCandidates& input,
                                     const CrowdNmsSurvivors& output, Result& result) {
  const GstClockTime start = gst_util_get_timestamp();
  CrowdNmsStatus status = CROWD_NMS_OK;
  if (on_gpu) {
    const CudaDevice::Current current(device_);
    if (!current)
      return fail_without_context();
    status = library_.session_run(gpu_.get(), &config.params, &input, &output);
  } else {
    status = library_.session_run(cpu_.get(), &config.params, &input, &output);
  }
  result.time = gst_util_get_timestamp() - start;
  result.backend = on_gpu ? CROWD_NMS_BACKEND_CUDA : CROWD_NMS_BACKEND_CPU;
  return status == CROWD_NMS_OK ? status : fail(status);
}

void Backends::lose_gpu() {
  no_gpu_reason_ = problem_;
  free_on_gpu(gpu_);
}

CrowdNmsStatus Backends::run(const Config& config, const meta::Candidates& candidates, std::uint32_t max_survivors,
                             bool with_representatives, Result& result) {
  const auto n = static_cast<std::uint32_t>(candidates.boxes.size());
  const CrowdNmsCandidates input = {
      .boxes = candidates.boxes.data(),
      .scores = candidates.scores.data(),
      .classes = candidates.classes.data(),
      .offsets = nullptr,
      .counts = &candidates.count,
      .frames = 1,
      .capacity = n,
      .reserved = {},
  };
  const CrowdNmsSurvivors output = {
      .survivors = survivors_.data(),
      .members = members_.data(),
      .representatives = with_representatives ? representatives_.data() : nullptr,
      .reports = &result.report,
      .max_survivors = std::min(max_survivors, n),
      .flags = 0,
      .reserved = {},
  };
  if (with_representatives)
    std::fill_n(representatives_.begin(), n, CROWD_NMS_REJECTED);
  const bool on_gpu = gpu_ && (config.backend == BackendChoice::cuda || n >= gpu_crossover);
  CrowdNmsStatus status = run_session(config, on_gpu, input, output, result);
  if (status != CROWD_NMS_OK && on_gpu && config.backend == BackendChoice::automatic) {
    const bool refused = status == CROWD_NMS_UNSUPPORTED || status == CROWD_NMS_INVALID_ARGUMENT;
    result.gpu = refused ? GpuOutcome::refused : GpuOutcome::lost;
    if (!refused)
      lose_gpu();
    status = run_session(config, false, input, output, result);
  }
  if (status != CROWD_NMS_OK)
    return status;
  const std::size_t found = result.report.survivors - result.report.clipped;
  result.verdict = {.survivors = {survivors_.data(), found}, .members = {members_.data(), found}};
  if (with_representatives) {
    fill_places(result, n);
    result.verdict.representatives = {representatives_.data(), n};
    result.verdict.places = {places_.data(), n};
  }
  return CROWD_NMS_OK;
}

}  // namespace crowd
