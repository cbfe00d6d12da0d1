// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// First half of the fused kernel, by all blocks of a frame's group: load, share out the plane, judge, rank.
#pragma once

#include "fused.cuh"

namespace crowd::fused {

/// Loads and checks every candidate of the frame; returns the extent of the valid ones. The first block of the group
/// also notes who is out of the race.
__device__ inline Extent load_frame(const Frame& frame, const Arguments& a) {
  const std::size_t input = a.frames.input(frame.index);
  Extent mine = empty_extent();
  if (frame.part == 0 && threadIdx.x == 0)
    a.edge_count()[frame.index] = 0;
  for (std::uint32_t i = threadIdx.x; i < padded(frame.n); i += threads) {
    frame.key[i] = 0;
    if (i >= frame.n)
      continue;
    const float4 b = a.frames.boxes[input + i];
    const float score = a.frames.scores[input + i];
    const bool malformed = score != score || !is_well_formed(as_box(b), a.rule.offset);
    const bool low = score < a.score_threshold;
    frame.box[i] = b;
    frame.label[i] = a.frames.classes ? a.frames.classes[input + i] : 0;
    if (!malformed && !low) {
      frame.key[i] = score_key(score);
      mine = join(mine, {b.x, b.y, b.z, b.w});
    }
    if (frame.part == 0) {
      a.scratch.key[frame.slot + i] = rank_key(score, i);
      if (malformed || low)
        a.scratch.state[frame.slot + i] = a.verdicts()[frame.slot + i] = malformed ? invalid : below_threshold;
    }
  }
  return mine;
}

/// The candidates this block judges: those whose corner lies in its tile; if most crowd into a few tiles, an equal
/// share by index instead. Every block of the group comes to the same conclusion. Returns their joint extent.
__device__ inline Extent choose_home(const Frame& frame, const Arguments& a, Control& control, const Tiling& tiling) {
  for (unsigned t = threadIdx.x; t < a.group; t += threads)
    control.crowding[t] = 0;
  if (threadIdx.x < 2)
    control.count[threadIdx.x] = 0;
  __syncthreads();
  if (a.group > 1)
    for (std::uint32_t i = threadIdx.x; i < frame.n; i += threads)
      if (frame.key[i])
        atomicAdd(&control.crowding[tiling.part(frame.box[i])], 1u);
  __syncthreads();
  bool crowded = false;
  const std::uint32_t fair = tuning::fused_crowding * ((frame.n + a.group - 1) / a.group);
  for (unsigned t = threadIdx.x; t < a.group; t += threads)
    crowded |= control.crowding[t] > fair;
  crowded = __syncthreads_or(crowded);

  Extent mine = empty_extent();
  for (std::uint32_t base = 0; base < frame.n; base += threads) {
    const std::uint32_t i = base + threadIdx.x;
    bool here = i < frame.n && frame.key[i];
    if (here && a.group > 1)
      here = (crowded ? i % a.group : tiling.part(frame.box[i])) == frame.part;
    append(frame.home, control.count[0], here, i);
    if (here)
      mine = join(mine, {frame.box[i].x, frame.box[i].y, frame.box[i].z, frame.box[i].w});
  }
  return mine;
}

__device__ inline void choose_halo(const Frame& frame, const Arguments& a, Control& control, const Extent& home) {
  const float4 around{home.x1, home.y1, home.x2, home.y2};
  for (std::uint32_t base = 0; base < frame.n; base += threads) {
    const std::uint32_t i = base + threadIdx.x;
    const bool near = i < frame.n && frame.key[i] && meets(frame.box[i], around, a.rule.offset);
    append(frame.halo, control.count[1], near, i);
  }
}

/// A warp's verdict on one home candidate: does anyone of the halo that `counts` beat it?
template <typename Counts>
__device__ bool beaten_by(const Frame& frame, const Arguments& a, const Control& control, std::uint32_t i,
                          Counts counts) {
  const std::uint32_t rivals = control.count[1];
  for (std::uint32_t base = 0; base < rivals; base += warp_size) {
    const std::uint32_t position = base + threadIdx.x % warp_size;
    const bool hit = position < rivals && beats(frame, frame.halo[position], i, a) && counts(frame.halo[position]);
    if (__any_sync(all_lanes, hit))
      return true;
  }
  return false;
}

/// The paper's rule, one pass: who is beaten by anybody better.
__device__ inline void dominate(const Frame& frame, const Arguments& a, const Control& control) {
  for (std::uint32_t h = threadIdx.x / warp_size; h < control.count[0]; h += warps) {
    const std::uint32_t i = frame.home[h];
    const bool beaten = beaten_by(frame, a, control, i, [](std::uint32_t) { return true; });
    if (threadIdx.x % warp_size == 0)
      a.scratch.state[frame.slot + i] = beaten ? dominated : undecided;
  }
}

/// Ranks of an equal share of the candidates, by counting better keys, four at a time.
__device__ inline void rank(const Frame& frame, const Arguments& a) {
  const std::uint32_t share = (frame.n + a.group - 1) / a.group;
  const std::uint32_t end = min(frame.n, (frame.part + 1) * share);
  const auto* quads = reinterpret_cast<const uint4*>(frame.key);
  for (std::uint32_t i = frame.part * share + threadIdx.x / warp_size; i < end; i += warps) {
    const std::uint32_t mine = frame.key[i];
    if (!mine)
      continue;
    std::uint32_t better = 0;
    for (std::uint32_t q = threadIdx.x % warp_size; q < padded(frame.n) / padding; q += warp_size) {
      const uint4 k = quads[q];
      const std::uint32_t j = q * padding;
      // Of equal scores the lower index is better: it counts up to the candidate itself.
      better += k.x > mine - (j < i);
      better += k.y > mine - (j + 1 < i);
      better += k.z > mine - (j + 2 < i);
      better += k.w > mine - (j + 3 < i);
    }
    better = warp_sum(better);
    if (threadIdx.x % warp_size == 0)
      a.ranks()[frame.slot + i] = better;
  }
}

/// Greedy's second step: those nobody beats survive, and suppress. Of what is left undecided, the pairs that still
/// matter become edges.
__device__ inline void suppress(const Frame& frame, const Arguments& a, Control& control) {
  const auto state = [&](std::uint32_t i) { return __ldcg(&a.scratch.state[frame.slot + i]); };
  const std::uint32_t room = edges_per_candidate * a.frames.capacity;
  for (std::uint32_t h = threadIdx.x / warp_size; h < control.count[0]; h += warps) {
    const std::uint32_t i = frame.home[h];
    const unsigned lane = threadIdx.x % warp_size;
    State verdict = kept;
    if (state(i) == dominated)
      verdict =
          beaten_by(frame, a, control, i, [&](std::uint32_t j) { return state(j) == undecided; }) ? dead : undecided;
    if (lane == 0)
      a.verdicts()[frame.slot + i] = verdict;
    if (verdict != undecided)
      continue;
    for (std::uint32_t base = 0; base < control.count[1]; base += warp_size) {
      const std::uint32_t j = base + lane < control.count[1] ? frame.halo[base + lane] : i;
      const bool edge = j != i && beats(frame, j, i, a);
      const unsigned votes = __ballot_sync(all_lanes, edge);
      if (!votes)
        continue;
      std::uint32_t start = lane == 0 ? atomicAdd(&a.edge_count()[frame.index], __popc(votes)) : 0;
      start = __shfl_sync(all_lanes, start, 0) + __popc(votes & ((1u << lane) - 1));
      if (edge && start < room)
        a.edges()[edges_per_candidate * frame.slot + start] = j << 16 | i;
    }
  }
}

}  // namespace crowd::fused
