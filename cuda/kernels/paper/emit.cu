// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Writes the outputs of method paper. They may be mapped host memory: written once, never read.

#include "core/paper_rule.hpp"
#include "kernels/frames.cuh"
#include "kernels/launch.cuh"
#include "kernels/tuning.hpp"

namespace crowd {

namespace {

constexpr unsigned warp_size = 32;

__global__ void write_survivors(Frames frames, PaperScratch scratch, CrowdNmsSurvivors out) {
  const std::uint32_t frame = blockIdx.y;
  const std::uint32_t rank = blockIdx.x * blockDim.x + threadIdx.x;
  if (rank >= min(scratch.survivors.size[frame], out.max_survivors))
    return;
  out.survivors[static_cast<std::size_t>(frame) * out.max_survivors + rank] =
      scratch.ranked_index[frames.slot(frame) + rank];
}

__global__ void write_members(Frames frames, PaperScratch scratch, CrowdNmsSurvivors out) {
  const std::uint32_t frame = blockIdx.y;
  const std::uint32_t rank = blockIdx.x * blockDim.x + threadIdx.x;
  if (rank >= min(scratch.survivors.size[frame], out.max_survivors))
    return;
  out.members[static_cast<std::size_t>(frame) * out.max_survivors + rank] = scratch.members[frames.slot(frame) + rank];
}

struct PaperCandidate {
  CrowdNmsBox box;
  std::uint64_t key;
  bool survives;
};

// Whether the survivor at `position` represents the candidate; positions are tried best first.
__device__ bool represents(const PaperScratch& scratch, std::size_t position, const PaperCandidate& candidate,
                           float threshold) {
  const std::uint64_t key = scratch.ranked_key[position];
  if (candidate.survives || key <= candidate.key)
    return key == candidate.key;
  const float4 b = scratch.ranked_box[position];
  // Equal scores never suppress each other.
  return key >> 32 != candidate.key >> 32 && !paper_keeps(candidate.box, as_box(b), threshold);
}

// One warp per candidate tries 32 survivors at a time.
__global__ void find_representatives(Frames frames, PaperScratch scratch, float threshold,
                                     std::uint32_t* representatives) {
  const std::uint32_t frame = blockIdx.y;
  const std::uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) / warp_size;
  const unsigned lane = threadIdx.x % warp_size;
  if (i >= frames.held(frame))
    return;
  const std::size_t slot = frames.slot(frame);
  if (i >= frames.size(frame)) {
    if (lane == 0 && representatives)
      representatives[slot + i] = CROWD_NMS_REJECTED;
    return;
  }
  const float4 b = frames.boxes[frames.input(frame) + i];
  const PaperCandidate candidate{as_box(b), scratch.key[slot + i], scratch.kept[slot + i] != 0};
  std::uint32_t representative = CROWD_NMS_NONE;
  const std::uint32_t survivors = scratch.survivors.size[frame];
  for (std::uint32_t base = 0; base < survivors; base += warp_size) {
    const bool hit = base + lane < survivors && represents(scratch, slot + base + lane, candidate, threshold);
    if (const unsigned hits = __ballot_sync(0xffffffffu, hit)) {
      const std::uint32_t rank = base + static_cast<std::uint32_t>(__ffs(static_cast<int>(hits))) - 1;
      representative = scratch.ranked_index[slot + rank];
      if (lane == 0)
        atomicAdd(&scratch.members[slot + rank], 1u);
      break;
    }
  }
  if (lane == 0 && representatives)
    representatives[slot + i] = representative;
}

}  // namespace

void launch_survivors(const Call& call) {
  if (call.out.max_survivors)
    launch_after(write_survivors, call, call.grid(ceil_div(call.frames.capacity, tuning::warp_block)),
                 tuning::warp_block, call.frames, call.scratch, call.out);
}

void launch_representatives(const Call& call) {
  if (!call.out.representatives && !call.out.members)
    return;
  const std::uint32_t capacity = call.frames.capacity;
  launch_after(find_representatives, call, call.grid(ceil_div(capacity, tuning::warp_block / warp_size)),
               tuning::warp_block, call.frames, call.scratch, paper_threshold(call.params), call.out.representatives);
  if (call.out.members && call.out.max_survivors)
    launch_after(write_members, call, call.grid(ceil_div(capacity, tuning::warp_block)), tuning::warp_block,
                 call.frames, call.scratch, call.out);
}

}  // namespace crowd
