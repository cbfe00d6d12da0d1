// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The parts of the fused kernel (fused.cu): one group of blocks takes a frame from candidates to survivors in one
// launch.
#pragma once

#include <cooperative_groups.h>

#include "frames.cuh"
#include "settle.cuh"
#include "tuning.hpp"

namespace crowd::fused {

constexpr unsigned threads = tuning::fused_block;
constexpr unsigned warp_size = 32;
constexpr unsigned warps = threads / warp_size;
constexpr unsigned all_lanes = 0xffffffffu;
static_assert(warps <= warp_size, "the warps' extents are joined by one warp");

/// How the blocks of a frame wait for each other.
enum class Barrier { block, cluster, grid };

struct Arguments {
  Frames frames;
  Scratch scratch;
  CrowdNmsSurvivors out;
  OverlapRule rule;
  float score_threshold;
  bool by_class;
  bool ranked_too;  ///< fill the ranked arrays for the stages behind
  unsigned group;   ///< blocks per frame, a power of two
  Barrier barrier;

  // The scratch arrays under the names they have here.
  __device__ std::uint32_t* verdicts() const {
    return scratch.pending.index;  // State after the first suppression
  }
  __device__ std::uint32_t* ranks() const {
    return scratch.pending_next.index;
  }
  __device__ std::uint32_t* edges() const {
    return reinterpret_cast<std::uint32_t*>(scratch.ranked_box);
  }
  __device__ std::uint32_t* edge_count() const {
    return scratch.pending.size;
  }
};

/// Edges a frame has room for, per candidate. Each is a pair of 16-bit indices: better-ranked high, worse-ranked low.
constexpr std::uint32_t edges_per_candidate = sizeof(float4) / sizeof(std::uint32_t);

/// The candidates a block looks at: everybody who may overlap one of those it judges.
struct Near {
  float4* box;
  std::uint32_t* key;
  std::int32_t* label;
  std::uint16_t* index;
  std::uint8_t* state;
};

/// A frame in a block's shared memory.
struct Frame {
  std::uint32_t* key;  ///< of every candidate: score_key(), 0 if it does not count
  Near near;
  std::uint16_t* home;  ///< those this block judges, as places in `near`
  std::uint32_t* hits;  ///< per home candidate a bit for each of `near` that beats it, as far as there is room
  std::uint32_t n;
  std::uint32_t index;  ///< of the frame in the batch
  std::uint32_t part;   ///< of the block in its group
  std::size_t slot;
};

constexpr std::size_t bytes_per_candidate = sizeof(float4) + 2 * sizeof(std::uint32_t) + sizeof(std::int32_t) +
                                            2 * sizeof(std::uint16_t) + sizeof(std::uint8_t);

/// Capacities are rounded up to this, so that keys can be read four at a time and every array is aligned.
constexpr std::uint32_t padding = 16;

CROWD_HD constexpr std::uint32_t padded(std::uint32_t capacity) {
  return (capacity + padding - 1) / padding * padding;
}

/// Bounds of boxes as integers that order as the floats do, so that a warp reduces them in one step each.
struct Extent {
  std::uint32_t x1, y1, x2, y2;
};

/// What the threads of a block share beside the frame.
struct Control {
  Extent partial[warps];
  std::uint32_t count[2];
  std::uint32_t total;
  std::uint32_t crowding[tuning::fused_group_max];
};

__device__ inline Extent empty_extent() {
  return {~0u, ~0u, 0, 0};
}

__device__ inline void widen(Extent& extent, float4 b) {
  extent.x1 = min(extent.x1, score_key(b.x));
  extent.y1 = min(extent.y1, score_key(b.y));
  extent.x2 = max(extent.x2, score_key(b.z));
  extent.y2 = max(extent.y2, score_key(b.w));
}

__device__ inline std::uint32_t warp_min(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(all_lanes, value);
#else
  for (unsigned step = warp_size / 2; step; step /= 2)
    value = min(value, __shfl_xor_sync(all_lanes, value, step));
  return value;
#endif
}

__device__ inline std::uint32_t warp_max(std::uint32_t value) {
  return ~warp_min(~value);
}

__device__ inline std::uint32_t warp_sum(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(all_lanes, value);
#else
  for (unsigned step = warp_size / 2; step; step /= 2)
    value += __shfl_xor_sync(all_lanes, value, step);
  return value;
#endif
}

__device__ inline Extent warp_join(const Extent& e) {
  return {warp_min(e.x1), warp_min(e.y1), warp_max(e.x2), warp_max(e.y2)};
}

/// The joint bounds of all threads' extents, in every thread. Ends without a barrier: one must come before the next.
__device__ inline float4 reduce_extent(Control& control, const Extent& mine) {
  const Extent of_warp = warp_join(mine);
  const unsigned lane = threadIdx.x % warp_size;
  if (lane == 0)
    control.partial[threadIdx.x / warp_size] = of_warp;
  __syncthreads();
  const Extent all = warp_join(lane < warps ? control.partial[lane] : empty_extent());
  return {key_score(all.x1), key_score(all.y1), key_score(all.x2), key_score(all.y2)};
}

/// The plane cut into one tile per block of the group. Column and row of a point are monotone in its coordinates, in
/// float arithmetic too.
struct Tiling {
  float x, y, per_x, per_y;
  unsigned columns, rows;

  __device__ static unsigned cell(float at, float from, float per, unsigned cells) {
    const float scaled = (at - from) * per;
    return scaled > 0 ? min(static_cast<unsigned>(min(scaled, 65536.0f)), cells - 1) : 0;
  }
  __device__ unsigned part(float4 b) const {
    return cell(b.y, y, per_y, rows) * columns + cell(b.x, x, per_x, columns);
  }
};

/// Tiles as square as powers of two allow: a queue of people along one axis is cut along that axis alone.
__device__ inline Tiling make_tiling(float4 bounds, unsigned group) {
  const float w = bounds.z - bounds.x;
  const float h = bounds.w - bounds.y;
  unsigned columns = 1;
  while (columns < group &&
         static_cast<float>(columns) * h * static_cast<float>(columns) < w * 0.5f * static_cast<float>(group))
    columns *= 2;
  const unsigned rows = group / columns;
  return {bounds.x, bounds.y, static_cast<float>(columns) / w, static_cast<float>(rows) / h, columns, rows};
}

__device__ inline bool meets(float4 a, float4 b, float offset) {
  return smaller(a.z, b.z) - larger(a.x, b.x) + offset > 0 && smaller(a.w, b.w) - larger(a.y, b.y) + offset > 0;
}

__device__ inline void group_sync(const Arguments& a) {
  if (a.barrier == Barrier::block)
    __syncthreads();
  else if (a.barrier == Barrier::grid)
    cooperative_groups::this_grid().sync();
#if __CUDA_ARCH__ >= 900
  else
    cooperative_groups::this_cluster().sync();
#endif
}

}  // namespace crowd::fused
