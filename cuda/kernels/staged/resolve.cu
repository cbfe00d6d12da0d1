// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Stage six: decides all candidates and writes the survivors in rank order. A thread per candidate, in rank order,
// looks at the decisions of the suppressors on its list; in crowds only the first lanes of a warp have a candidate
// (Stage::per_warp()). Blocks draw their numbers as they start, so a block that is waited for runs or has ended. What
// many looks leave undecided, or what is in crowds too dense for lists, waits for whole blocks: until all blocks before
// its own are decided, after which classic greedy decides within the block. That bounds what any input can cost.

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

/// Survivors in the blocks before this one, by decoupled look-back. For the first warp.
__device__ std::uint32_t look_back(const Stage& stage, std::uint32_t block) {
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

__device__ void write(const Stage& stage, ResolveShared& shared, const Pending& pending, bool last) {
  const StagedArguments& a = stage.a;
  const bool survives = pending.decision.is_kept();
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
    a.arrays.ranked[stage.slot + rank] = pending.place;
    if (rank < a.out.max_survivors)
      a.out.survivors[static_cast<std::size_t>(stage.frame) * a.out.max_survivors + rank] =
          rank_index(a.arrays.key[stage.slot + pending.place]);
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

/// The thread's candidate; a lane that has none has a rank beyond all.
struct Ranked {
  std::uint32_t rank, place;
};

__device__ Ranked ranked(const Stage& stage, std::uint32_t rank) {
  return {rank, rank < stage.size() ? load_relaxed(stage.a.arrays.ranked + stage.slot + rank) : 0};
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

/// For a frame that the direct path takes. The stages before have left without waiting for that, so one thread of this
/// launch does: what follows in the stream must find the results. It ends, since reduce() runs by then or has ended.
__device__ void wait_for_direct(const StagedArguments& a) {
  if (blockIdx.x || threadIdx.x)
    return;
  while (!load_relaxed(&Stage(a, blockIdx.y).counters().done))
    ;
  acquire_loaded();
}

}  // namespace

__global__ void __launch_bounds__(threads) resolve(StagedArguments a) {
  if (!a.frames.takes(blockIdx.y))
    return wait_for_direct(a);
  __shared__ ResolveShared shared;
  const Stage stage(a, blockIdx.y);
  if (threadIdx.x == 0) {
    shared.block = atomicAdd(&stage.counters().tickets, 1u);
    shared.waits = shared.done = shared.survivors = 0;
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
  write(stage, shared, pending, shared.block == stage.blocks() - 1);
}

}  // namespace crowd::CROWD_STAGED
