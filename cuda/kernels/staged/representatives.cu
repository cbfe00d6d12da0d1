// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Representatives: the best-ranked survivor in a candidate's window that overlaps it, or the first one in the list of
// survivors, whichever has fewer places to look at.

#include "kernels/staged/window.cuh"

namespace crowd::CROWD_STAGED {

namespace {

constexpr std::uint32_t none = ~0u;

__device__ std::uint32_t window_size(const Walk& walk) {
  std::uint32_t size = 0;
  for (std::uint32_t s = threadIdx.x % lanes; s < walk.segments(); s += lanes)
    size += walk.at(s).count;
  return group_sum<lanes>(size);
}

/// For a whole warp; the same on the lanes of a candidate.
__device__ std::uint32_t find_in_window(const Stage& stage, const Walk& walk, const Subject& mine) {
  std::uint64_t best = 0;
  std::uint32_t representative = none;
  visit_suppressors<false>(stage, walk, mine, ~0u, [&](std::uint32_t place, std::uint64_t key) {
    if (key > best && stage.decision(place).is_kept()) {
      best = key;
      representative = place;
    }
    return false;
  });
#pragma unroll
  for (unsigned step = lanes / 2; step; step /= 2) {
    const std::uint64_t other = __shfl_xor_sync(all_lanes, best, step);
    const std::uint32_t its = __shfl_xor_sync(all_lanes, representative, step);
    representative = other > best ? its : representative;
    best = max(best, other);
  }
  return representative;
}

/// The same, for candidates that `look`.
__device__ std::uint32_t find_in_list(const Stage& stage, bool look, std::uint32_t survivors, const Subject& mine) {
  const unsigned shift = threadIdx.x % warp_size / lanes * lanes;
  std::uint32_t found = none;
  for (std::uint32_t s = threadIdx.x % lanes; __any_sync(all_lanes, look && s - threadIdx.x % lanes < survivors);
       s += lanes) {
    const std::uint32_t place = look && s < survivors ? stage.a.arrays.ranked[stage.slot + s] : none;
    const unsigned hits = __ballot_sync(all_lanes, place != none && stage.suppresses_at(place, mine));
    const int first = __ffs(static_cast<int>(hits >> shift & ((1u << lanes) - 1))) - 1;
    const std::uint32_t its = __shfl_sync(all_lanes, place, first < 0 ? 0 : first, lanes);
    if (look && first >= 0) {
      found = its;
      look = false;
    }
  }
  return found;
}

}  // namespace

__global__ void __launch_bounds__(threads) find_representatives(StagedArguments a) {
  if (!a.frames.takes(blockIdx.y))
    return pdl_wait();
  pdl_wait();
  const Stage stage(a, blockIdx.y);
  const std::uint32_t first = blockIdx.x * candidates_per_block;
  if (first >= stage.size())
    return;
  const bool here = first + threadIdx.x / lanes < stage.size();
  const std::uint32_t place = here ? first + threadIdx.x / lanes : stage.size() - 1;
  const Subject mine = stage.subject(place);
  const bool survives = stage.decision(place).is_kept();
  const std::uint32_t survivors = stage.survivors();
  Walk walk(stage, mine);
  const bool by_list = window_size(walk) >= survivors;
  if (survives || by_list)
    walk.close();
  std::uint32_t representative = find_in_window(stage, walk, mine);
  const std::uint32_t on_list = find_in_list(stage, by_list && !survives, survivors, mine);
  representative = survives ? place : by_list ? on_list : representative;
  const bool writes = here && threadIdx.x % lanes == 0;
  if (a.out.members)
    AddOne(stage.members(), representative, writes && representative != none);
  if (writes && a.out.representatives)
    a.out.representatives[stage.slot + rank_index(mine.key)] =
        representative == none ? CROWD_NMS_NONE : rank_index(a.arrays.key[stage.slot + representative]);
}

__global__ void __launch_bounds__(threads) write_members(StagedArguments a) {
  if (!a.frames.takes(blockIdx.y))
    return pdl_wait();
  pdl_wait();
  const Stage stage(a, blockIdx.y);
  const std::uint32_t rank = blockIdx.x * threads + threadIdx.x;
  if (rank < min(stage.survivors(), a.out.max_survivors))
    a.out.members[static_cast<std::size_t>(stage.frame) * a.out.max_survivors + rank] =
        stage.members()[a.arrays.ranked[stage.slot + rank]];
}

}  // namespace crowd::CROWD_STAGED
