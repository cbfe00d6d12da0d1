// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Stage six of greedy: decides all candidates and writes the survivors in rank order. A thread per candidate, in rank
// order, looks at the decisions of the suppressors on its list; in crowds only the first lanes of a warp have a
// candidate (Stage::per_warp()). Blocks draw their numbers as they start, so a block that is waited for runs or has
// ended. What many looks leave undecided, or what is in crowds too dense for lists, waits for whole blocks: until all
// blocks before its own are decided, after which classic greedy decides within the block. That bounds what any input
// can cost.

#include "kernels/staged/wait.cuh"

namespace crowd::CROWD_STAGED {

namespace {

/// Decides the block's candidates. Looks follow one another without a sleep, which would delay each step of a chain;
/// there are at most staged_looks, and wait_for_blocks() sleeps. For a whole block.
__device__ void decide_pending(const Stage& stage, Pending& pending, ResolveShared& shared) {
  unsigned waits = 0;
  std::uint32_t places = tuning::staged_refill;
  for (unsigned looks = 0; __any_sync(all_lanes, pending.is_undecided()) && !waits; ++looks) {
    look_and_refill(stage, pending, shared.queues[threadIdx.x / warp_size], places);
    const bool mine = looks >= tuning::staged_looks || __any_sync(all_lanes, pending.is_used_up());
    if (threadIdx.x % warp_size == 0)
      waits = atomicOr(&shared.waits, static_cast<unsigned>(mine)) | static_cast<unsigned>(mine);
    waits = __shfl_sync(all_lanes, waits, 0);
  }
  if (__syncthreads_or(pending.is_undecided()))
    wait_for_blocks(stage, pending, shared);
}

__device__ Ranked candidate_of_thread(const Stage& stage, std::uint32_t block) {
  // Loaded while it is not known yet how many candidates a warp has: usually one a lane. Else other blocks may write
  // the word meanwhile, and it is not used.
  const Ranked usual = ranked(stage, block * threads + threadIdx.x);
  const std::uint32_t per_warp = stage.per_warp();
  if (!unlikely(per_warp < warp_size))
    return usual;
  const std::uint32_t lane = threadIdx.x % warp_size;
  return ranked(stage, lane < per_warp ? (block * warps + threadIdx.x / warp_size) * per_warp + lane : ~0u);
}

}  // namespace

__global__ void __launch_bounds__(threads) resolve(StagedArguments a) {
  if (!a.frames.takes(blockIdx.y))
    return wait_for_direct(a);
  __shared__ ResolveShared shared;
  const Stage stage(a, blockIdx.y);
  if (threadIdx.x == 0) {
    draw_number(stage, shared);
    shared.waits = 0;
  }
  pdl_wait();
  __syncthreads();
  const std::uint32_t size = stage.size();
  const auto [rank, place] = candidate_of_thread(stage, shared.block);
  if (shared.block >= stage.blocks())
    return;
  const Decision known = rank < size ? stage.decision(place) : Decision::suppressed();
  Pending pending(place, known);
  if (pending.is_undecided())
    pending.take(stage.list_of(place));
  decide_pending(stage, pending, shared);
  if (a.out.members && rank < size)
    stage.members()[place] = 0;
  write_survivors(stage, shared, place, pending.decision.is_kept(), shared.block == stage.blocks() - 1);
}

}  // namespace crowd::CROWD_STAGED
