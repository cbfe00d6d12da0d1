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
#include "core/model_weights.hpp"
#include "kernels/backend.hpp"
#include "kernels/frames.cuh"
#include "kernels/launch.cuh"
#include "kernels/near.cuh"
#include "kernels/tuning.hpp"

namespace crowd {

namespace {

constexpr std::size_t alignment = workspace_alignment;
constexpr std::uint32_t max_block = 1024;
#if defined(CROWD_NMS_STAGED_ONLY)
constexpr bool has_direct = false;  // a build of the tests: frames of every size take the staged path
#else
constexpr bool has_direct = true;
#endif

bool aligned(const void* pointer, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

template <typename Row>
DeviceMethod device_method() {
  if constexpr (has_cuda<Row>)
    return Row::on_cuda();
  else
    return {};
}

// Null for a method that check_backend() refuses.
template <typename... Row>
DeviceMethod device_method(Table<Row...>, CrowdNmsMethod method) {
  constexpr DeviceMethod (*rows[])() = {device_method<Row>...};
  return rows[method]();
}

/// Checks that this backend can run the params, which are legal, at this size.
CrowdNmsStatus check_supported(const CrowdNmsParams& params, std::uint32_t frames, std::uint32_t capacity) {
  if (const CrowdNmsStatus status = check_backend(info_of(params.method), CROWD_NMS_BACKEND_CUDA);
      status != CROWD_NMS_OK)
    return status;
  if (frames > tuning::max_grid_y)
    return fail(CROWD_NMS_UNSUPPORTED, "%u frames are more than one CUDA call takes (%u): split the batch", frames,
                tuning::max_grid_y);
  const bool votes = reads_merge(params) && params.merge == CROWD_NMS_MERGE_VOTE;
  const std::uint32_t max_capacity = std::min(device_method(Methods{}, params.method).max_capacity,
                                              votes ? tuning::vote_capacity : tuning::staged_capacity);
  if (capacity > max_capacity)
    return fail(CROWD_NMS_UNSUPPORTED,
                "a capacity of %u is more than the CUDA backend takes in method %s%s (%u): lower it", capacity,
                info_of(params.method).name, votes ? " with merge vote" : "", max_capacity);
  if (!reads_d_max(params))
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
  if (!aligned(candidates.boxes, sizeof(float4)) || !aligned(candidates.visible, sizeof(float4)))
    return fail(CROWD_NMS_INVALID_ARGUMENT, "boxes must be aligned to %zu bytes on the device", sizeof(float4));
  return CROWD_NMS_OK;
}

bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(stream, &status) != cudaSuccess || status != cudaStreamCaptureStatusNone;
}

/// Whether the direct path may take the small frames of a call, and the stages the others.
bool may_take_both(std::uint32_t frames, std::uint32_t capacity) {
  return has_direct && capacity > tuning::direct_capacity && frames <= tuning::direct_with_room;
}

/// Whether the direct path takes the call's frames, or the small ones. A capacity says little where candidates are
/// counted on the device.
bool takes_direct(const Call& call) {
  const std::uint32_t capacity = call.frames.capacity;
  const bool small_ones = call.frames.counts && may_take_both(call.frame_count, capacity);
  return has_direct && capacity && (call.is_direct() || small_ones) && !reads_weights(call.params);
}

/// Whether the direct path's one pass takes the call, which asks only whether candidates have suppressors.
bool takes_one_pass(const Call& call) {
  const std::uint32_t capacity = call.frames.capacity;
  const bool fits = call.frames.counts ? capacity <= tuning::one_pass_capacity
                                       : capacity <= tuning::one_pass_filled && call.frame_count == 1;
  return fits && call.all_suppress && may_take_both(call.frame_count, capacity) && !call.out.representatives &&
         !call.out.members && !reads_weights(call.params) && bounded(pair_rule(call.rule(), false));
}

/// Where the stages' part of the workspace begins: behind the direct path's, if both may be launched.
std::size_t stages_begin(std::uint32_t frames, std::uint32_t capacity) {
  return may_take_both(frames, capacity) ? direct::workspace_bytes(frames, capacity, alignment) : 0;
}

std::size_t lists_bytes(const CrowdNmsParams& params, std::uint32_t frames, std::uint32_t capacity) {
  const std::size_t direct_bytes =
      capacity <= tuning::direct_capacity ? direct::workspace_bytes(frames, capacity, alignment) : 0;
  const std::size_t bytes =
      std::max(direct_bytes, stages_begin(frames, capacity) + staged::workspace_bytes(frames, capacity, alignment));
  // More frames need no less.
  return frames > tuning::direct_with_room ? std::max(bytes, lists_bytes(params, tuning::direct_with_room, capacity))
                                           : bytes;
}

/// Whether the direct path's launches were accepted. A device may refuse them, say for want of shared memory. Outside
/// of a capture that is forgotten, and other launches may follow; an error that is left is for good.
bool accepted_or_forgotten(Call& call) {
  // A capture that a launch failed in stays broken.
  if (call.error == cudaSuccess || is_captured(call.stream))
    return call.error == cudaSuccess;
  (void)cudaGetLastError();
  call.error = cudaSuccess;
  call.is_gathered = false;
  call.cleared = {};
  return false;
}

bool launch_one_pass(Call& call, bool rules, Carver carver) {
  (rules ? ruled_direct::launch_one_pass : direct::launch_one_pass)(call, carver);
  return accepted_or_forgotten(call);
}

bool launch_direct(Call& call, bool rules, Carver carver, Carver of_stages) {
  if (!call.is_direct())
    call.cleared = (rules ? ruled::cleared_words : staged::cleared_words)(call, of_stages);
  (rules ? ruled_direct::launch : direct::launch)(call, carver);
  return accepted_or_forgotten(call);
}

template <bool all_suppress>
void launch_lists(Call& call, std::byte* workspace) {
  call.all_suppress = all_suppress;
  const bool rules = reads_weights(call.params) || needs_pair_test(call.params) || needs_admission(call.params);
  const Carver of_direct(workspace, alignment);
  if ((takes_one_pass(call) && launch_one_pass(call, rules, of_direct)) || call.error != cudaSuccess)
    return;
  const std::uint32_t capacity = call.frames.capacity;
  const Carver of_stages(workspace + stages_begin(call.frame_count, capacity), alignment);
  const bool taken = takes_direct(call) && launch_direct(call, rules, of_direct, of_stages);
  if ((taken && call.is_direct()) || call.error != cudaSuccess)
    return;
  Call others = call;
  others.frames.over = taken ? tuning::direct_capacity : 0;
  (rules ? ruled::launch : staged::launch)(others, of_stages);
  call.note(others.error);
}

constexpr std::uint32_t max_unsorted = has_direct ? tuning::direct_capacity : 0;

template <Decay decay>
void launch_soft(Call& call, std::byte* workspace) {
  ruled::launch_soft<decay>(call, workspace, max_unsorted);
}

template <Decay decay>
void launch_matrix(Call& call, std::byte* workspace) {
  ruled::launch_matrix<decay>(call, workspace, max_unsorted);
}

std::size_t nmw_bytes(const CrowdNmsParams& params, std::uint32_t frames, std::uint32_t capacity) {
  return merging::nmw_bytes(frames, capacity) + lists_bytes(params, frames, capacity);
}

void launch_nmw(Call& call, std::byte* workspace) {
  merging::launch_nmw(call, workspace, launch_lists<false>);
}

std::size_t paper_bytes(const CrowdNmsParams& params, std::uint32_t frames, std::uint32_t capacity) {
  Carver carver(nullptr, alignment);
  take_paper_scratch(carver, frames, capacity);
  return carver.bytes() + paper_scratch_bytes(paper_side(params, capacity));
}

void launch_paper_method(Call& call, std::byte* workspace) {
  const std::uint32_t capacity = call.frames.capacity;
  Carver carver(workspace, alignment);
  call.scratch = take_paper_scratch(carver, call.frame_count, capacity);
  call.frames.limit = static_cast<std::uint32_t>(std::min<std::uint64_t>(paper_side(call.params, capacity), capacity));
  launch_paper(call, workspace + carver.bytes());
  launch_collect(call);
  launch_rank(call);
  launch_survivors(call);
  // Without the stages before, the lists it would walk are whatever the workspace held.
  if (call.error == cudaSuccess)
    launch_representatives(call);
}

std::size_t workspace_bytes(const CrowdNmsParams& params, std::uint32_t frames, std::uint32_t capacity) {
  return merging::workspace_bytes(params, frames, capacity) +
         device_method(Methods{}, params.method).workspace_bytes(params, frames, capacity);
}

// Not inlined, see FloatingPointModes.
[[gnu::noinline]] CrowdNmsStatus check_and_run(const CrowdNmsParams* params, const CrowdNmsCandidates* candidates,
                                               const CrowdNmsSurvivors* survivors, void* workspace, std::size_t bytes,
                                               cudaStream_t stream, const CrowdNmsGathered* gather = nullptr,
                                               bool* is_gathered = nullptr) {
  const CrowdNmsStatus status = check_call(params, candidates, survivors);
  return status == CROWD_NMS_OK
             ? cuda::run_checked(*params, *candidates, *survivors, workspace, bytes, stream, gather, is_gathered)
             : status;
}

}  // namespace

DeviceMethod Greedy::on_cuda() {
  return {lists_bytes, launch_lists<false>};
}

DeviceMethod MapReduce::on_cuda() {
  return {lists_bytes, launch_lists<true>};
}

DeviceMethod Paper::on_cuda() {
  return {paper_bytes, launch_paper_method};
}

DeviceMethod SoftLinear::on_cuda() {
  return {ruled::soft_bytes, launch_soft<Decay::linear>, tuning::soft_capacity};
}

DeviceMethod SoftGaussian::on_cuda() {
  return {ruled::soft_bytes, launch_soft<Decay::gaussian>, tuning::soft_capacity};
}

DeviceMethod MatrixLinear::on_cuda() {
  return {ruled::matrix_bytes, launch_matrix<Decay::linear>, tuning::soft_capacity};
}

DeviceMethod MatrixGaussian::on_cuda() {
  return {ruled::matrix_bytes, launch_matrix<Decay::gaussian>, tuning::soft_capacity};
}

DeviceMethod Nmw::on_cuda() {
  return {nmw_bytes, launch_nmw, tuning::nmw_capacity};
}

DeviceMethod Wbf::on_cuda() {
  return {ruled::fusion_bytes, ruled::launch_fusion, tuning::soft_capacity};
}

CrowdNmsStatus cuda::run_checked(const CrowdNmsParams& params, const CrowdNmsCandidates& candidates,
                                 const CrowdNmsSurvivors& survivors, void* workspace, std::size_t bytes,
                                 CUstream_st* stream, const CrowdNmsGathered* gather, bool* is_gathered) {
  const std::uint32_t frames = candidates.frames;
  const std::uint32_t capacity = candidates.capacity;
  if (const CrowdNmsStatus status = check_supported(params, frames, capacity); status != CROWD_NMS_OK)
    return status;
  if (!frames)
    return CROWD_NMS_OK;
  const std::size_t needed = workspace_bytes(params, frames, capacity);
  if (const CrowdNmsStatus status = check_pointers(candidates, workspace, bytes, needed); status != CROWD_NMS_OK)
    return status;
  const bool by_visible = reads_pairs(params) && params.rule == CROWD_NMS_VISIBLE;
  const Frames batch{reinterpret_cast<const float4*>(by_visible ? candidates.visible : candidates.boxes),
                     candidates.scores,
                     candidates.classes,
                     candidates.offsets,
                     candidates.counts,
                     capacity,
                     capacity};
  Call call{params, batch, frames, survivors, stream};
  call.whole = reinterpret_cast<const float4*>(candidates.boxes);
  call.rule_arrays = rule_arrays(candidates);
  if (gather)
    call.gathering = {call.whole, batch.scores, batch.classes, *gather};
  merging::launch(call, static_cast<std::byte*>(workspace), device_method(Methods{}, params.method).launch);
  if (gather)
    *is_gathered = call.is_gathered;
  return status_of(call, "launching the kernels");
}

}  // namespace crowd

using namespace crowd;

size_t crowd_nms_cuda_workspace_bytes(const CrowdNmsParams* params, uint32_t frames, uint32_t capacity) {
  if (crowd_nms_params_check(params) != CROWD_NMS_OK || check_supported(*params, frames, capacity) != CROWD_NMS_OK ||
      check_total(frames, capacity) != CROWD_NMS_OK)
    return 0;
  return workspace_bytes(*params, frames, capacity);
}

CrowdNmsStatus crowd_nms_cuda(const CrowdNmsParams* params, const CrowdNmsCandidates* candidates,
                              const CrowdNmsSurvivors* survivors, void* workspace, size_t bytes, CUstream_st* stream) {
  // The rule is made of the params on the host.
  const FloatingPointModes modes;
  return check_and_run(params, candidates, survivors, workspace, bytes, stream);
}

CrowdNmsStatus crowd_nms_cuda_and_gather(const CrowdNmsParams* params, const CrowdNmsCandidates* candidates,
                                         const CrowdNmsSurvivors* survivors, const CrowdNmsGathered* gathered,
                                         void* workspace, size_t bytes, CUstream_st* stream) {
  CrowdNmsStatus status = cuda::check_gathered(candidates, survivors, gathered);
  if (status != CROWD_NMS_OK)
    return status;
  bool is_gathered = false;
  {
    // The rule is made of the params on the host.
    const FloatingPointModes modes;
    status = check_and_run(params, candidates, survivors, workspace, bytes, stream, gathered, &is_gathered);
  }
  return status == CROWD_NMS_OK && !is_gathered ? crowd_nms_cuda_gather(candidates, survivors, gathered, stream)
                                                : status;
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
