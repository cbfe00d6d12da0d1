// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "frames.cuh"
#include "tuning.hpp"

namespace crowd {

namespace {

__global__ void prepare(Frames frames, Scratch scratch, float score_threshold, float offset) {
  const std::uint32_t frame = blockIdx.y;
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= frames.size(frame))
    return;
  const float4 b = frames.boxes[frames.input(frame) + i];
  const float score = frames.scores[frames.input(frame) + i];
  State state = undecided;
  if (score != score || !is_well_formed({b.x, b.y, b.z, b.w}, offset))
    state = invalid;
  else if (score < score_threshold)
    state = below_threshold;
  scratch.key[frames.slot(frame) + i] = rank_key(score, i);
  scratch.state[frames.slot(frame) + i] = state;
}

}  // namespace

void launch_prepare(const Call& call) {
  const std::uint32_t blocks = ceil_div(call.frames.capacity, tuning::warp_block);
  prepare<<<call.grid(blocks), tuning::warp_block, 0, call.stream>>>(
      call.frames, call.scratch, call.params.score_threshold, static_cast<float>(call.params.pixel_offset));
}

}  // namespace crowd
