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
    return scratch.pending.index;
  }  ///< State after the first suppression
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

/// A frame in a block's shared memory.
struct Frame {
  float4* box;
  std::uint32_t* key;  ///< score_key(), 0 if the candidate does not count
  std::int32_t* label;
  std::uint16_t* home;  ///< candidates this block judges
  std::uint16_t* halo;  ///< every candidate that may overlap one of them
  std::uint32_t n;
  std::uint32_t index;  ///< of the frame in the batch
  std::uint32_t part;   ///< of the block in its group
  std::size_t slot;
};

constexpr std::size_t bytes_per_candidate =
    sizeof(float4) + sizeof(std::uint32_t) + sizeof(std::int32_t) + 2 * sizeof(std::uint16_t);

/// Capacities are rounded up to this, so that keys can be read four at a time.
constexpr std::uint32_t padding = 4;

CROWD_HD constexpr std::uint32_t padded(std::uint32_t capacity) {
  return (capacity + padding - 1) / padding * padding;
}

struct Extent {
  float x1, y1, x2, y2;
};

/// What the threads of a block share beside the frame.
struct Control {
  Extent partial[warps];
  Extent extent;
  std::uint32_t count[2];
  std::uint32_t total;
  std::uint32_t crowding[tuning::fused_group_max];
};

__device__ inline Extent empty_extent() {
  return {INFINITY, INFINITY, -INFINITY, -INFINITY};
}

__device__ inline Extent join(const Extent& a, const Extent& b) {
  return {smaller(a.x1, b.x1), smaller(a.y1, b.y1), larger(a.x2, b.x2), larger(a.y2, b.y2)};
}

/// The joint extent of all threads' extents, in every thread.
__device__ inline Extent reduce_extent(Control& control, Extent mine) {
  for (unsigned step = warp_size / 2; step; step /= 2)
    mine = join(mine, {__shfl_xor_sync(all_lanes, mine.x1, step), __shfl_xor_sync(all_lanes, mine.y1, step),
                       __shfl_xor_sync(all_lanes, mine.x2, step), __shfl_xor_sync(all_lanes, mine.y2, step)});
  if (threadIdx.x % warp_size == 0)
    control.partial[threadIdx.x / warp_size] = mine;
  __syncthreads();
  Extent all = control.partial[0];
  for (unsigned w = 1; w < warps; ++w)
    all = join(all, control.partial[w]);
  __syncthreads();
  return all;
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

/// Appends the index to a list in shared memory where `wanted`; the whole warp calls it.
__device__ inline void append(std::uint16_t* list, std::uint32_t& count, bool wanted, std::uint32_t index) {
  const unsigned votes = __ballot_sync(all_lanes, wanted);
  if (!votes)
    return;
  const unsigned lane = threadIdx.x % warp_size;
  const int leader = __ffs(static_cast<int>(votes)) - 1;
  std::uint32_t start = 0;
  if (static_cast<int>(lane) == leader)
    start = atomicAdd(&count, static_cast<std::uint32_t>(__popc(votes)));
  start = __shfl_sync(all_lanes, start, leader);
  if (wanted)
    list[start + static_cast<std::uint32_t>(__popc(votes & ((1u << lane) - 1)))] = static_cast<std::uint16_t>(index);
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
__device__ inline Tiling make_tiling(const Extent& extent, unsigned group) {
  const float w = extent.x2 - extent.x1;
  const float h = extent.y2 - extent.y1;
  unsigned columns = 1;
  while (columns < group &&
         static_cast<float>(columns) * h * static_cast<float>(columns) < w * 0.5f * static_cast<float>(group))
    columns *= 2;
  const unsigned rows = group / columns;
  return {extent.x1, extent.y1, static_cast<float>(columns) / w, static_cast<float>(rows) / h, columns, rows};
}

/// Better rank among candidates that count.
__device__ inline bool ranks_before(const Frame& frame, std::uint32_t a, std::uint32_t b) {
  return frame.key[a] > frame.key[b] || (frame.key[a] == frame.key[b] && a < b);
}

__device__ inline bool meets(float4 a, float4 b, float offset) {
  return smaller(a.z, b.z) - larger(a.x, b.x) + offset > 0 && smaller(a.w, b.w) - larger(a.y, b.y) + offset > 0;
}

/// Whether better-ranked `hi` suppresses `lo`, once it survives.
__device__ inline bool beats(const Frame& frame, std::uint32_t hi, std::uint32_t lo, const Arguments& a) {
  return meets(frame.box[hi], frame.box[lo], a.rule.offset) && ranks_before(frame, hi, lo) &&
         (!a.by_class || frame.label[hi] == frame.label[lo]) &&
         overlaps(as_box(frame.box[hi]), as_box(frame.box[lo]), a.rule);
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
