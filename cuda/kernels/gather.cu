// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowd_nms_cuda_gather(): copies the survivors' boxes, scores and classes on the device. Boxes and scores
// that the call wrote, merged ones say, take the place of the candidates'.

#include "core/call.hpp"
#include "core/failure.hpp"
#include "kernels/backend.hpp"
#include "kernels/launch.cuh"

namespace crowd {

namespace {

constexpr unsigned gather_threads = 128;

struct Gather {
  Frames frames;
  std::uint32_t frame_count;
  CrowdNmsSurvivors survivors;
  Gathering to;
};

__global__ void __launch_bounds__(gather_threads) gather_survivors(Gather call) {
  pdl_wait();
  const std::uint32_t frame = blockIdx.y;
  const std::uint32_t rank = blockIdx.x * gather_threads + threadIdx.x;
  const CrowdNmsReport report = call.survivors.reports[frame];
  if (rank == 0) {
    gather_sizes(call.to, frame, report);
    if (frame == 0)
      add_to_totals(call.to, call.survivors.reports, call.frame_count);
  }
  if (rank >= report.survivors - report.clipped)
    return;
  const std::size_t at = static_cast<std::size_t>(frame) * call.survivors.max_survivors + rank;
  const CrowdNmsSurvivors& found = call.survivors;
  const std::size_t from = call.frames.input(frame) + found.survivors[at];
  store_survivor(call.to, at,
                 {found.boxes ? reinterpret_cast<const float4*>(found.boxes)[at] : call.to.boxes[from],
                  found.scores ? found.scores[at] : call.to.scores[from], call.to.label(from)});
  if (call.to.out.members)
    call.to.out.members[at] = found.members[at];
}

bool aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % sizeof(float4) == 0;
}

}  // namespace

CrowdNmsStatus cuda::check_gathered(const CrowdNmsCandidates* candidates, const CrowdNmsSurvivors* survivors,
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

}  // namespace crowd

using namespace crowd;

CrowdNmsStatus crowd_nms_cuda_gather(const CrowdNmsCandidates* candidates, const CrowdNmsSurvivors* survivors,
                                     const CrowdNmsGathered* gathered, CUstream_st* stream) {
  if (const CrowdNmsStatus status = cuda::check_gathered(candidates, survivors, gathered); status != CROWD_NMS_OK)
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
             Gather{frames, candidates->frames, *survivors, {frames.boxes, frames.scores, frames.classes, *gathered}});
  return status_of(call, "launching the gathering of survivors");
}
