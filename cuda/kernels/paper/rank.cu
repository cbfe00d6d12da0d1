// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Ranking by counting: a candidate's rank is the number of better keys in its list. No sort, no host step, and as
// parallel as the pairs are.

#include "kernels/frames.cuh"
#include "kernels/launch.cuh"
#include "kernels/tuning.hpp"

namespace crowd {

namespace {

constexpr unsigned warp_size = 32;
constexpr unsigned warps = tuning::warp_block / warp_size;
constexpr unsigned items_per_warp = 4;
constexpr unsigned items_per_block = warps * items_per_warp;

__device__ void place(const Frames& frames, const PaperScratch& scratch, std::uint32_t frame, std::uint32_t rank,
                      std::uint32_t i) {
  const std::size_t slot = frames.slot(frame);
  scratch.ranked_index[slot + rank] = i;
  scratch.ranked_key[slot + rank] = scratch.key[slot + i];
  scratch.ranked_box[slot + rank] = frames.boxes[frames.input(frame) + i];
  scratch.members[slot + rank] = 0;
}

__global__ void __launch_bounds__(tuning::warp_block) rank_by_count(Frames frames, PaperScratch scratch) {
  __shared__ std::uint64_t other_keys[tuning::warp_block];
  const std::uint32_t frame = blockIdx.y;
  const PaperLists& list = scratch.survivors;
  const std::uint32_t length = list.size[frame];
  const std::uint32_t first = blockIdx.x * items_per_block;
  if (first >= length)
    return;
  const std::size_t slot = frames.slot(frame);
  const unsigned lane = threadIdx.x % warp_size;
  const std::uint32_t mine = first + threadIdx.x / warp_size * items_per_warp;

  std::uint32_t index[items_per_warp];
  std::uint64_t key[items_per_warp];
  std::uint32_t better[items_per_warp] = {};
  for (unsigned k = 0; k < items_per_warp; ++k) {
    index[k] = list.index[slot + min(mine + k, length - 1)];
    key[k] = scratch.key[slot + index[k]];
  }
  for (std::uint32_t base = 0; base < length; base += tuning::warp_block) {
    const std::uint32_t position = base + threadIdx.x;
    other_keys[threadIdx.x] = position < length ? scratch.key[slot + list.index[slot + position]] : 0;
    __syncthreads();
    for (unsigned column = lane; column < tuning::warp_block; column += warp_size) {
      const std::uint64_t other = other_keys[column];
      for (unsigned k = 0; k < items_per_warp; ++k)
        better[k] += other > key[k];
    }
    __syncthreads();
  }
  for (unsigned k = 0; k < items_per_warp; ++k) {
    std::uint32_t rank = better[k];
    for (unsigned step = warp_size / 2; step; step /= 2)
      rank += __shfl_xor_sync(0xffffffffu, rank, step);
    if (lane == k && mine + k < length)
      place(frames, scratch, frame, rank, index[k]);
  }
}

}  // namespace

void launch_rank(const Call& call) {
  const std::uint32_t blocks = ceil_div(call.frames.capacity, items_per_block);
  launch_after(rank_by_count, call, call.grid(blocks), tuning::warp_block, call.frames, call.scratch);
}

}  // namespace crowd
