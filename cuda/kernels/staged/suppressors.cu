// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Stage five: lists each candidate's suppressors. Further blocks of the same launch list all places in rank order.

#include "kernels/launch.cuh"
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

/// The candidate of a group of lanes. Groups beyond the last candidate repeat that one, but do not write.
struct Assignment {
  std::uint32_t place;
  bool writes;
};

/// Assigns a block's candidates to its lanes in order of the size of their windows, so that those of a warp take about
/// as long. Those that are dropped come first.
template <unsigned shared_by>
__device__ Assignment assign(const Stage& stage) {
  constexpr unsigned candidates = threads / shared_by;
  __shared__ std::uint32_t extent[candidates];
  __shared__ std::uint8_t order[candidates];
  const std::uint32_t first = blockIdx.x * candidates;
  const std::uint32_t size = stage.size();
  if (threadIdx.x < candidates) {
    const std::uint32_t at = min(first + threadIdx.x, size - 1);
    const float4 b = stage.a.arrays.box[stage.slot + at];
    const bool dropped = is_stripped(stage.a.arrays.key[stage.slot + at]);
    const Grid& grid = stage.scale().grid;
    const float w = width(b, stage.a.rule.overlap.offset) * grid.per_x;
    const float h = height(b, stage.a.rule.overlap.offset) * grid.per_y;
    // As an integer with the thread's number in the last bits, so that all differ.
    extent[threadIdx.x] = (dropped ? 0 : __float_as_uint((w + 1) * (h + 1)) & ~(candidates - 1)) | threadIdx.x;
  }
  __syncthreads();
  if (threadIdx.x < candidates) {
    const std::uint32_t mine = extent[threadIdx.x];
    std::uint32_t smaller = 0;
#pragma unroll 16
    for (unsigned other = 0; other < candidates; ++other)
      smaller += extent[other] < mine;
    order[smaller] = static_cast<std::uint8_t>(threadIdx.x);
  }
  __syncthreads();
  const std::uint32_t place = first + order[threadIdx.x / shared_by];
  return {min(place, size - 1), place < size && threadIdx.x % shared_by == 0};
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
  const Assignment assigned = assign<shared_by>(stage);
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

/// Whether any candidate suppresses `mine`. Looks through its window or the bins of better scores, whichever takes
/// fewer loads after one another: of a window a lane loads four places at a time. For a whole warp.
__device__ bool has_suppressor(const Stage& stage, const Walk& walk, const Subject& mine) {
  const std::uint32_t better = bin_of(stage, mine.key).end;
  std::uint32_t places = 0;
  for (std::uint32_t s = threadIdx.x % warp_size; s < walk.segments(); s += warp_size)
    places += walk.at(s).count;
  if (4 * better > warp_sum(places))
    return visit_suppressors_by_warp(
        stage, walk, mine, [](std::uint32_t) { return 0u; },
        [](std::uint32_t, std::uint64_t, std::uint32_t) { return true; });
  const float4* boxes = stage.a.frames.boxes + stage.a.frames.input(stage.frame);
  bool suppressed = false;
  for (std::uint32_t e = threadIdx.x % warp_size; e < better && !suppressed; e += warp_size) {
    const std::uint64_t key = stage.a.arrays.score[stage.slot + e];
    const float4 b = boxes[rank_index(key)];
    suppressed = stage.may_suppress(key, b, mine) && stage.suppresses(key, b, mine);
  }
  return __any_sync(all_lanes, suppressed);
}

/// What the lanes of find_dominated() have found out of a candidate.
struct Dominated {
  Assignment assigned;
  bool suppressed;
  bool open;  ///< it may have suppressors in a part of its window that was not looked at
};

template <unsigned shared_by>
__device__ Dominated look_through_windows(const Stage& stage) {
  const Assignment assigned = assign<shared_by>(stage);
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
  auto [assigned, suppressed, open] = in_crowd ? take_left(stage, left) : look_through_windows<shared_by>(stage);
  // The whole warp looks through what is open: what is left of a crowd, and windows cut off at staged_visits.
  for (unsigned todo = __ballot_sync(all_lanes, open && assigned.writes); todo; todo &= todo - 1) {
    const int lane = __ffs(static_cast<int>(todo)) - 1;
    const Subject its = stage.subject(__shfl_sync(all_lanes, assigned.place, lane));
    const bool found = has_suppressor(stage, walk_of(stage, its), its);
    if (static_cast<int>(threadIdx.x % warp_size) == lane)
      suppressed = found;
  }
  if (assigned.writes)
    stage.decide(assigned.place, suppressed ? Decision::suppressed() : Decision::kept());
}

}  // namespace

void launch_search(const Call& call, StagedArguments arguments) {
  // 8 lanes a candidate, in place of 4, make 33600 candidates of a network's head quicker (170 us, not 195), but 16384
  // uniform ones slower (18.2 us, not 16.5).
  const bool few = has_warp_for_each(call);
  auto* kernel = few ? find_suppressors<tuning::staged_many_lanes> : find_suppressors<lanes>;
  if (call.all_suppress)
    kernel = few ? find_dominated<tuning::staged_many_lanes> : find_dominated<lanes>;
  arguments.shape.window_blocks = ceil_div(call.frames.capacity, threads / (few ? tuning::staged_many_lanes : lanes));
  launch_pdl(kernel, call, {call.grid(arguments.shape.window_blocks + arguments.shape.blocks), threads}, arguments);
}

void launch_ranks(const Call& call, StagedArguments arguments) {
  arguments.shape.window_blocks = 0;
  launch_pdl(find_suppressors<lanes>, call, {call.grid(arguments.shape.blocks), threads}, arguments);
}

}  // namespace crowd::CROWD_STAGED
