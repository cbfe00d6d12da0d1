// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Non-maximum weighted: greedy's survivors, which of them is closest to each candidate, and boxes weighted by that.

#include "core/model_weights.hpp"
#include "kernels/merge/survivor.cuh"
#include "kernels/near.cuh"

namespace crowd::merging {

namespace {

struct NmwArguments {
  MergeArguments common;
  const float4* boxes;  ///< whose overlaps count
  PairRule rule;
  PairTest pairs;
  RuleArrays arrays;  ///< of all frames
  bool tests_pairs;
  ModelWeights weights;

  /// Of the candidate at `at` in the arrays.
  __device__ float score(std::size_t at) const {
    return weights.weighted(common.frames.scores[at], arrays.models, at);
  }
};
static_assert(sizeof(NmwArguments) <= 4096, "what a kernel takes");

/// Each survivor's first member is itself.
__global__ void __launch_bounds__(threads) count_survivors(NmwArguments a) {
  pdl_wait();
  const std::uint32_t rank = blockIdx.x * threads + threadIdx.x;
  if (rank < a.common.found.reports[blockIdx.y].survivors)
    a.common.found.members[a.common.first_found(blockIdx.y) + rank] = 1;
}

/// Whether the better-ranked candidate `hi` suppresses `lo`, by their numbers in the arrays.
__device__ bool suppresses_at(const NmwArguments& a, std::size_t input, std::size_t hi, std::size_t lo,
                              const float4& hi_box, const float4& lo_box) {
  const std::int32_t* const classes = a.common.frames.classes;
  return suppresses(hi_box, lo_box, a.rule) && (!a.rule.by_class || classes[hi] == classes[lo]) &&
         (!a.tests_pairs ||
          a.pairs.counts(static_cast<std::uint32_t>(hi - input), static_cast<std::uint32_t>(lo - input), as_box(hi_box),
                         as_box(lo_box), a.arrays.from(input)));
}

/// Larger is closer; of equal ratios that of the better-ranked survivor. 0: none.
__device__ std::uint64_t closeness(float ratio, std::uint32_t rank) {
  return static_cast<std::uint64_t>(number_key(ratio)) << 32 | ~rank;
}

/// The rank of the closest better-ranked survivor that overlaps a candidate, which has one. For a whole warp.
__device__ std::uint32_t find_closest_to(const NmwArguments& a, std::uint32_t frame, std::uint32_t i) {
  const std::size_t input = a.common.frames.input(frame);
  const std::size_t first = a.common.first_found(frame);
  const std::uint32_t survivors = a.common.found.reports[frame].survivors;
  const float4 box = a.boxes[input + i];
  const std::uint64_t key = rank_key(a.score(input + i), i);
  std::uint64_t closest = 0;
  bool before = true;
  for (std::uint32_t base = 0; base < survivors && __any_sync(all_lanes, before); base += warp_size) {
    const std::uint32_t rank = base + threadIdx.x % warp_size;
    if (rank >= survivors)
      continue;
    const std::uint32_t survivor = a.common.found.survivors[first + rank];
    const std::size_t at = input + survivor;
    const float4 its = a.boxes[at];
    before = rank_key(a.score(at), survivor) > key;
    if (before && suppresses_at(a, input, at, input + i, its, box))
      closest = max(closest, closeness(a.pairs.ratio(as_box(its), as_box(box)), rank));
  }
  return ~static_cast<std::uint32_t>(warp_max(closest));
}

/// A warp takes a candidate that is suppressed.
__global__ void __launch_bounds__(threads) find_closest(NmwArguments a) {
  pdl_wait();
  const std::uint32_t frame = blockIdx.y;
  const std::uint32_t i = blockIdx.x * warps + threadIdx.x / warp_size;
  if (i >= a.common.frames.held(frame))
    return;
  std::uint32_t& representative = a.common.found.representatives[a.common.frames.slot(frame) + i];
  if (representative == CROWD_NMS_REJECTED || representative == i)
    return;
  const std::size_t at = a.common.first_found(frame) + find_closest_to(a, frame, i);
  if (threadIdx.x % warp_size)
    return;
  representative = a.common.found.survivors[at];
  atomicAdd(a.common.found.members + at, 1u);
}

/// Of an edge, by the ratio with the survivor.
struct RatioSum {
  static constexpr bool weighs = true;
  const NmwArguments& a;
  WeightedMerge row;

  __device__ float ratio(const Survivor& of, std::size_t at) const {
    const std::size_t own = of.input + of.index;
    return at == own ? 1 : a.pairs.ratio(as_box(a.boxes[own]), as_box(a.boxes[at]));
  }
  __device__ double weight(const Survivor& of, std::size_t at) const {
    return merge_weight(a.score(at)) * ratio(of, at);
  }
  __device__ void add(float edge, double weight) {
    row.add_weighted(edge, weight);
  }
};

__global__ void __launch_bounds__(threads) write_closest(NmwArguments a) {
  __shared__ MergeScratch scratch[warps];
  __shared__ HeldRepresentatives representatives;
  pdl_wait();
  const HeldRepresentatives* const held =
      a.common.out.boxes ? hold_representatives(a.common, representatives) : nullptr;
  if (is_written(a.common)) {
    const Survivor of = survivor_of(a.common, scratch, held);
    RatioSum sum{a, WeightedMerge(own_side())};
    if (a.common.out.boxes)
      add_members(of, sum);
    write(of, own_rank(), sum.row.edge(of.edge()), a.score(of.input + of.index));
  }
  hand_out(a.common, blockIdx.y);
}

void launch_closest(const Call& call, const MergeArrays& arrays) {
  const std::uint32_t capacity = call.frames.capacity;
  NmwArguments arguments{{whole_frames(call), arrays.found, call.out, {}, CROWD_NMS_CLUSTER_SCORE_NONE, 0},
                         call.frames.boxes,
                         pair_rule(call.rule(), call.by_class()),
                         pair_test(call.params),
                         call.rule_arrays,
                         needs_pair_test(call.params),
                         model_weights(call.params)};
  if (call.out.boxes || call.out.members || call.out.representatives) {
    launch_pdl(count_survivors, call, {call.grid(ceil_div(capacity, threads)), threads}, arguments);
    launch_pdl(find_closest, call, {call.grid(ceil_div(capacity, warps)), threads}, arguments);
  } else {
    arguments.common.found.members = nullptr;  // not counted
  }
  if (call.out.boxes && arrays.lists.member) {
    arguments.common.lists = arrays.lists;
    launch_lists(call, arguments.common);
  }
  launch_pdl(write_closest, call, shape_of(call), arguments);
}

}  // namespace

std::size_t nmw_bytes(std::uint32_t frames, std::uint32_t capacity) {
  Carver carver(nullptr, workspace_alignment);
  take_arrays(carver, frames, capacity);
  return carver.bytes();
}

void launch_nmw(Call& call, std::byte* workspace, void (*greedy)(Call& call, std::byte* workspace)) {
  Carver carver(workspace, workspace_alignment);
  const MergeArrays arrays = take_arrays(carver, call.frame_count, call.frames.capacity);
  Call path = call;
  path.out = arrays.found;
  path.gathering = {};
  path.out.members = nullptr;
  greedy(path, workspace + carver.bytes());
  call.note(path.error);
  if (call.error == cudaSuccess)
    launch_closest(call, arrays);
}

}  // namespace crowd::merging
