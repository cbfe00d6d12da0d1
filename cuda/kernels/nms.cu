// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowd_nms_cuda(): checks a call, carves the workspace and strings the stages together. No kernels.

#include <algorithm>
#include <cstdint>

#include "core/call.hpp"
#include "core/carver.hpp"
#include "core/failure.hpp"
#include "core/floating_point.hpp"
#include "kernels/frames.cuh"
#include "kernels/launch.cuh"
#include "kernels/tuning.hpp"

namespace crowd {

namespace {

constexpr std::size_t alignment = 256;
constexpr std::uint32_t max_capacity = tuning::staged_capacity;
constexpr std::uint32_t max_block = 1024;
#if defined(CROWD_NMS_STAGED_ONLY)
constexpr bool has_direct = false;  // a build of the tests: frames of every size take the staged path
#else
constexpr bool has_direct = true;
#endif

bool aligned(const void* pointer, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

CrowdNmsStatus check_hardware(const CrowdNmsParams& params, std::uint32_t frames, std::uint32_t capacity) {
  if (frames > tuning::max_grid_y)
    return fail(CROWD_NMS_UNSUPPORTED, "%u frames are more than one CUDA call takes (%u): split the batch", frames,
                tuning::max_grid_y);
  if (capacity > max_capacity)
    return fail(CROWD_NMS_UNSUPPORTED, "a capacity of %u is more than the CUDA backend takes (%u): lower it", capacity,
                max_capacity);
  if (params.method != CROWD_NMS_PAPER)
    return CROWD_NMS_OK;
  const std::uint64_t side = paper_side(params, capacity);
  if (side > paper_d_max_limit)
    return fail(CROWD_NMS_UNSUPPORTED,
                "method paper needs a matrix of %llu x %llu bytes: set paper_d_max to at most %u",
                static_cast<unsigned long long>(side), static_cast<unsigned long long>(side), paper_d_max_limit);
  if (side / params.paper_k > max_block)
    return fail(CROWD_NMS_UNSUPPORTED,
                "paper_d_max / paper_k is %llu threads a block, CUDA has at most %u: raise paper_k to %llu or more",
                static_cast<unsigned long long>(side / params.paper_k), max_block,
                static_cast<unsigned long long>((side + max_block - 1) / max_block));
  return CROWD_NMS_OK;
}

CrowdNmsStatus check_pointers(const CrowdNmsCandidates& candidates, const void* workspace, std::size_t bytes,
                              std::size_t needed) {
  if (bytes < needed)
    return fail(CROWD_NMS_WORKSPACE_TOO_SMALL, "the workspace has %zu bytes, this call needs %zu", bytes, needed);
  if (needed && (!workspace || !aligned(workspace, alignment)))
    return fail(CROWD_NMS_INVALID_ARGUMENT, "the workspace must be device memory aligned to %zu bytes", alignment);
  if (!aligned(candidates.boxes, sizeof(float4)))
    return fail(CROWD_NMS_INVALID_ARGUMENT, "boxes must be aligned to %zu bytes on the device", sizeof(float4));
  return CROWD_NMS_OK;
}

void launch_paper_method(const Call& call, std::byte* scratch) {
  launch_paper(call, scratch);
  launch_collect(call);
  launch_rank(call);
  launch_survivors(call);
  // Without the stages before, the lists it would walk are whatever the workspace held.
  if (call.error == cudaSuccess)
    launch_representatives(call);
}

bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(stream, &status) != cudaSuccess || status != cudaStreamCaptureStatusNone;
}

void launch(const Call& call, std::byte* workspace) {
  if (has_direct && launch_direct(call, Carver(workspace, alignment))) {
    // A device may refuse a launch of that shape, say for want of shared memory. The stages run on any; but a capture
    // that a launch failed in stays broken.
    if (call.error == cudaSuccess || is_captured(call.stream))
      return;
    (void)cudaGetLastError();
    call.error = cudaSuccess;
  }
  launch_staged(call, Carver(workspace, alignment));
}

std::size_t workspace_bytes(const CrowdNmsParams& params, std::uint32_t frames, std::uint32_t capacity) {
  if (params.method != CROWD_NMS_PAPER)
    return std::max(direct_bytes(frames, capacity, alignment), staged_bytes(frames, capacity, alignment));
  Carver carver(nullptr, alignment);
  take_paper_scratch(carver, frames, capacity);
  return carver.bytes() + paper_scratch_bytes(paper_side(params, capacity));
}

// Not inlined, see FloatingPointModes.
[[gnu::noinline]] CrowdNmsStatus run_call(const CrowdNmsParams* params, const CrowdNmsCandidates* candidates,
                                          const CrowdNmsSurvivors* survivors, void* workspace, std::size_t bytes,
                                          cudaStream_t stream) {
  if (const CrowdNmsStatus status = check_call(params, candidates, survivors); status != CROWD_NMS_OK)
    return status;
  const std::uint32_t frames = candidates->frames;
  const std::uint32_t capacity = candidates->capacity;
  if (const CrowdNmsStatus status = check_hardware(*params, frames, capacity); status != CROWD_NMS_OK)
    return status;
  if (!frames)
    return CROWD_NMS_OK;
  const std::size_t needed = workspace_bytes(*params, frames, capacity);
  if (const CrowdNmsStatus status = check_pointers(*candidates, workspace, bytes, needed); status != CROWD_NMS_OK)
    return status;

  Carver carver(workspace, alignment);
  const bool paper = params->method == CROWD_NMS_PAPER;
  const auto side = static_cast<std::uint32_t>(paper ? paper_side(*params, capacity) : capacity);
  const Frames batch{reinterpret_cast<const float4*>(candidates->boxes),
                     candidates->scores,
                     candidates->classes,
                     candidates->offsets,
                     candidates->counts,
                     capacity,
                     side < capacity ? side : capacity};
  const PaperScratch scratch = paper ? take_paper_scratch(carver, frames, capacity) : PaperScratch{};
  const Call call{*params, batch, frames, *survivors, scratch, stream};
  if (paper)
    launch_paper_method(call, static_cast<std::byte*>(workspace) + carver.bytes());
  else
    launch(call, static_cast<std::byte*>(workspace));
  return status_of(call, "launching the kernels");
}

}  // namespace

}  // namespace crowd

using namespace crowd;

size_t crowd_nms_cuda_workspace_bytes(const CrowdNmsParams* params, uint32_t frames, uint32_t capacity) {
  if (crowd_nms_params_check(params) != CROWD_NMS_OK || check_hardware(*params, frames, capacity) != CROWD_NMS_OK)
    return 0;
  if (!total_fits(frames, capacity)) {
    fail(CROWD_NMS_INVALID_ARGUMENT, "%u frames of %u candidates are more than a call holds", frames, capacity);
    return 0;
  }
  return workspace_bytes(*params, frames, capacity);
}

CrowdNmsStatus crowd_nms_cuda(const CrowdNmsParams* params, const CrowdNmsCandidates* candidates,
                              const CrowdNmsSurvivors* survivors, void* workspace, size_t bytes, CUstream_st* stream) {
  // The rule is made of the params on the host.
  const FloatingPointModes modes;
  return run_call(params, candidates, survivors, workspace, bytes, stream);
}

CrowdNmsStatus crowd_nms_cuda_probe(void) {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaSuccess && devices > 0)
    return CROWD_NMS_OK;
  (void)cudaGetLastError();
  return fail(CROWD_NMS_NO_GPU, "no usable CUDA device (%s): install an NVIDIA driver, or use the CPU backend",
              error == cudaSuccess ? "none found" : cudaGetErrorString(error));
}
