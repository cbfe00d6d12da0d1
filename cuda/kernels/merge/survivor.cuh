// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the kernels that write survivors share: candidates added up by a warp in the order of their indices, and the
// outputs.
#pragma once

#include "core/merges.hpp"
#include "kernels/merge/merge.cuh"
#include "kernels/sort_list.cuh"
#include "kernels/warp.cuh"

namespace crowd::merging {

/// Entries of a warp's list.
constexpr unsigned list_room = 2 * tuning::merge_list;

/// The edge of a box that is the lane's: x1, y1, x2, y2 in turn.
__device__ inline unsigned own_edge() {
  return threadIdx.x % 4;
}
__device__ inline EdgeSide own_side() {
  return own_edge() < 2 ? EdgeSide::low : EdgeSide::high;
}
__device__ inline float edge_of(const float4& box) {
  return reinterpret_cast<const float*>(&box)[own_edge()];
}

/// What is added up of a survivor's members: the lane's edge, and scores on all lanes.
template <typename Row>
struct Sums {
  static constexpr bool weighs = false;  ///< each candidate by a weight of its own
  Row row{own_side()};
  ScoreSum scores;

  __device__ void add(float edge, float score) {
    row.add(edge, score);
    scores.add(score);
  }
};

/// Shared memory of a warp.
struct MergeScratch {
  float4 boxes[warp_size];
  std::uint32_t list[list_room];
};

/// A frame's representatives, the lower 16 bits: CROWD_NMS_NONE and CROWD_NMS_REJECTED stay above all indices.
struct HeldRepresentatives {
  static constexpr std::uint32_t room = tuning::direct_capacity;
  std::uint16_t of[room];
  static_assert(room < (CROWD_NMS_NONE & 0xffff) && room < (CROWD_NMS_REJECTED & 0xffff));
};

/// A survivor, its warp's part of the shared memory, and its frame.
struct Survivor {
  const MergeArguments& a;
  MergeScratch* scratch;
  const HeldRepresentatives* held;  ///< null: they are looked at in found.representatives
  std::uint32_t frame;
  std::uint32_t index;
  std::uint32_t members;  ///< 0: not known
  std::size_t input;

  __device__ float edge() const {
    return edge_of(a.frames.boxes[input + index]);
  }
  __device__ float score() const {
    return a.frames.scores[input + index];
  }
};

/// Adds the first `count` candidates of the list, in its order: on all lanes the same. An addition waits for the one
/// before it, so each lane has one sum of edges and not four, and the next candidates are on their way, one a lane,
/// while these are added.
template <typename Sum>
__device__ void add_list(const Survivor& of, std::uint32_t count, Sum& sum) {
  __syncwarp();
  if (!count)
    return;
  const auto at = [&](std::uint32_t base) {
    return of.input + of.scratch->list[min(base + threadIdx.x % warp_size, count - 1)];
  };
  const auto weight_of = [&](std::size_t candidate) {
    if constexpr (Sum::weighs)
      return sum.weight(of, candidate);
    else
      return of.a.frames.scores[candidate];
  };
  float4 box = of.a.frames.boxes[at(0)];
  auto weight = weight_of(at(0));
  for (std::uint32_t base = 0; base < count; base += warp_size) {
    of.scratch->boxes[threadIdx.x % warp_size] = box;
    const auto weights = weight;
    __syncwarp();
    if (base + warp_size < count) {
      box = of.a.frames.boxes[at(base + warp_size)];
      weight = weight_of(at(base + warp_size));
    }
    const int here = static_cast<int>(min(count - base, warp_size));
#pragma unroll 8
    for (int k = 0; k < here; ++k)
      sum.add(edge_of(of.scratch->boxes[k]), __shfl_sync(all_lanes, weights, k));
    __syncwarp();
  }
}

/// Adds the candidates of a frame that `belongs` has, by index. For `step` candidates a lane, `belongs(first, n)` says
/// with bit s of the result whether candidate first + s * warp_size is one. Ends where `max_count` are found.
template <unsigned step, typename Sum, typename Belongs>
__device__ void add_found(const Survivor& of, std::uint32_t max_count, Sum& sum, Belongs belongs) {
  static_assert(step <= 32 && warp_size <= list_room);
  const unsigned lane = threadIdx.x % warp_size;
  const std::uint32_t n = of.a.frames.held(of.frame);
  std::uint32_t count = 0;
  for (std::uint32_t base = 0; base < n && max_count; base += step * warp_size) {
    const std::uint32_t bits = belongs(base + lane, n);
    for (std::uint32_t steps = warp_or(bits); steps; steps &= steps - 1) {
      const unsigned s = static_cast<unsigned>(__ffs(static_cast<int>(steps))) - 1;
      const bool here = bits >> s & 1;
      const unsigned found = __ballot_sync(all_lanes, here);
      if (here)
        of.scratch->list[count + static_cast<std::uint32_t>(__popc(found & ((1u << lane) - 1)))] =
            base + s * warp_size + lane;
      count += static_cast<std::uint32_t>(__popc(found));
      max_count -= static_cast<std::uint32_t>(__popc(found));
      if (count > list_room - warp_size) {
        add_list(of, count, sum);
        count = 0;
      }
    }
  }
  add_list(of, count, sum);
}

/// Candidates that a lane looks at together in search of a survivor's members.
constexpr unsigned represented_step = 32;

/// Adds all that `representative`(candidate) says are the survivor's, where candidates beyond the frame's last repeat
/// that one.
template <typename Sum, typename Function>
__device__ void add_represented(const Survivor& of, Sum& sum, const Function& representative) {
  constexpr unsigned step = represented_step;
  add_found<step>(of, of.members, sum, [&](std::uint32_t first, std::uint32_t n) {
    std::uint32_t representatives[step];
#pragma unroll
    for (unsigned s = 0; s < step; ++s)
      representatives[s] = representative(min(first + s * warp_size, n - 1));
    std::uint32_t bits = 0;
#pragma unroll
    for (unsigned s = 0; s < step; ++s)
      bits |= static_cast<std::uint32_t>(first + s * warp_size < n && representatives[s] == of.index) << s;
    return bits;
  });
}

template <typename Sum>
__device__ void add_members(const Survivor& of, Sum& sum) {
  const MergeArguments& a = of.a;
  const unsigned lane = threadIdx.x % warp_size;
  const std::size_t slot = a.frames.slot(of.frame);
  if (of.members == 1) {
    if (lane == 0)
      of.scratch->list[0] = of.index;
    return add_list(of, 1, sum);
  }
  if (a.lists.member && of.members <= tuning::merge_list) {
    const std::uint32_t* const begin = a.lists.member + slot + a.lists.end[slot + of.index] - of.members;
    for (std::uint32_t i = lane; i < of.members; i += warp_size)
      of.scratch->list[i] = begin[i];
    sort_list(of.scratch->list, of.members);
    return add_list(of, of.members, sum);
  }
  if (of.held)
    add_represented(of, sum, [&](std::uint32_t i) -> std::uint32_t { return of.held->of[i]; });
  else
    add_represented(of, sum, [&](std::uint32_t i) { return a.found.representatives[slot + i]; });
}

/// Copies what the path found to where the caller wants it, by all threads of the frame's blocks.
__device__ inline void hand_out(const MergeArguments& a, std::uint32_t frame) {
  if (a.found.reports == a.out.reports)
    return;
  // The first blocks have had survivors to write.
  const std::uint32_t thread = (gridDim.x - 1 - blockIdx.x) * threads + threadIdx.x;
  const std::uint32_t written = a.written(frame);
  if (thread == 0) {
    CrowdNmsReport report = a.found.reports[frame];
    report.clipped = report.survivors - written;
    a.out.reports[frame] = report;
  }
  const std::size_t to = static_cast<std::size_t>(frame) * a.out.max_survivors;
  const std::size_t slot = a.frames.slot(frame);
  if (thread < written) {
    a.out.survivors[to + thread] = a.found.survivors[a.first_found(frame) + thread];
    if (a.out.members)
      a.out.members[to + thread] = a.found.members[a.first_found(frame) + thread];
  }
  if (!a.out.representatives || thread >= a.frames.held(frame))
    return;
  const std::uint32_t survivor = a.found.representatives[slot + thread];
  const bool dropped = survivor < a.frames.capacity && a.found.representatives[slot + survivor] == CROWD_NMS_NONE;
  a.out.representatives[slot + thread] = dropped ? CROWD_NMS_NONE : survivor;
}

/// `edge`: the lane's.
__device__ inline void write(const Survivor& of, std::uint32_t rank, float edge, float score) {
  const std::size_t at = static_cast<std::size_t>(of.frame) * of.a.out.max_survivors + rank;
  const unsigned lane = threadIdx.x % warp_size;
  if (of.a.out.boxes && lane < 4)
    reinterpret_cast<float*>(of.a.out.boxes + at)[lane] = edge;
  if (of.a.out.scores && lane == 0)
    of.a.out.scores[at] = score;
}

/// Reads a frame's representatives, for a whole block. Null where that does not pay: they find no room, are few enough
/// to be looked at in one step, or the block writes no survivors.
__device__ inline const HeldRepresentatives* hold_representatives(const MergeArguments& a, HeldRepresentatives& held) {
  constexpr unsigned step = HeldRepresentatives::room / threads;
  static_assert(HeldRepresentatives::room % threads == 0);
  const std::uint32_t frame = blockIdx.y;
  const std::uint32_t n = a.frames.held(frame);
  if (!(a.out.boxes || a.out.scores) || n > HeldRepresentatives::room || n <= represented_step * warp_size ||
      blockIdx.x * warps >= a.written(frame))
    return nullptr;
  std::uint32_t its[step];
  // All loads precede the first store.
#pragma unroll
  for (unsigned s = 0; s < step; ++s)
    its[s] = a.found.representatives[a.frames.slot(frame) + min(s * threads + threadIdx.x, n - 1)];
#pragma unroll
  for (unsigned s = 0; s < step; ++s)
    held.of[s * threads + threadIdx.x] = static_cast<std::uint16_t>(its[s]);
  __syncthreads();
  return &held;
}

__device__ inline std::uint32_t own_rank() {
  return blockIdx.x * warps + threadIdx.x / warp_size;
}

__device__ inline bool is_written(const MergeArguments& a) {
  return (a.out.boxes || a.out.scores) && own_rank() < a.written(blockIdx.y);
}

__device__ inline Survivor survivor_of(const MergeArguments& a, MergeScratch* scratch,
                                       const HeldRepresentatives* held = nullptr) {
  const std::uint32_t frame = blockIdx.y;
  const std::size_t at = a.first_found(frame) + own_rank();
  return {a,
          scratch + threadIdx.x / warp_size,
          held,
          frame,
          a.found.survivors[at],
          a.found.members ? a.found.members[at] : 0,
          a.frames.input(frame)};
}

}  // namespace crowd::merging
