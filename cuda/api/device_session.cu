// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A session on the GPU: candidates go up through one pinned block in one copy, the kernels write what was asked for
// straight into mapped pinned memory, and one event wait ends the call.

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include <cuda_runtime.h>

#include "api/cudamemory.hpp"
#include "api/device_session.hpp"
#include "core/carver.hpp"
#include "core/failure.hpp"
#include "core/model_weights.hpp"
#include "core/rules.hpp"
#include "kernels/backend.hpp"

namespace crowd {

namespace {

constexpr std::size_t alignment = 256;

CrowdNmsStatus failed(const char* what, cudaError_t error) {
  (void)cudaGetLastError();
  const CrowdNmsStatus status = error == cudaErrorMemoryAllocation ? CROWD_NMS_OUT_OF_MEMORY
                                : error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver
                                    ? CROWD_NMS_NO_GPU
                                    : CROWD_NMS_CUDA_ERROR;
  return fail(status, "%s failed: %s", what, cudaGetErrorString(error));
}

/// The arrays of a call in one block, the same on the host and on the device. Candidates of all frames lie end to end,
/// so that one copy of what is used moves them.
struct Inputs {
  CrowdNmsBox* boxes;
  float* scores;
  std::int32_t* classes;
  std::uint32_t* offsets;
  std::uint32_t* counts;
  std::uint32_t* models;
  std::byte* extras;  ///< what the rule reads
};

/// Room for what a rule reads of a candidate. Features may be longer, and lie in blocks of their own then.
constexpr std::size_t extra_room = sizeof(CrowdNmsBox);

RuleArray extras_of(const CrowdNmsParams& params, const CrowdNmsCandidates& candidates) {
  return reads_pairs(params) ? rule_array(Rules{}, params.rule, candidates) : RuleArray{};
}

Inputs take_inputs(Carver& carver, std::size_t total, std::uint32_t frames) {
  Inputs inputs;
  inputs.counts = carver.take<std::uint32_t>(frames);
  inputs.offsets = carver.take<std::uint32_t>(frames);
  inputs.boxes = carver.take<CrowdNmsBox>(total);
  inputs.scores = carver.take<float>(total);
  inputs.classes = carver.take<std::int32_t>(total);
  inputs.models = carver.take<std::uint32_t>(total);
  inputs.extras = carver.take<std::byte>(total * extra_room);
  return inputs;
}

struct Outputs {
  CrowdNmsReport* reports;
  std::uint32_t* survivors;
  std::uint32_t* members;
  std::uint32_t* representatives;
  CrowdNmsBox* boxes;
  float* scores;
};

Outputs take_outputs(Carver& carver, std::size_t total, std::uint32_t frames) {
  Outputs outputs;
  outputs.reports = carver.take<CrowdNmsReport>(frames);
  outputs.survivors = carver.take<std::uint32_t>(total);
  outputs.members = carver.take<std::uint32_t>(total);
  outputs.representatives = carver.take<std::uint32_t>(total);
  outputs.boxes = carver.take<CrowdNmsBox>(total);
  outputs.scores = carver.take<float>(total);
  return outputs;
}

std::uint32_t used(const CrowdNmsCandidates& candidates, std::uint32_t frame) {
  return candidates.counts ? std::min(candidates.counts[frame], candidates.capacity) : candidates.capacity;
}

/// The launch shape follows the capacity, so the fullest frame's is what the device is told.
std::uint32_t max_used(const CrowdNmsCandidates& candidates) {
  std::uint32_t max = 0;
  for (std::uint32_t f = 0; f < candidates.frames; ++f)
    max = std::max(max, used(candidates, f));
  return max;
}

std::size_t total_used(const CrowdNmsCandidates& candidates) {
  std::size_t total = 0;
  for (std::uint32_t f = 0; f < candidates.frames; ++f)
    total += used(candidates, f);
  return total;
}

std::size_t start(const CrowdNmsCandidates& candidates, std::uint32_t frame) {
  return candidates.offsets ? candidates.offsets[frame] : static_cast<std::size_t>(frame) * candidates.capacity;
}

class DeviceSession final : public Session {
 public:
  CrowdNmsStatus allocate(const CrowdNmsParams* params, std::uint32_t frames, std::uint32_t capacity) noexcept;
  CrowdNmsStatus run(const CrowdNmsParams& params, const CrowdNmsCandidates& candidates,
                     const CrowdNmsSurvivors& survivors) noexcept override;

 private:
  std::size_t pack(const CrowdNmsCandidates& candidates, const RuleArray& extras, bool with_classes, bool with_models,
                   Inputs& on_device) noexcept;
  CrowdNmsStatus make_feature_room(std::size_t needed) noexcept;
  CrowdNmsStatus wait() noexcept;
  void hand_over(const CrowdNmsCandidates& candidates, const CrowdNmsSurvivors& survivors, std::uint32_t room,
                 std::uint32_t fullest, const Outputs& outputs) noexcept;

  cuda::Stream stream_;
  cuda::Event done_;
  cuda::PinnedMemory staging_;
  cuda::DeviceMemory inputs_;
  cuda::PinnedMemory feature_staging_;  // once a call needed them
  cuda::DeviceMemory features_;
  std::size_t feature_bytes_ = 0;  // of each of the two
  cuda::PinnedMemory outputs_;
  cuda::DeviceMemory workspace_;
  std::size_t workspace_bytes_ = 0;
};

template <typename Owner>
CrowdNmsStatus reserve(Owner& owner, std::size_t bytes, const char* what) {
  const cudaError_t error = cuda::allocate(owner, bytes);
  return error == cudaSuccess ? CROWD_NMS_OK : failed(what, error);
}

CrowdNmsStatus DeviceSession::allocate(const CrowdNmsParams* params, std::uint32_t frames,
                                       std::uint32_t capacity) noexcept {
  workspace_bytes_ = session_bytes(CROWD_NMS_BACKEND_CUDA, params, frames, capacity);
  if (!workspace_bytes_ && frames && capacity)
    return CROWD_NMS_UNSUPPORTED;  // the reason is in the last error
  if (const cudaError_t error = cuda::allocate(stream_))
    return failed("creating a stream", error);
  if (const cudaError_t error = cuda::allocate(done_))
    return failed("creating an event", error);

  const std::size_t total = static_cast<std::size_t>(frames) * capacity;
  Carver inputs(nullptr, alignment);
  take_inputs(inputs, total, frames);
  Carver outputs(nullptr, alignment);
  take_outputs(outputs, total, frames);
  constexpr char pinned[] = "allocating pinned memory", device[] = "allocating device memory";
  CrowdNmsStatus status = reserve(staging_, inputs.bytes(), pinned);
  if (status == CROWD_NMS_OK)
    status = reserve(outputs_, outputs.bytes(), pinned);
  if (status == CROWD_NMS_OK)
    status = reserve(inputs_, inputs.bytes(), device);
  if (status == CROWD_NMS_OK)
    status = reserve(workspace_, workspace_bytes_, device);
  return status;
}

/// For a call whose features are longer than the room for them, which then doubles at least: it is made anew a few
/// times only. Nothing is under way between calls.
CrowdNmsStatus DeviceSession::make_feature_room(std::size_t needed) noexcept {
  if (needed <= feature_bytes_)
    return CROWD_NMS_OK;
  const std::size_t bytes = std::max(needed, 2 * feature_bytes_);
  feature_bytes_ = 0;
  CrowdNmsStatus status = reserve(feature_staging_, bytes, "allocating pinned memory for features");
  if (status == CROWD_NMS_OK)
    status = reserve(features_, bytes, "allocating device memory for features");
  if (status == CROWD_NMS_OK)
    feature_bytes_ = bytes;
  return status;
}

// Fills the staging blocks; returns the bytes to copy of the first one.
std::size_t DeviceSession::pack(const CrowdNmsCandidates& candidates, const RuleArray& extras, bool with_classes,
                                bool with_models, Inputs& on_device) noexcept {
  const std::size_t total = total_used(candidates);
  Carver host(staging_.get(), alignment);
  Inputs to = take_inputs(host, total, candidates.frames);
  Carver device(inputs_.get(), alignment);
  on_device = take_inputs(device, total, candidates.frames);
  const bool apart = extras.size > extra_room;
  const auto* const end_without_extras = with_models    ? to.extras
                                         : with_classes ? reinterpret_cast<const std::byte*>(to.models)
                                                        : reinterpret_cast<const std::byte*>(to.classes);
  if (apart) {
    to.extras = static_cast<std::byte*>(feature_staging_.get());
    on_device.extras = static_cast<std::byte*>(features_.get());
  }
  std::size_t at = 0;
  for (std::uint32_t f = 0; f < candidates.frames; ++f) {
    const std::uint32_t n = used(candidates, f);
    to.counts[f] = candidates.counts ? candidates.counts[f] : candidates.capacity;
    to.offsets[f] = static_cast<std::uint32_t>(at);
    if (n) {
      std::memcpy(to.boxes + at, candidates.boxes + start(candidates, f), n * sizeof(CrowdNmsBox));
      std::memcpy(to.scores + at, candidates.scores + start(candidates, f), n * sizeof(float));
      if (with_classes)
        std::memcpy(to.classes + at, candidates.classes + start(candidates, f), n * sizeof(std::int32_t));
      if (with_models)
        std::memcpy(to.models + at, candidates.models + start(candidates, f), n * sizeof(std::uint32_t));
      if (extras.size)
        std::memcpy(to.extras + at * extras.size,
                    static_cast<const std::byte*>(extras.array) + start(candidates, f) * extras.size, n * extras.size);
    }
    at += n;
  }
  if (!with_classes)
    on_device.classes = nullptr;
  if (extras.size && !apart)
    return host.bytes();
  return static_cast<std::size_t>(end_without_extras - static_cast<std::byte*>(staging_.get()));
}

CrowdNmsStatus DeviceSession::wait() noexcept {
  cudaError_t error = cudaEventRecord(done_.get(), stream_.get());
  if (error == cudaSuccess)
    error = cudaEventSynchronize(done_.get());
  return error == cudaSuccess ? CROWD_NMS_OK : failed("running NMS on the GPU", error);
}

void DeviceSession::hand_over(const CrowdNmsCandidates& candidates, const CrowdNmsSurvivors& survivors,
                              std::uint32_t room, std::uint32_t fullest, const Outputs& outputs) noexcept {
  for (std::uint32_t f = 0; f < candidates.frames; ++f) {
    CrowdNmsReport report = outputs.reports[f];
    const std::uint32_t written = std::min(report.survivors, room);
    const std::size_t from = static_cast<std::size_t>(f) * room;
    const std::size_t to = static_cast<std::size_t>(f) * survivors.max_survivors;
    if (written) {
      std::memcpy(survivors.survivors + to, outputs.survivors + from, written * sizeof(std::uint32_t));
      if (survivors.members)
        std::memcpy(survivors.members + to, outputs.members + from, written * sizeof(std::uint32_t));
      if (survivors.boxes)
        std::memcpy(survivors.boxes + to, outputs.boxes + from, written * sizeof(CrowdNmsBox));
      if (survivors.scores)
        std::memcpy(survivors.scores + to, outputs.scores + from, written * sizeof(float));
    }
    const std::size_t slot = static_cast<std::size_t>(f) * candidates.capacity;
    const std::uint32_t n = used(candidates, f);
    if (survivors.representatives && n)
      std::memcpy(survivors.representatives + slot, outputs.representatives + static_cast<std::size_t>(f) * fullest,
                  n * sizeof(std::uint32_t));
    survivors.reports[f] = report;
  }
}

CrowdNmsStatus DeviceSession::run(const CrowdNmsParams& params, const CrowdNmsCandidates& candidates,
                                  const CrowdNmsSurvivors& survivors) noexcept {
  if (!candidates.frames)
    return CROWD_NMS_OK;
  const bool with_classes = candidates.classes && (!params.class_agnostic || params.class_count || params.listed_only);
  const RuleArray extras = extras_of(params, candidates);
  const std::size_t feature_bytes = extras.size > extra_room ? total_used(candidates) * extras.size : 0;
  if (const CrowdNmsStatus status = make_feature_room(feature_bytes); status != CROWD_NMS_OK)
    return status;
  Inputs inputs;
  const std::size_t bytes = pack(candidates, extras, with_classes, reads_weights(params), inputs);
  cudaError_t error = cudaMemcpyAsync(inputs_.get(), staging_.get(), bytes, cudaMemcpyHostToDevice, stream_.get());
  if (error == cudaSuccess && feature_bytes)
    error =
        cudaMemcpyAsync(features_.get(), feature_staging_.get(), feature_bytes, cudaMemcpyHostToDevice, stream_.get());
  if (error != cudaSuccess)
    return failed("uploading candidates", error);

  // The caller may offer more room than there are candidates; the session's own room is the capacity.
  const std::uint32_t room = std::min(survivors.max_survivors, candidates.capacity);
  // D_max follows the capacity, and shapes the result.
  const std::uint32_t fullest = reads_d_max(params) ? candidates.capacity : max_used(candidates);
  Carver carver(outputs_.get(), alignment);
  const Outputs outputs =
      take_outputs(carver, static_cast<std::size_t>(candidates.frames) * candidates.capacity, candidates.frames);
  CrowdNmsCandidates on_device{};
  on_device.boxes = inputs.boxes;
  on_device.scores = inputs.scores;
  on_device.classes = inputs.classes;
  on_device.offsets = inputs.offsets;
  on_device.counts = inputs.counts;
  on_device.frames = candidates.frames;
  on_device.capacity = fullest;
  on_device.densities = reinterpret_cast<const float*>(inputs.extras);
  on_device.proposals = reinterpret_cast<const std::uint32_t*>(inputs.extras);
  on_device.visible = reinterpret_cast<const CrowdNmsBox*>(inputs.extras);
  on_device.features = reinterpret_cast<const float*>(inputs.extras);
  on_device.feature_length = candidates.feature_length;
  on_device.models = inputs.models;
  const CrowdNmsSurvivors mapped{outputs.survivors,
                                 survivors.members ? outputs.members : nullptr,
                                 survivors.representatives ? outputs.representatives : nullptr,
                                 outputs.reports,
                                 room,
                                 0,
                                 survivors.boxes ? outputs.boxes : nullptr,
                                 survivors.scores ? outputs.scores : nullptr,
                                 {}};
  if (const CrowdNmsStatus status =
          cuda::run_checked(params, on_device, mapped, workspace_.get(), workspace_bytes_, stream_.get());
      status != CROWD_NMS_OK)
    return status;
  if (const CrowdNmsStatus status = wait(); status != CROWD_NMS_OK)
    return status;
  hand_over(candidates, survivors, room, fullest, outputs);
  return CROWD_NMS_OK;
}

}  // namespace

CrowdNmsStatus make_device_session(const CrowdNmsParams* params, std::uint32_t frames, std::uint32_t capacity,
                                   std::unique_ptr<Session>& session) noexcept {
  if (const CrowdNmsStatus status = crowd_nms_cuda_probe(); status != CROWD_NMS_OK)
    return status;
  std::unique_ptr<DeviceSession> made(new (std::nothrow) DeviceSession);
  if (!made)
    return fail(CROWD_NMS_OUT_OF_MEMORY, "no memory for a session");
  if (const CrowdNmsStatus status = made->allocate(params, frames, capacity); status != CROWD_NMS_OK)
    return status;
  session = std::move(made);
  return CROWD_NMS_OK;
}

}  // namespace crowd
