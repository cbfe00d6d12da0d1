// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowd_nms_cuda_gather(): copies the survivors' boxes, scores and classes on the device. Boxes and scores
// that the call wrote, merged ones say, take the place of the candidates'.

#include "core/call.hpp"
#include "core/failure.hpp"
#include "kernels/launch.cuh"

namespace crowd {

namespace {

constexpr unsigned gather_threads = 128;

struct Gather {
  Frames frames;
  std::uint32_t frame_count;
  CrowdNmsSurvivors survivors;
  CrowdNmsGathered out;
};

__device__ void add(CrowdNmsTotals& totals, const CrowdNmsReport& report) {
  totals.frames += 1;
  totals.candidates += report.candidates;
  totals.overflow += report.overflow;
  totals.invalid += report.invalid;
  totals.below_threshold += report.below_threshold;
  totals.survivors += report.survivors;
  totals.clipped += report.clipped;
  totals.last = report;
}

// By one thread: sums in a fixed order of frames.
__device__ void add_totals(const Gather& call) {
  CrowdNmsTotals totals = *call.out.totals;
  for (std::uint32_t f = 0; f < call.frame_count; ++f)
    add(totals, call.survivors.reports[f]);
  *call.out.totals = totals;
  if (call.out.totals_copy)
    *call.out.totals_copy = totals;
}

__device__ void add_sizes(const Gather& call, std::uint32_t frame, const CrowdNmsReport& report) {
  call.out.counts[frame] = report.survivors - report.clipped;
  if (call.out.candidates)
    call.out.candidates[frame] = report.candidates;
  if (call.out.reports)
    call.out.reports[frame] = report;
  if (frame == 0 && call.out.totals)
    add_totals(call);
}

__global__ void __launch_bounds__(gather_threads) gather_survivors(Gather call) {
  pdl_wait();
  const std::uint32_t frame = blockIdx.y;
  const std::uint32_t rank = blockIdx.x * gather_threads + threadIdx.x;
  const CrowdNmsReport report = call.survivors.reports[frame];
  if (rank == 0)
    add_sizes(call, frame, report);
  if (rank >= report.survivors - report.clipped)
    return;
  const std::size_t at = static_cast<std::size_t>(frame) * call.survivors.max_survivors + rank;
  const std::size_t from = call.frames.input(frame) + call.survivors.survivors[at];
  const CrowdNmsSurvivors& own = call.survivors;
  reinterpret_cast<float4*>(call.out.boxes)[at] =
      own.boxes ? reinterpret_cast<const float4*>(own.boxes)[at] : call.frames.boxes[from];
  call.out.scores[at] = own.scores ? own.scores[at] : call.frames.scores[from];
  if (call.out.classes)
    call.out.classes[at] = call.frames.classes ? call.frames.classes[from] : 0;
  if (call.out.members)
    call.out.members[at] = call.survivors.members[at];
}

bool aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % sizeof(float4) == 0;
}

CrowdNmsStatus check(const CrowdNmsCandidates* candidates, const CrowdNmsSurvivors* survivors,
                     const CrowdNmsGathered* gathered) {
  if (const CrowdNmsStatus status = check_arrays(candidates, survivors); status != CROWD_NMS_OK)
    return status;
  const bool wanted = candidates->frames && survivors->max_survivors;
  if (!gathered || (candidates->frames && !gathered->counts) || (wanted && (!gathered->boxes || !gathered->scores)))
    return fail(CROWD_NMS_INVALID_ARGUMENT, "gathered must have boxes, scores and counts");
  if (gathered && !all_zero(gathered->reserved))
    return fail(CROWD_NMS_INVALID_ARGUMENT, reserved_is_set, "gathered");
  if (gathered->members && !survivors->members)
    return fail(CROWD_NMS_INVALID_ARGUMENT, "members can be gathered only if survivors has them");
  if (gathered->totals_copy && !gathered->totals)
    return fail(CROWD_NMS_INVALID_ARGUMENT, "totals_copy is a copy of totals: give both, or none");
  if (!aligned(candidates->boxes) || !aligned(survivors->boxes) || !aligned(gathered->boxes))
    return fail(CROWD_NMS_INVALID_ARGUMENT, "boxes must be aligned to %zu bytes on the device", sizeof(float4));
  if (candidates->frames > tuning::max_grid_y)
    return fail(CROWD_NMS_UNSUPPORTED, "%u frames are more than one CUDA call takes (%u): split the batch",
                candidates->frames, tuning::max_grid_y);
  return CROWD_NMS_OK;
}

}  // namespace

}  // namespace crowd

using namespace crowd;

CrowdNmsStatus crowd_nms_cuda_gather(const CrowdNmsCandidates* candidates, const CrowdNmsSurvivors* survivors,
                                     const CrowdNmsGathered* gathered, CUstream_st* stream) {
  if (const CrowdNmsStatus status = check(candidates, survivors, gathered); status != CROWD_NMS_OK)
    return status;
  if (!candidates->frames)
    return CROWD_NMS_OK;
  const Frames frames{reinterpret_cast<const float4*>(candidates->boxes),
                      candidates->scores,
                      candidates->classes,
                      candidates->offsets,
                      candidates->counts,
                      candidates->capacity,
                      candidates->capacity};
  Call call{};
  call.stream = stream;
  const std::uint32_t blocks = ceil_div(survivors->max_survivors, gather_threads);
  launch_pdl(gather_survivors, call, {{blocks ? blocks : 1, candidates->frames, 1}, gather_threads},
             Gather{frames, candidates->frames, *survivors, *gathered});
  return status_of(call, "launching the gathering of survivors");
}
