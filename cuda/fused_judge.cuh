// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// First half of the fused kernel, by all blocks of a frame's group: load, share out the plane, judge, rank.
#pragma once

#include "fused.cuh"

namespace crowd::fused {

/// The candidates a thread loaded: number k is candidate k * threads + threadIdx.x.
template <unsigned items>
struct Loaded {
  float4 box[items];
  std::uint32_t valid = 0;  ///< a bit each

  __device__ static std::uint32_t index(unsigned k) {
    return k * threads + threadIdx.x;
  }
  __device__ bool counts(unsigned k) const {
    return valid >> k & 1;
  }
};

/// Loads and checks every candidate of the frame; returns the extent of the valid ones. The first block of the group
/// also notes who is out of the race.
template <unsigned items>
__device__ Extent load_frame(const Frame& frame, const Arguments& a, Control& control, Loaded<items>& loaded) {
  const std::size_t input = a.frames.input(frame.index);
  float score[items];
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    if (const std::uint32_t i = loaded.index(k); i < frame.n) {
      loaded.box[k] = a.frames.boxes[input + i];
      score[k] = a.frames.scores[input + i];
    }
  for (unsigned t = threadIdx.x; t < tuning::fused_group_max; t += threads)
    control.crowding[t] = 0;
  if (threadIdx.x < 2)
    control.count[threadIdx.x] = 0;
  if (frame.part == 0 && threadIdx.x == 0)
    a.edge_count()[frame.index] = 0;
  Extent mine = empty_extent();
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    const std::uint32_t i = loaded.index(k);
    if (i < padded(frame.n))
      frame.key[i] = 0;
    if (i >= frame.n)
      continue;
    const bool malformed = score[k] != score[k] || !is_well_formed(as_box(loaded.box[k]), a.rule.offset);
    const bool low = score[k] < a.score_threshold;
    if (!malformed && !low) {
      loaded.valid |= 1u << k;
      frame.key[i] = score_key(score[k]);
      widen(mine, loaded.box[k]);
    }
    if (frame.part)
      continue;
    a.scratch.key[frame.slot + i] = rank_key(score[k], i);
    if (malformed || low)
      a.scratch.state[frame.slot + i] = a.verdicts()[frame.slot + i] = malformed ? invalid : below_threshold;
  }
  return mine;
}

/// Which block of the group judges a candidate: the one whose tile its corner lies in; if most candidates crowd into a
/// few tiles, an equal share by index instead.
struct Share {
  Tiling tiling;
  unsigned group;
  bool by_index = false;

  __device__ std::uint32_t part(float4 box, std::uint32_t i) const {
    return group == 1 ? 0 : by_index ? i % group : tiling.part(box);
  }
};

template <unsigned items>
__device__ Extent home_extent(const Loaded<items>& loaded, const Share& share, std::uint32_t part) {
  Extent mine = empty_extent();
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    if (loaded.counts(k) && share.part(loaded.box[k], loaded.index(k)) == part)
      widen(mine, loaded.box[k]);
  return mine;
}

/// Settles how the frame is shared out, the same in every block of the group; returns the bounds of this block's share.
template <unsigned items>
__device__ float4 share_out(const Frame& frame, const Arguments& a, Control& control, const Loaded<items>& loaded,
                            Share& share) {
  if (a.group > 1) {
#pragma unroll
    for (unsigned k = 0; k < items; ++k)
      if (loaded.counts(k))
        atomicAdd(&control.crowding[share.tiling.part(loaded.box[k])], 1u);
  }
  const Extent mine = home_extent(loaded, share, frame.part);
  __syncthreads();
  const std::uint32_t fair = tuning::fused_crowding * ((frame.n + a.group - 1) / a.group);
  const bool crowded = threadIdx.x < a.group && control.crowding[threadIdx.x] > fair;
  share.by_index = __syncthreads_or(crowded);
  return reduce_extent(control, share.by_index ? home_extent(loaded, share, frame.part) : mine);
}

/// Appends to a list in shared memory where `wanted`; returns the place. The whole warp calls it.
__device__ inline std::uint32_t append(std::uint32_t& count, bool wanted) {
  const unsigned votes = __ballot_sync(all_lanes, wanted);
  if (!votes)
    return 0;
  const unsigned lane = threadIdx.x % warp_size;
  const int leader = __ffs(static_cast<int>(votes)) - 1;
  std::uint32_t start = 0;
  if (static_cast<int>(lane) == leader)
    start = atomicAdd(&count, static_cast<std::uint32_t>(__popc(votes)));
  start = __shfl_sync(all_lanes, start, leader);
  return start + static_cast<std::uint32_t>(__popc(votes & ((1u << lane) - 1)));
}

/// Gathers what is near this block's share, and the share itself.
template <unsigned items>
__device__ void gather(const Frame& frame, const Arguments& a, Control& control, const Loaded<items>& loaded,
                       const Share& share, float4 around) {
  const std::size_t input = a.frames.input(frame.index);
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    const std::uint32_t i = loaded.index(k);
    const bool close = loaded.counts(k) && meets(loaded.box[k], around, a.rule.offset);
    const std::uint32_t place = append(control.count[1], close);
    const bool here = close && share.part(loaded.box[k], i) == frame.part;
    const std::uint32_t number = append(control.count[0], here);
    if (close) {
      frame.near.box[place] = loaded.box[k];
      frame.near.key[place] = frame.key[i];
      frame.near.label[place] = a.by_class ? a.frames.classes[input + i] : 0;
      frame.near.index[place] = static_cast<std::uint16_t>(i);
    }
    if (here)
      frame.home[number] = static_cast<std::uint16_t>(place);
  }
}

/// Whether candidate `hi` of those near suppresses `lo`, once it survives.
__device__ inline bool beats(const Near& near, std::uint32_t hi, std::uint32_t lo, const Arguments& a) {
  const float4 b = near.box[hi];
  const float4 c = near.box[lo];
  if (!meets(b, c, a.rule.offset))
    return false;
  const std::uint32_t key = near.key[hi];
  const std::uint32_t other = near.key[lo];
  return (key > other || (key == other && near.index[hi] < near.index[lo])) && near.label[hi] == near.label[lo] &&
         overlaps(as_box(b), as_box(c), a.rule);
}

/// One row of the pair matrix, 32 columns at a time, by a warp: use(first column, votes) until it returns true.
template <typename Use>
__device__ void walk_row(const Frame& frame, const Arguments& a, std::uint32_t columns, std::uint32_t lo, Use use) {
  for (std::uint32_t base = 0; base < columns; base += warp_size) {
    const std::uint32_t column = base + threadIdx.x % warp_size;
    const bool hit = column < columns && beats(frame.near, column, lo, a);
    if (use(base, __ballot_sync(all_lanes, hit)))
      return;
  }
}

/// Whether the hits of all home candidates fit in shared memory.
__device__ inline bool hits_fit(const Control& control) {
  return control.count[0] * ((control.count[1] + warp_size - 1) / warp_size) <= tuning::fused_hit_words;
}

/// The paper's rule, one pass: who is beaten by anybody better.
template <bool greedy>
__device__ void dominate(const Frame& frame, const Arguments& a, const Control& control) {
  const std::uint32_t rivals = control.count[1];
  const std::uint32_t words = (rivals + warp_size - 1) / warp_size;
  const bool store = greedy && hits_fit(control);
  const unsigned lane = threadIdx.x % warp_size;
  for (std::uint32_t h = threadIdx.x / warp_size; h < control.count[0]; h += warps) {
    const std::uint32_t lo = frame.home[h];
    bool beaten = false;
    walk_row(frame, a, rivals, lo, [&](std::uint32_t base, unsigned votes) {
      beaten |= votes != 0;
      if (store && lane == 0)
        frame.hits[h * words + base / warp_size] = votes;
      return beaten && !store;
    });
    if (lane == 0)
      a.scratch.state[frame.slot + frame.near.index[lo]] = beaten ? dominated : undecided;
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
    // Of equal scores the lower index is better: before i they count, after it they do not.
    std::uint32_t q = threadIdx.x % warp_size;
    for (; (q + 1) * 4 <= i; q += warp_size) {
      const uint4 k = quads[q];
      better += (k.x >= mine) + (k.y >= mine) + (k.z >= mine) + (k.w >= mine);
    }
    for (; q < padded(frame.n) / 4; q += warp_size) {
      const uint4 k = quads[q];
      const std::uint32_t j = q * 4;
      better += (k.x > mine - (j < i)) + (k.y > mine - (j + 1 < i)) + (k.z > mine - (j + 2 < i)) + (k.w > mine);
    }
    better = warp_sum(better);
    if (threadIdx.x % warp_size == 0)
      a.ranks()[frame.slot + i] = better;
  }
}

/// Adds edges to `lo` from those of the 32 from `base` on that are in `votes`.
__device__ inline void add_edges(const Frame& frame, const Arguments& a, std::uint32_t base, unsigned votes,
                                 std::uint32_t lo) {
  const unsigned lane = threadIdx.x % warp_size;
  const std::uint32_t room = edges_per_candidate * a.frames.capacity;
  std::uint32_t start = lane == 0 ? atomicAdd(&a.edge_count()[frame.index], __popc(votes)) : 0;
  start = __shfl_sync(all_lanes, start, 0) + __popc(votes & ((1u << lane) - 1));
  if ((votes >> lane & 1) && start < room)
    a.edges()[edges_per_candidate * frame.slot + start] =
        static_cast<std::uint32_t>(frame.near.index[base + lane]) << 16 | frame.near.index[lo];
}

/// The hits of the home candidate number h: those kept from the first pass, or found anew.
template <typename Use>
__device__ void each_hit(const Frame& frame, const Arguments& a, const Control& control, std::uint32_t h, Use use) {
  const std::uint32_t rivals = control.count[1];
  const std::uint32_t words = (rivals + warp_size - 1) / warp_size;
  if (!hits_fit(control))
    return walk_row(frame, a, rivals, frame.home[h], use);
  for (std::uint32_t w = 0; w < words; ++w)
    if (use(w * warp_size, frame.hits[h * words + w]))
      return;
}

/// Greedy's second step: those nobody beats survive, and suppress. Of what is left undecided, the pairs that still
/// matter become edges.
__device__ inline void suppress(const Frame& frame, const Arguments& a, const Control& control) {
  const unsigned lane = threadIdx.x % warp_size;
  for (std::uint32_t r = threadIdx.x; r < control.count[1]; r += threads)
    frame.near.state[r] = static_cast<std::uint8_t>(__ldcg(&a.scratch.state[frame.slot + frame.near.index[r]]));
  __syncthreads();
  for (std::uint32_t h = threadIdx.x / warp_size; h < control.count[0]; h += warps) {
    const std::uint32_t lo = frame.home[h];
    State verdict = frame.near.state[lo] == dominated ? undecided : kept;
    if (verdict == undecided)
      each_hit(frame, a, control, h, [&](std::uint32_t base, unsigned votes) {
        if (__any_sync(all_lanes, (votes >> lane & 1) && frame.near.state[base + lane] == undecided))
          verdict = dead;
        return verdict == dead;
      });
    if (lane == 0)
      a.verdicts()[frame.slot + frame.near.index[lo]] = verdict;
    if (verdict == undecided)
      each_hit(frame, a, control, h, [&](std::uint32_t base, unsigned votes) {
        if (votes)
          add_edges(frame, a, base, votes, lo);
        return false;
      });
  }
}

}  // namespace crowd::fused
