// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Neighbours next to each other: candidates by cell of a grid over the frame, cells in Morton order, so that a tile of
// a list is a small patch of the plane and most pairs of tiles need no test. One block per frame counts and scatters.
// The order within a cell is left to chance; no result depends on the order of a list.

#include <cub/block/block_scan.cuh>

#include "frames.cuh"
#include "tuning.hpp"

namespace crowd {

namespace {

constexpr unsigned side = tuning::bin_side;
constexpr unsigned cells = side * side;
constexpr unsigned cells_per_thread = cells / tuning::frame_block;
static_assert(cells % tuning::frame_block == 0 && (side & (side - 1)) == 0, "cells are shared out evenly");

using Scan = cub::BlockScan<std::uint32_t, tuning::frame_block>;

/// The smallest and the largest corner as integers that order as the floats do.
struct Bounds {
  std::uint32_t x1, y1, x2, y2;
};

__device__ unsigned cell_along(float at, float from, float to) {
  const float scaled = (at - from) / (to - from) * side;
  return scaled > 0 ? min(static_cast<unsigned>(min(scaled, 65536.0f)), side - 1) : 0;
}

// Every second bit, from the lowest on.
__device__ unsigned spread(unsigned v) {
  v = (v | v << 4) & 0x0f0fu;
  v = (v | v << 2) & 0x3333u;
  return (v | v << 1) & 0x5555u;
}

__device__ unsigned cell_of(const Bounds& bounds, float4 b) {
  return spread(cell_along(b.x, key_score(bounds.x1), key_score(bounds.x2))) |
         spread(cell_along(b.y, key_score(bounds.y1), key_score(bounds.y2))) << 1;
}

__device__ void measure(const Frames& frames, const Scratch& scratch, std::uint32_t frame, Bounds& bounds) {
  if (threadIdx.x == 0)
    bounds = {~0u, ~0u, 0, 0};
  __syncthreads();
  Bounds mine{~0u, ~0u, 0, 0};
  for (std::uint32_t i = threadIdx.x; i < frames.size(frame); i += tuning::frame_block) {
    if (scratch.state[frames.slot(frame) + i] != undecided)
      continue;
    const float4 b = frames.boxes[frames.input(frame) + i];
    const std::uint32_t x = score_key(b.x);
    const std::uint32_t y = score_key(b.y);
    mine = {min(mine.x1, x), min(mine.y1, y), max(mine.x2, x), max(mine.y2, y)};
  }
  atomicMin(&bounds.x1, mine.x1);
  atomicMin(&bounds.y1, mine.y1);
  atomicMax(&bounds.x2, mine.x2);
  atomicMax(&bounds.y2, mine.y2);
  __syncthreads();
}

__global__ void __launch_bounds__(tuning::frame_block) bin(Frames frames, Scratch scratch, Lists list) {
  __shared__ std::uint32_t start[cells];
  __shared__ Bounds bounds;
  __shared__ typename Scan::TempStorage temporary;
  const std::uint32_t frame = blockIdx.y;
  const std::size_t slot = frames.slot(frame);
  measure(frames, scratch, frame, bounds);
  for (unsigned c = threadIdx.x; c < cells; c += tuning::frame_block)
    start[c] = 0;
  __syncthreads();
  const auto each = [&](auto use) {
    for (std::uint32_t i = threadIdx.x; i < frames.size(frame); i += tuning::frame_block)
      if (scratch.state[slot + i] == undecided)
        use(i, cell_of(bounds, frames.boxes[frames.input(frame) + i]));
  };
  each([&](std::uint32_t, unsigned cell) { atomicAdd(&start[cell], 1u); });
  __syncthreads();
  std::uint32_t count[cells_per_thread];
  for (unsigned k = 0; k < cells_per_thread; ++k)
    count[k] = start[threadIdx.x * cells_per_thread + k];
  std::uint32_t total;
  Scan(temporary).ExclusiveSum(count, count, total);
  for (unsigned k = 0; k < cells_per_thread; ++k)
    start[threadIdx.x * cells_per_thread + k] = count[k];
  __syncthreads();
  each([&](std::uint32_t i, unsigned cell) { list.index[slot + atomicAdd(&start[cell], 1u)] = i; });
  if (threadIdx.x == 0)
    list.size[frame] = total;
}

// One block per tile of a list: the bounds of its boxes.
__global__ void __launch_bounds__(tuning::pair_tile) bound_tiles(Frames frames, Lists list) {
  __shared__ Bounds bounds;
  const std::uint32_t frame = blockIdx.y;
  const std::uint32_t position = blockIdx.x * tuning::pair_tile + threadIdx.x;
  const std::uint32_t length = list.length(frames, frame);
  if (position - threadIdx.x >= length)
    return;
  if (threadIdx.x == 0)
    bounds = {~0u, ~0u, 0, 0};
  __syncthreads();
  if (position < length) {
    const float4 b = frames.boxes[frames.input(frame) + list.at(frames, frame, position)];
    atomicMin(&bounds.x1, score_key(b.x));
    atomicMin(&bounds.y1, score_key(b.y));
    atomicMax(&bounds.x2, score_key(b.z));
    atomicMax(&bounds.y2, score_key(b.w));
  }
  __syncthreads();
  if (threadIdx.x == 0)
    list.bounds[static_cast<std::size_t>(frame) * gridDim.x + blockIdx.x] = {
        key_score(bounds.x1), key_score(bounds.y1), key_score(bounds.x2), key_score(bounds.y2)};
}

}  // namespace

void launch_bin(const Call& call, const Lists& list) {
  bin<<<call.grid(1), tuning::frame_block, 0, call.stream>>>(call.frames, call.scratch, list);
}

void launch_bounds(const Call& call, const Lists& list) {
  bound_tiles<<<call.grid(pair_tiles(call.frames.capacity)), tuning::pair_tile, 0, call.stream>>>(call.frames, list);
}

}  // namespace crowd
