// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the rounds leave undecided, settled exactly by one block per frame.

#include "settle.cuh"

namespace crowd {

namespace {

__global__ void __launch_bounds__(tuning::frame_block)
    settle(Frames frames, Scratch scratch, Lists list, OverlapRule rule, bool by_class) {
  __shared__ Chunk chunk;
  const std::uint32_t frame = blockIdx.y;
  const std::size_t slot = frames.slot(frame);
  const Residue residue{scratch.ranked_box + slot, scratch.ranked_class + slot, scratch.gone + slot,
                        list.length(frames, frame)};
  settle_residue(chunk, residue, rule, by_class, [&](std::uint32_t position, bool survives) {
    scratch.state[slot + scratch.ranked_index[slot + position]] = survives ? kept : dead;
  });
}

}  // namespace

void launch_settle(const Call& call, const Lists& list) {
  settle<<<call.grid(1), tuning::frame_block, 0, call.stream>>>(call.frames, call.scratch, list, call.rule(),
                                                                call.by_class());
}

}  // namespace crowd
