// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Oro et al. 2020, Algorithms 1 (MAPKERNEL) and 2 (REDUCEKERNEL), as written: the matrix B of D_max x D_max bytes, all
// ones at first, k partitions of a row, D_max / k threads a block.

#include "core/call.hpp"
#include "core/carver.hpp"
#include "core/order.hpp"
#include "core/paper_rule.hpp"
#include "kernels/frames.cuh"
#include "kernels/launch.cuh"
#include "kernels/tuning.hpp"

namespace crowd {

namespace {

struct PaperSlots {
  float4* box;
  float* score;
  std::uint8_t* b;  ///< B, row-major
  std::uint32_t d_max;
};

PaperSlots take_slots(Carver& carver, std::uint64_t side) {
  return {carver.take<float4>(side), carver.take<float>(side), carver.take<std::uint8_t>(side * side),
          static_cast<std::uint32_t>(side)};
}

// The vector D: the frame's candidates, then empty values.
__global__ void fill_slots(Frames frames, PaperScratch scratch, PaperSlots slots, std::uint32_t frame) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= slots.d_max)
    return;
  const bool used = i < frames.size(frame);
  slots.box[i] = used ? frames.boxes[frames.input(frame) + i] : float4{0, 0, 0, 0};
  slots.score[i] = used ? frames.scores[frames.input(frame) + i] : 0.0f;
  if (used)
    scratch.key[frames.slot(frame) + i] = rank_key(slots.score[i], i);
}

__global__ void map(PaperSlots slots, float threshold) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= slots.d_max || j >= slots.d_max || !(slots.score[i] < slots.score[j]))
    return;
  const float4 a = slots.box[i];
  const float4 b = slots.box[j];
  slots.b[static_cast<std::size_t>(i) * slots.d_max + j] =
      paper_keeps({a.x, a.y, a.z, a.w}, {b.x, b.y, b.z, b.w}, threshold);
}

__global__ void reduce(Frames frames, PaperScratch scratch, PaperSlots slots, std::uint32_t k, std::uint32_t frame) {
  const std::uint32_t i = blockIdx.x;
  const std::uint32_t n = slots.d_max / k;
  std::size_t j = static_cast<std::size_t>(i) * slots.d_max + threadIdx.x;
  int v = __syncthreads_and(slots.b[j]);
  for (std::uint32_t partition = 1; partition < k; ++partition) {
    j += n;
    v = __syncthreads_and(v && slots.b[j]);
  }
  if (threadIdx.x == 0 && i < frames.size(frame))
    scratch.kept[frames.slot(frame) + i] = static_cast<std::uint32_t>(v != 0);
}

}  // namespace

std::size_t paper_scratch_bytes(std::uint64_t side) {
  Carver carver(nullptr, 256);
  take_slots(carver, side);
  return carver.bytes();
}

void launch_paper(const Call& call, std::byte* scratch) {
  const std::uint64_t side = paper_side(call.params, call.frames.capacity);
  const std::uint32_t k = call.params.paper_k;
  Carver carver(scratch, 256);
  const PaperSlots slots = take_slots(carver, side);
  const std::uint32_t tiles = ceil_div(slots.d_max, tuning::paper_tile);
  for (std::uint32_t frame = 0; frame < call.frame_count; ++frame) {
    launch_after(fill_slots, call, ceil_div(slots.d_max, tuning::warp_block), tuning::warp_block, call.frames,
                 call.scratch, slots, frame);
    call.note(cudaMemsetAsync(slots.b, 1, side * side, call.stream));
    launch_after(map, call, dim3(tiles, tiles), dim3(tuning::paper_tile, tuning::paper_tile), slots,
                 paper_threshold(call.params));
    launch_after(reduce, call, slots.d_max, slots.d_max / k, call.frames, call.scratch, slots, k, frame);
  }
}

}  // namespace crowd
