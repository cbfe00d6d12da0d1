// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Stages five and six of map-reduce: which candidates have a suppressor, and the survivors in rank order.
// find_dominated() looks through the first places of each candidate's window, and through all of it, or all that rank
// better, if it has found nothing there; further blocks of it list all places in rank order. What would take long that
// way stays undecided, and each block of resolve_dominated() compares those of its candidates with the whole frame at
// once: that bounds what any input can cost.

#include "kernels/launch.cuh"
#include "kernels/staged/assign.cuh"
#include "kernels/staged/left.cuh"
#include "kernels/staged/ranks.cuh"
#include "kernels/staged/survivors.cuh"
#include "kernels/staged/waiting.cuh"
#include "kernels/staged/window.cuh"

namespace crowd::CROWD_STAGED {

namespace {

/// Whether any of the `count` best candidates, by bins of scores, suppresses `mine`. For a whole warp.
__device__ bool any_of_best_suppresses(const Stage& stage, std::uint32_t count, const Subject& mine) {
  const float4* boxes = stage.a.frames.boxes + stage.a.frames.input(stage.frame);
  bool suppressed = false;
  for (std::uint32_t e = threadIdx.x % warp_size; e < count && !suppressed; e += warp_size) {
    const std::uint64_t key = stage.a.arrays.score[stage.slot + e];
    const float4 b = boxes[rank_index(key)];
    suppressed = stage.may_suppress(key, b, mine) && stage.suppresses(key, b, mine);
  }
  return __any_sync(all_lanes, suppressed);
}

/// Whether any candidate in its window suppresses `mine`. For a whole warp.
__device__ bool any_near_suppresses(const Stage& stage, const Walk& walk, const Subject& mine) {
  return visit_suppressors_by_warp(
      stage, walk, mine, [](std::uint32_t) { return 0u; },
      [](std::uint32_t, std::uint64_t, std::uint32_t) { return true; });
}

/// Places in a window. For a whole warp.
__device__ std::uint32_t places_of(const Walk& walk) {
  std::uint32_t places = 0;
  for (std::uint32_t s = threadIdx.x % warp_size; s < walk.segments(); s += warp_size)
    places += walk.at(s).count;
  return warp_sum(places);
}

/// Sets `suppressed` in the lanes, of `open`, whose candidate at `place` any other suppresses. Returns those that it
/// leaves open, as it would take too long: resolve_dominated() is quicker then. Looks through a candidate's window, of
/// which a lane loads four places at a time, or the bins of better scores, whichever takes fewer loads after one
/// another. For a whole warp.
__device__ unsigned look_for_suppressors(const Stage& stage, std::uint32_t place, unsigned open, bool& suppressed) {
  const std::uint32_t limit = max(tuning::staged_one_by_one, stage.size() / 4);
  while (open) {
    // After assign() the largest windows are in the last lanes, about; of a crowd's they are in no order.
    const unsigned last = warp_size - 1 - static_cast<unsigned>(__clz(static_cast<int>(open)));
    const Subject its = stage.subject(__shfl_sync(all_lanes, place, static_cast<int>(last)));
    const Walk walk = walk_of(stage, its);
    const std::uint32_t better = bin_of(stage, its.key).end;
    const std::uint32_t places = places_of(walk);
    const std::uint32_t loads = min(places, 4 * better);
    if (loads * static_cast<unsigned>(__popc(open)) > limit)
      break;
    const bool found =
        loads == places ? any_near_suppresses(stage, walk, its) : any_of_best_suppresses(stage, better, its);
    if (threadIdx.x % warp_size == last)
      suppressed = found;
    open ^= 1u << last;
  }
  return open;
}

/// What the lanes of find_dominated() have found out of a candidate.
struct Dominated {
  Assignment assigned;
  bool suppressed;
  bool open;  ///< it may have suppressors in a part of its window that was not looked at
};

template <unsigned shared_by>
__device__ Dominated look_through_windows(const Stage& stage, AssignShared<shared_by>& shared) {
  const Assignment assigned = assign(stage, shared);
  const Subject mine = stage.subject(assigned.place);
  bool suppressed = false;
  const bool cut = visit_suppressors<true, shared_by>(stage, walk_of(stage, mine), mine, tuning::staged_visits,
                                                      [&](std::uint32_t, std::uint64_t) { return suppressed = true; });
  suppressed = group_sum<shared_by>(suppressed);
  return {assigned, suppressed, cut && !suppressed};
}

/// One of `count` candidates that are left of a crowd for each lane, and first one for each warp. There are never more
/// than lanes: the launch has four or more for each candidate of the capacity.
__device__ Dominated take_left(const Stage& stage, std::uint32_t count) {
  const std::uint32_t warp = blockIdx.x * warps + threadIdx.x / warp_size;
  const std::uint32_t number = threadIdx.x % warp_size * stage.a.shape.window_blocks * warps + warp;
  const bool here = number < count;
  return {{here ? left_of(stage).place[number] : 0, here}, false, here};
}

using DominatedShared = BetterShared<threads / 4>;

template <unsigned shared_by>
__global__ void __launch_bounds__(threads, resident_blocks) find_dominated(StagedArguments a) {
  if (!a.frames.takes(blockIdx.y))
    return;
  __shared__ DominatedShared shared;
  __shared__ AssignShared<shared_by> of_lanes;
  pdl_wait();
  const Stage stage(a, blockIdx.y);
  if (blockIdx.x >= a.shape.window_blocks)
    return list_by_rank(stage, shared, blockIdx.x - a.shape.window_blocks);
  // Both are loaded at a time.
  const std::uint32_t size = materialize(stage.size());
  const std::uint32_t left = materialize(stage.left());
  const bool in_crowd = unlikely(left != 0);
  if (!in_crowd && blockIdx.x * (threads / shared_by) >= size)
    return;
  auto [assigned, suppressed, open] = in_crowd ? take_left(stage, left) : look_through_windows(stage, of_lanes);
  // What is left of a crowd, and windows cut off at staged_visits.
  const unsigned undecided =
      look_for_suppressors(stage, assigned.place, __ballot_sync(all_lanes, open && assigned.writes), suppressed);
  if (assigned.writes)
    stage.decide(assigned.place, undecided >> threadIdx.x % warp_size & 1 ? Decision::undecided()
                                 : suppressed                             ? Decision::suppressed()
                                                                          : Decision::kept());
}

/// A block of resolve_dominated().
struct DominatedBlock : RankedBlock {
  unsigned long long worst;  ///< of the rank keys of candidates that are open
  WaitingShared waiting;
};

/// Decides the block's candidates that find_dominated() has left undecided: compares them with all of the frame. For a
/// whole block.
__device__ void decide_open(const Stage& stage, DominatedBlock& shared, Pending& pending) {
  const bool is_open = pending.is_undecided();
  pending.more = is_open;  // it waits, for try_survivors()
  const Subject mine = stage.subject(pending.place);
  if (threadIdx.x == 0)
    shared.worst = ~0ull;
  const BinsOfCandidate bins = take_bins(stage, shared.waiting.bins, shared.waiting.keys, mine, is_open);
  if (is_open)
    atomicMin(&shared.worst, static_cast<unsigned long long>(mine.key));
  __syncthreads();
  try_survivors(stage, AllCandidates{shared.worst}, mine, pending, shared.waiting, bins, 0, stage.size());
  if (!pending.is_undecided())
    return;
  pending.decision = Decision::kept();
  stage.decide(pending.place, pending.decision);
}

__global__ void __launch_bounds__(threads, resident_blocks) resolve_dominated(StagedArguments a) {
  if (!a.frames.takes(blockIdx.y))
    return wait_for_direct(a);
  __shared__ DominatedBlock shared;
  const Stage stage(a, blockIdx.y);
  if (threadIdx.x == 0)
    draw_number(stage, shared);
  pdl_wait();
  __syncthreads();
  const std::uint32_t size = stage.size();
  const auto [rank, place] = ranked(stage, shared.block * threads + threadIdx.x);
  if (shared.block >= stage.blocks())
    return;
  Pending pending(place, rank < size ? stage.decision(place) : Decision::suppressed());
  if (unlikely(__syncthreads_or(pending.is_undecided())))
    decide_open(stage, shared, pending);
  if (a.out.members && rank < size)
    stage.members()[place] = 0;
  write_survivors(stage, shared, place, pending.decision.is_kept(), shared.block == stage.blocks() - 1);
}

}  // namespace

void launch_dominated(const Call& call, const StagedArguments& arguments) {
  launch_windows(call, arguments, find_dominated<lanes>, find_dominated<tuning::staged_many_lanes>);
  launch_pdl(resolve_dominated, call, {call.grid(arguments.shape.blocks), threads}, arguments);
}

}  // namespace crowd::CROWD_STAGED
