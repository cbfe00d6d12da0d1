// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which candidates the lanes of stage five look through windows for.
#pragma once

#include "kernels/staged/staged.cuh"

namespace crowd::CROWD_STAGED {

/// The candidate of a group of lanes. Groups beyond the last candidate repeat that one, but do not write.
struct Assignment {
  std::uint32_t place;
  bool writes;
};

template <unsigned shared_by>
struct AssignShared {
  static constexpr unsigned candidates = threads / shared_by;

  std::uint32_t extent[candidates];
  std::uint8_t order[candidates];
};

/// Assigns a block's candidates to its lanes in order of the size of their windows, so that those of a warp take about
/// as long. Those that are dropped come first.
template <unsigned shared_by>
__device__ Assignment assign(const Stage& stage, AssignShared<shared_by>& shared) {
  constexpr unsigned candidates = AssignShared<shared_by>::candidates;
  const std::uint32_t first = blockIdx.x * candidates;
  const std::uint32_t size = stage.size();
  if (threadIdx.x < candidates) {
    const std::uint32_t at = min(first + threadIdx.x, size - 1);
    const float4 b = stage.a.arrays.box[stage.slot + at];
    const bool dropped = is_stripped(stage.a.arrays.key[stage.slot + at]);
    const Grid& grid = stage.scale().grid;
    const float w = width(b, stage.a.rule.overlap.offset) * grid.per_x;
    const float h = height(b, stage.a.rule.overlap.offset) * grid.per_y;
    // As an integer with the thread's number in the last bits, so that all differ.
    shared.extent[threadIdx.x] = (dropped ? 0 : __float_as_uint((w + 1) * (h + 1)) & ~(candidates - 1)) | threadIdx.x;
  }
  __syncthreads();
  if (threadIdx.x < candidates) {
    const std::uint32_t mine = shared.extent[threadIdx.x];
    std::uint32_t smaller = 0;
#pragma unroll 16
    for (unsigned other = 0; other < candidates; ++other)
      smaller += shared.extent[other] < mine;
    shared.order[smaller] = static_cast<std::uint8_t>(threadIdx.x);
  }
  __syncthreads();
  const std::uint32_t place = first + shared.order[threadIdx.x / shared_by];
  return {min(place, size - 1), place < size && threadIdx.x % shared_by == 0};
}

}  // namespace crowd::CROWD_STAGED
