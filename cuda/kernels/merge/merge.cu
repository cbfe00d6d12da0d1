// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Boxes and scores of survivors, a warp each, and the launches of calls that merge.

#include <algorithm>

#include "core/methods.hpp"
#include "kernels/merge/survivor.cuh"

namespace crowd::merging {

namespace {

/// `of_members`: something is made of them, and `found` is of the workspace.
template <typename Row, bool of_members>
__global__ void __launch_bounds__(threads) write_merged(MergeArguments a) {
  __shared__ MergeScratch scratch[warps];
  __shared__ HeldRepresentatives representatives;
  pdl_wait();
  const HeldRepresentatives* const held = of_members ? hold_representatives(a, representatives) : nullptr;
  if (is_written(a)) {
    const Survivor of = survivor_of(a, scratch, held);
    Sums<Row> sums;
    if (of_members)
      add_members(of, sums);
    const float own = of.score();
    write(of, own_rank(), of_members ? sums.row.edge(of.edge()) : of.edge(),
          of_members ? sums.scores.score(a.cluster_score, own) : own);
  }
  hand_out(a, blockIdx.y);
}

template <typename Row, bool of_members>
void launch_merged(const Call& call, const LaunchShape& shape, const MergeArguments& arguments) {
  launch_pdl(write_merged<Row, of_members>, call, shape, arguments);
}

template <typename Row>
constexpr auto writer_of() {
  if constexpr (Row::of == MergedOf::voters)
    return launch_vote;
  else
    return launch_merged<Row, true>;
}

template <typename... Row>
auto writer_of(Table<Row...>, CrowdNmsMerge merge) {
  constexpr void (*rows[])(const Call&, const LaunchShape&, const MergeArguments&) = {writer_of<Row>()...};
  return rows[merge];
}

bool merges(const CrowdNmsParams& params) {
  return reads_merge(params) && (params.merge != CROWD_NMS_MERGE_NONE ||
                                 params.cluster_score != CROWD_NMS_CLUSTER_SCORE_NONE || params.min_members > 1);
}

bool reads_members(const Call& call) {
  const bool of_members = merged_of(Merges{}, call.params.merge) == MergedOf::members;
  return (call.out.boxes && of_members) ||
         (call.out.scores && call.params.cluster_score != CROWD_NMS_CLUSTER_SCORE_NONE);
}

void merge(const Call& call, const MergeArrays& arrays) {
  const CrowdNmsParams& params = call.params;
  MergeArguments arguments{whole_frames(call), arrays.found, call.out, {}, params.cluster_score, params.min_members};
  if (params.min_members > 1)
    launch_pdl(drop_small, call, {call.grid(1), tuning::frame_block}, arguments);
  if (reads_members(call) && arrays.lists.member) {
    arguments.lists = arrays.lists;
    launch_lists(call, arguments);
  }
  writer_of(Merges{}, params.merge)(call, shape_of(call), arguments);
}

}  // namespace

MergeArrays take_arrays(Carver& carver, std::uint32_t frames, std::uint32_t capacity) {
  const std::size_t total = static_cast<std::size_t>(frames) * capacity;
  MergeArrays arrays{};
  arrays.found.survivors = carver.take<std::uint32_t>(total);
  arrays.found.members = carver.take<std::uint32_t>(total);
  arrays.found.representatives = carver.take<std::uint32_t>(total);
  arrays.found.reports = carver.take<CrowdNmsReport>(frames);
  arrays.found.max_survivors = capacity;
  if (capacity <= tuning::direct_capacity)
    return arrays;
  arrays.lists.end = carver.take<std::uint32_t>(total);
  arrays.lists.member = carver.take<std::uint32_t>(total);
  arrays.lists.cursor = carver.take<std::uint32_t>(frames);
  return arrays;
}

Frames whole_frames(const Call& call) {
  Frames frames = call.frames;
  frames.boxes = call.whole;
  return frames;
}

// Threads for all candidates, too.
LaunchShape shape_of(const Call& call) {
  const std::uint32_t capacity = call.frames.capacity;
  const std::uint32_t room = std::min(capacity, call.out.max_survivors);
  return {call.grid(std::max(ceil_div(room, warps), ceil_div(capacity, threads))), threads};
}

void launch_lists(const Call& call, const MergeArguments& arguments) {
  const LaunchShape shape{call.grid(ceil_div(call.frames.capacity, threads)), threads};
  launch_pdl(clear_lists, call, shape, arguments);
  launch_pdl(place_lists, call, shape, arguments);
  launch_pdl(fill_lists, call, shape, arguments);
}

void write_own(const Call& call) {
  MergeArguments arguments{whole_frames(call), call.out, call.out, {}, CROWD_NMS_CLUSTER_SCORE_NONE, 0};
  launch_merged<NoMerge, false>(call, shape_of(call), arguments);
}

std::size_t workspace_bytes(const CrowdNmsParams& params, std::uint32_t frames, std::uint32_t capacity) {
  Carver carver(nullptr, workspace_alignment);
  if (merges(params))
    take_arrays(carver, frames, capacity);
  return carver.bytes();
}

void launch(Call& call, std::byte* workspace, void (*launch)(Call& call, std::byte* workspace)) {
  const std::size_t own_bytes = workspace_bytes(call.params, call.frame_count, call.frames.capacity);
  std::byte* const rest = workspace + own_bytes;
  // Methods that change scores or boxes write both themselves.
  const CrowdNmsMethodInfo& method = info_of(call.params.method);
  const bool writes =
      call.out.max_survivors && (call.out.boxes || call.out.scores) && !method.changes_scores && !method.changes_boxes;
  const bool drops = reads_merge(call.params) && call.params.min_members > 1;
  if (drops || (writes && merges(call.params))) {
    Carver carver(workspace, workspace_alignment);
    const MergeArrays arrays = take_arrays(carver, call.frame_count, call.frames.capacity);
    Call path = call;
    path.out = arrays.found;
    path.gathering = {};
    launch(path, rest);
    call.note(path.error);
    if (call.error == cudaSuccess)
      merge(call, arrays);
    return;
  }
  launch(call, rest);
  if (writes && call.error == cudaSuccess)
    write_own(call);
}

}  // namespace crowd::merging
