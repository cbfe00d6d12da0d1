// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Stage six: blocks of candidates in rank order, which write the survivors in that order.
#pragma once

#include "kernels/staged/staged.cuh"

namespace crowd::CROWD_STAGED {

/// In shared memory.
struct RankedBlock {
  std::uint32_t block;   ///< number, in rank order
  std::uint32_t before;  ///< survivors in the blocks before
  // For a block that waits: blocks before this one that have listed their survivors, and how many these are.
  std::uint32_t done;
  std::uint32_t survivors;
  std::uint32_t in_warp[warps];
};

/// Blocks draw their numbers as they start, so a block that is waited for runs or has ended. For one thread.
__device__ inline void draw_number(const Stage& stage, RankedBlock& shared) {
  shared.block = atomicAdd(&stage.counters().tickets, 1u);
  shared.done = shared.survivors = 0;
}

/// The thread's candidate; a lane that has none has a rank beyond all.
struct Ranked {
  std::uint32_t rank, place;
};

__device__ inline Ranked ranked(const Stage& stage, std::uint32_t rank) {
  return {rank, rank < stage.size() ? load_relaxed(stage.a.arrays.ranked + stage.slot + rank) : 0};
}

/// Threads before this one that are `on`, and in `total` all of the block. For a whole block.
__device__ inline std::uint32_t count_before(RankedBlock& shared, bool on, std::uint32_t& total) {
  const unsigned lane = threadIdx.x % warp_size;
  const unsigned mask = __ballot_sync(all_lanes, on);
  __syncthreads();
  if (lane == 0)
    shared.in_warp[threadIdx.x / warp_size] = static_cast<std::uint32_t>(__popc(mask));
  __syncthreads();
  const std::uint32_t in_warp = lane < warps ? shared.in_warp[lane] : 0;
  total = warp_sum(in_warp);
  return warp_sum(lane < threadIdx.x / warp_size ? in_warp : 0) +
         static_cast<std::uint32_t>(__popc(mask & ((1u << lane) - 1)));
}

/// Survivors in the blocks before this one, by decoupled look-back. For the first warp.
__device__ inline std::uint32_t look_back(const Stage& stage, std::uint32_t block) {
  std::uint32_t before = 0;
  for (std::uint32_t end = block; end;) {
    const unsigned lane = threadIdx.x % warp_size;
    std::uint32_t word;
    // No sleep between loads: one warp a block loads, the others are at a barrier; a sleep would delay all survivors.
    // It ends, since blocks of lower numbers run and do not wait for this one.
    do
      word = lane < end ? load_relaxed(&stage.look_back()[end - 1 - lane]) : static_cast<std::uint32_t>(up_to_end);
    while (__any_sync(all_lanes, (word & listed) == nothing));
    const unsigned sums = __ballot_sync(all_lanes, (word & up_to_end) != 0);
    const unsigned last = sums ? static_cast<unsigned>(__ffs(static_cast<int>(sums))) - 1 : warp_size - 1;
    before += warp_sum(lane <= last ? word >> look_back_bits : 0);
    if (sums)
      break;
    end -= warp_size;
  }
  return before;
}

/// Lists a block's survivors behind those of the blocks before. `place`: of the thread's candidate. `last`: no block
/// with candidates follows. For a whole block.
__device__ inline void write_survivors(const Stage& stage, RankedBlock& shared, std::uint32_t place, bool survives,
                                       bool last) {
  const StagedArguments& a = stage.a;
  std::uint32_t total;
  const std::uint32_t at = count_before(shared, survives, total);
  if (threadIdx.x < warp_size) {
    std::uint32_t* const word = &stage.look_back()[shared.block];
    if (threadIdx.x == 0)
      store_relaxed(word, total << look_back_bits | in_block);
    // A block that has waited for all before it knows their survivors; the first has none before it.
    const std::uint32_t before = shared.done == shared.block ? shared.survivors : look_back(stage, shared.block);
    if (threadIdx.x == 0) {
      store_relaxed(word, (before + total) << look_back_bits | up_to_end);
      shared.before = before;
    }
  }
  __syncthreads();
  const std::uint32_t rank = shared.before + at;
  if (survives) {
    a.arrays.ranked[stage.slot + rank] = place;
    if (rank < a.out.max_survivors)
      a.out.survivors[static_cast<std::size_t>(stage.frame) * a.out.max_survivors + rank] =
          rank_index(a.arrays.key[stage.slot + place]);
  }
  // The barrier comes before the release, which is then one of all that the block has written.
  __syncthreads();
  if (threadIdx.x)
    return;
  const std::uint32_t survivors = shared.before + total;
  store_release(&stage.look_back()[shared.block], survivors << look_back_bits | listed);
  if (last)
    stage.write_report(survivors);
}

/// For a frame that the direct path takes. The stages before have left without waiting for that, so one thread of this
/// launch does: what follows in the stream must find the results. It ends, since reduce() runs by then or has ended.
__device__ inline void wait_for_direct(const StagedArguments& a) {
  if (blockIdx.x || threadIdx.x)
    return;
  while (!load_relaxed(&Stage(a, blockIdx.y).counters().done))
    ;
  acquire_loaded();
}

}  // namespace crowd::CROWD_STAGED
