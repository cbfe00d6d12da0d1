// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How a block of resolve() decides candidates that looks leave undecided: it waits for the blocks before it, compares
// candidates whose lists are incomplete with the survivors of these, and does greedy among its own. That bounds what
// any input can cost.
#pragma once

#include "kernels/chain.cuh"
#include "kernels/staged/survivors.cuh"
#include "kernels/staged/waiting.cuh"

namespace crowd::CROWD_STAGED {

struct ResolveShared : RankedBlock {
  std::uint32_t waits;  ///< 1 if this block waits for blocks before it
  WaitingShared waiting;
  union {
    /// Of a thread's candidate: bits of threads before, a word for each warp up to its own.
    std::uint32_t suppressors[warps * (warps + 1) / 2][warp_size];
    NumberQueue queues[warps];  ///< until the block waits
  };
  std::uint32_t open[warps], kept[warps];  ///< bits of threads

  /// In the block's own warp `mine`, of warp `other`.
  __device__ std::uint32_t& suppressors_of(unsigned mine, unsigned other) {
    return suppressors[mine * (mine + 1) / 2 + other][threadIdx.x % warp_size];
  }
};

/// Updates shared.done and shared.survivors. For the first warp; after a barrier the block may read `ranked` so far.
__device__ inline void see_blocks_before(const Stage& stage, ResolveShared& shared) {
  const unsigned lane = threadIdx.x % warp_size;
  unsigned listing = all_lanes;
  std::uint32_t done = shared.done;
  std::uint32_t survivors = shared.survivors;
  while (listing == all_lanes) {
    const std::uint32_t word = done + lane < shared.block ? load_relaxed(&stage.look_back()[done + lane]) : 0;
    listing = __ballot_sync(all_lanes, (word & listed) == listed);
    const int first_not = __ffs(static_cast<int>(~listing)) - 1;
    const int more = first_not < 0 ? static_cast<int>(warp_size) : first_not;
    if (more)
      survivors = __shfl_sync(all_lanes, word >> look_back_bits, more - 1);
    done += static_cast<std::uint32_t>(more);
  }
  acquire_loaded();
  __syncwarp();
  if (lane == 0) {
    shared.done = done;
    shared.survivors = survivors;
  }
}

/// Finds which candidates of the block suppress each undecided one, for decide_block(). For a whole block.
__device__ inline void find_in_block(const Stage& stage, const Subject& mine, const Pending& pending,
                                     ResolveShared& shared) {
  Candidates& all = shared.waiting.candidates;  // by thread
  all.put(threadIdx.x, mine);
  const bool matters = !pending.decision.is_suppressed();
  const unsigned mask = __ballot_sync(all_lanes, matters);
  if (threadIdx.x % warp_size == 0)
    shared.open[threadIdx.x / warp_size] = mask;
  __syncthreads();
  for (unsigned warp = 0; warp <= threadIdx.x / warp_size; ++warp) {
    std::uint32_t suppressors = 0;
    if (pending.is_undecided())
      for (unsigned todo = shared.open[warp]; todo; todo &= todo - 1) {
        const unsigned lane = static_cast<unsigned>(__ffs(static_cast<int>(todo))) - 1;
        const unsigned other = warp * warp_size + lane;
        const float its_area = area(as_box(all.box[other]), stage.a.rule.overlap.offset);
        if (other < threadIdx.x && stage.better_may_suppress(all.box[other], its_area, mine) &&
            stage.suppresses(all.key[other], all.box[other], mine))
          suppressors |= 1u << lane;
      }
    shared.suppressors_of(threadIdx.x / warp_size, warp) = suppressors;
  }
  __syncthreads();
}

/// Greedy among the undecided candidates of the block, once all blocks before are decided and their survivors tried.
/// For a whole block, after find_in_block().
__device__ inline void decide_block(const Stage& stage, Pending& pending, ResolveShared& shared) {
  const unsigned lane = threadIdx.x % warp_size;
  const unsigned open = __ballot_sync(all_lanes, pending.is_undecided());
  const unsigned survivors = __ballot_sync(all_lanes, pending.decision.is_kept());
  if (lane == 0) {
    shared.open[threadIdx.x / warp_size] = open;
    shared.kept[threadIdx.x / warp_size] = survivors;
  }
  __syncthreads();
  if (threadIdx.x < warp_size) {
    std::uint32_t kept[warps];
#pragma unroll
    for (unsigned warp = 0; warp < warps; ++warp) {
      kept[warp] = shared.kept[warp];
      std::uint32_t suppressors = 0;
      bool falls = false;
#pragma unroll
      for (unsigned before = 0; before <= warp; ++before) {
        suppressors = shared.suppressors_of(warp, before);
        falls |= (suppressors & kept[before]) != 0;
      }
      const bool is_open = shared.open[warp] >> lane & 1;
      kept[warp] |= keep_lanes(__ballot_sync(all_lanes, is_open && !falls), suppressors);
    }
    __syncwarp();
#pragma unroll
    for (unsigned warp = 0; warp < warps; ++warp)
      if (lane == warp)
        shared.kept[warp] = kept[warp];
  }
  __syncthreads();
  if (!pending.is_undecided())
    return;
  const bool survives = shared.kept[threadIdx.x / warp_size] >> lane & 1;
  pending.decision = survives ? Decision::kept() : Decision::suppressed();
  stage.decide(pending.place, pending.decision);
}

/// Until all candidates of the block are decided, at the latest by the blocks before it being done. For a whole block.
__device__ inline void wait_for_blocks(const Stage& stage, Pending& pending, ResolveShared& shared) {
  const Subject mine = stage.subject(pending.place);
  const BinsOfCandidate bins =
      take_bins(stage, shared.waiting.bins, shared.waiting.keys, mine, pending.is_undecided() && pending.more);
  bool prepared = false;
  for (std::uint32_t tried = 0;;) {
    if (threadIdx.x < warp_size)
      see_blocks_before(stage, shared);
    __syncthreads();
    const std::uint32_t to_come = shared.block - shared.done;
    const std::uint32_t survivors = shared.survivors;
    if (pending.is_undecided())
      look(stage, pending);
    try_survivors(stage, SurvivorsBefore(), mine, pending, shared.waiting, bins, tried, survivors);
    tried = survivors;
    if (!__syncthreads_or(pending.is_undecided()))
      return;
    if (!prepared && to_come <= tuning::staged_sleep_blocks) {
      find_in_block(stage, mine, pending, shared);
      prepared = true;
    }
    if (!to_come)
      return decide_block(stage, pending, shared);
    // Blocks that poll delay those that they wait for: the further away a block's turn, the longer it sleeps.
    if (to_come > 1)
      sleep_about(min(to_come, tuning::staged_sleep_blocks) * tuning::staged_sleep);
  }
}

}  // namespace crowd::CROWD_STAGED
