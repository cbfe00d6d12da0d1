// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The launches of weighted box fusion.

#include <algorithm>

#include "core/soft_params.hpp"
#include "kernels/fusion/fusion.cuh"

namespace crowd::ruled {

namespace {

ClusterArrays take_clusters(Carver& carver, std::size_t slots) {
  ClusterArrays clusters;
  clusters.fused = carver.take<float4>(slots);
  clusters.hull = carver.take<float4>(slots);
  clusters.core = carver.take<float4>(slots);
  clusters.sums = carver.take<double>(4 * slots);
  clusters.weights = carver.take<double>(slots);
  clusters.scores = carver.take<double>(slots);
  clusters.members = carver.take<std::uint32_t>(slots);
  clusters.founder = carver.take<std::uint32_t>(slots);
  clusters.label = carver.take<std::int32_t>(slots);
  return clusters;
}

FusionArrays take_fusion_arrays(Carver& carver, std::uint32_t frames, std::uint32_t capacity) {
  const std::size_t total = static_cast<std::size_t>(frames) * capacity;
  FusionArrays arrays;
  arrays.counters = carver.take<FusionCounters>(frames);
  arrays.clusters = take_clusters(carver, 2 * total);
  arrays.parent = carver.take<std::uint32_t>(total);
  arrays.joined = carver.take<std::uint32_t>(total);
  arrays.size = carver.take<std::uint32_t>(total);
  arrays.begin = carver.take<std::uint32_t>(total);
  arrays.number = carver.take<std::uint32_t>(total);
  arrays.member = carver.take<std::uint32_t>(total);
  arrays.large = carver.take<std::uint32_t>(total);
  arrays.conflict = carver.take<std::uint32_t>(total);
  arrays.cluster = carver.take<std::uint32_t>(total);
  return arrays;
}

/// Boxes that meet at all overlap there.
Call search_of(const Call& call) {
  Call search = call;
  search.params = all_overlaps(call.params);
  search.params.rule = CROWD_NMS_PLAIN;
  return search;
}

FusionArguments take_arguments(const Call& call, Carver carver) {
  CrowdNmsParams params = call.params;
  params.rule = CROWD_NMS_PLAIN;
  const OverlapRule rule = overlap_rule(params);
  OverlapRule uniting = rule;
  uniting.threshold *= tuning::fusion_united;
  FusionArguments arguments{staged_arguments(search_of(call), carver),
                            {},
                            fused_models(params),
                            rule.or_equal && rule.threshold == 0,
                            min_part_of(rule),
                            pair_rule(uniting, call.by_class())};
  arguments.staged.rules.pairs = pair_test(params);
  arguments.arrays = take_fusion_arrays(carver, call.frame_count, call.frames.capacity);
  return arguments;
}

}  // namespace

std::size_t fusion_bytes(const CrowdNmsParams&, std::uint32_t frames, std::uint32_t capacity) {
  Carver carver(nullptr, workspace_alignment);
  take_arrays(carver, frames, capacity);
  take_fusion_arrays(carver, frames, capacity);
  return carver.bytes();
}

void launch_fusion(Call& call, std::byte* workspace) {
  const FusionArguments arguments = take_arguments(call, Carver(workspace, workspace_alignment));
  const std::uint32_t capacity = call.frames.capacity;
  const auto run = [&](void (*kernel)(FusionArguments), std::uint32_t blocks, unsigned block) {
    launch_pdl(kernel, call, {call.grid(blocks), block}, arguments);
  };
  const std::uint32_t a_thread_each = ceil_div(capacity, fusion_threads);
  const std::uint32_t a_warp_each = ceil_div(capacity, fusion_warps);
  run(begin_components, a_thread_each, fusion_threads);
  launch_sort(call, arguments.staged);
  launch_ranks(call, arguments.staged);
  run(unite, a_warp_each, fusion_threads);
  run(count_components, a_thread_each, fusion_threads);
  run(place_components, a_thread_each, fusion_threads);
  run(list_components, a_thread_each, fusion_threads);
  run(fuse, a_warp_each, fusion_threads);
  if (capacity > tuning::fusion_list)
    run(fuse_large, capacity / (tuning::fusion_list + 1), tuning::frame_block);
  run(check_clusters, a_warp_each, fusion_threads);
  run(fuse_again, std::min(a_warp_each, tuning::fusion_again), tuning::frame_block);
  run(check_again, a_warp_each, fusion_threads);
  run(fuse_whole, 1, tuning::frame_block);
  run(write_fused, 1, tuning::frame_block);
}

}  // namespace crowd::ruled
