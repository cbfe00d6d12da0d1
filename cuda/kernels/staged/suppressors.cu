// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Stage five of greedy: lists each candidate's suppressors. Further blocks of the same launch list all places in rank
// order.

#include "kernels/launch.cuh"
#include "kernels/staged/assign.cuh"
#include "kernels/staged/finds.cuh"
#include "kernels/staged/left.cuh"
#include "kernels/staged/ranks.cuh"
#include "kernels/staged/window.cuh"

namespace crowd::CROWD_STAGED {

namespace {

template <unsigned shared_by>
__device__ SuppressorList make_list(Finds& finds, bool cut, std::uint32_t& listed) {
  const std::uint32_t total = group_sum<shared_by>(finds.count);
  SuppressorList list;
  listed = 0;
#pragma unroll
  for (unsigned r = 0; r < SuppressorList::room; ++r) {
    if (!__any_sync(all_lanes, finds.best[0] != 0))
      break;
    const std::uint64_t top = finds.take_best<shared_by>();
    list.set(r, static_cast<std::uint32_t>(top));
    listed += top != 0;
  }
  list.finish(listed, cut || total > listed);
  return list;
}

/// Lists what a candidate's lanes have found. `cut`: there may be more. For a whole warp.
template <unsigned shared_by>
__device__ void write_list(const Stage& stage, const Assignment& assigned, Finds& finds, bool cut, bool is_suppressed) {
  std::uint32_t listed;
  const SuppressorList list = make_list<shared_by>(finds, cut, listed);
  // For Stage::per_warp().
  const unsigned incomplete = __ballot_sync(all_lanes, assigned.writes && list.more());
  if (incomplete && threadIdx.x % warp_size == 0)
    atomicAdd(&stage.counters().incomplete, static_cast<std::uint32_t>(__popc(incomplete)));
  if (!assigned.writes)
    return;
  stage.list_of(assigned.place) = list;
  stage.decide(assigned.place, is_suppressed           ? Decision::suppressed()
                               : listed || list.more() ? Decision::undecided()
                                                       : Decision::kept());
}

/// Decides the `count` candidates that are left of a crowd, a warp each, or lists their suppressors; scatter() has
/// decided the others. For a whole block.
__device__ void list_among_left(const Stage& stage, NumberQueue (&queues)[warps], std::uint32_t count) {
  const Listed left = left_of(stage);
  const std::uint32_t warp = threadIdx.x / warp_size;
  for (std::uint32_t number = blockIdx.x * warps + warp; number < count;
       number += stage.a.shape.window_blocks * warps) {
    const Subject mine = stage.subject_of(left.key[number], left.box[number]);
    Finds finds;
    visit_left(stage, left, count, queues[warp], mine,
               [&](std::uint32_t place, std::uint64_t key) { finds.add(key, place); });
    const Assignment assigned{left.place[number], threadIdx.x % warp_size == 0};
    const Decision decision = decide_by_finds(stage, finds, tuning::staged_left_looks);
    if (!decision.is_decided())
      write_list<warp_size>(stage, assigned, finds, false, false);
    else if (assigned.writes)
      stage.decide(assigned.place, decision);
  }
}

union ListShared {
  NumberQueue queues[warps];
  BetterShared<threads / 2> better;
};

// Blocks from shape.window_blocks on list places by rank.
template <unsigned shared_by>
__global__ void __launch_bounds__(threads, resident_blocks) find_suppressors(StagedArguments a) {
  if (!a.frames.takes(blockIdx.y))
    return;
  __shared__ ListShared shared;
  __shared__ AssignShared<shared_by> of_lanes;
  pdl_wait();
  const Stage stage(a, blockIdx.y);
  if (blockIdx.x >= a.shape.window_blocks)
    return list_by_rank(stage, shared.better, blockIdx.x - a.shape.window_blocks);
  // Both are loaded at a time.
  const std::uint32_t size = materialize(stage.size());
  const std::uint32_t left = materialize(stage.left());
  if (unlikely(left != 0))
    return list_among_left(stage, shared.queues, left);
  if (blockIdx.x * (threads / shared_by) >= size)
    return;
  const Assignment assigned = assign(stage, of_lanes);
  const Subject mine = stage.subject(assigned.place);
  Finds finds;
  const bool cut = visit_suppressors<false, shared_by>(
      stage, walk_of(stage, mine), mine, tuning::staged_visits,
      [&](std::uint32_t place, std::uint64_t key) {
        finds.add(key, place);
        return false;
      },
      [&] { return ScoreFloor{finds.min_held_score()}; });
  write_list<shared_by>(stage, assigned, finds, cut, is_stripped(mine.key));
}

}  // namespace

void launch_search(const Call& call, const StagedArguments& arguments) {
  launch_windows(call, arguments, find_suppressors<lanes>, find_suppressors<tuning::staged_many_lanes>);
}

void launch_ranks(const Call& call, StagedArguments arguments) {
  arguments.shape.window_blocks = 0;
  launch_pdl(find_suppressors<lanes>, call, {call.grid(arguments.shape.blocks), threads}, arguments);
}

}  // namespace crowd::CROWD_STAGED
