// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The launches of the staged path.

#include <algorithm>

#include "core/carver.hpp"
#include "kernels/launch.cuh"
#include "kernels/staged/staged.cuh"

namespace crowd::CROWD_STAGED {

namespace {

/// As few as keep all blocks of resolve() in flight. In map-reduce each lane has one.
std::uint32_t min_per_warp(const Call& call) {
  const std::uint64_t candidates = call.max_candidates();
  const std::uint64_t resident = std::uint64_t{current_device().processors} * tuning::staged_resident_blocks * warps;
  std::uint32_t per_warp = call.all_suppress ? warp_size : tuning::staged_per_warp;
  while (per_warp < warp_size && candidates > resident * per_warp)
    per_warp *= 2;
  return per_warp;
}

/// 0 if no peaks are looked for.
std::uint32_t peak_blocks(const Call& call) {
  if (call.frames.capacity < tuning::staged_min_crowd)
    return 0;
  if (call.all_suppress)
    return ceil_div(max_best_peaks(call.frames.capacity), threads);
  return std::clamp(tuning::staged_peak_blocks / call.frame_count, tuning::staged_min_peak_blocks,
                    tuning::staged_max_peak_blocks);
}

/// Of the best so many are sought.
std::uint32_t sought(const Call& call) {
  const std::uint32_t capacity = call.frames.capacity;
  if (call.all_suppress)
    return max_best_peaks(capacity);
  const std::uint32_t of_few = max_sought(capacity);
  return call.frame_count < tuning::staged_batch ? of_few : of_few / 4 * 3;
}

static_assert(tuning::staged_large >= tuning::staged_min_crowd && tuning::staged_large >= source_cells);

/// Boxes that overlap nothing may suppress others where `disjoint_too`: nothing is near then.
bool is_large(const Call& call, const PairRule& rule) {
  return !call.all_suppress && call.frames.capacity >= tuning::staged_large && !rule.disjoint_too;
}

}  // namespace

std::size_t workspace_bytes(std::uint32_t frames, std::uint32_t capacity, std::size_t alignment) {
  Carver carver(nullptr, alignment);
  take_arrays(carver, frames, capacity);
  take_left(carver, frames, capacity);
  return carver.bytes();
}

ClearedWords cleared_words(const Call& call, Carver carver) {
  const StagedArrays arrays = take_arrays(carver, call.frame_count, call.frames.capacity);
  return {reinterpret_cast<uint4*>(arrays.cleared), make_shape(call.frames.capacity).words / 4};
}

StagedArguments staged_arguments(const Call& call, Carver& carver) {
  const PairRule rule = pair_rule(call.rule(), call.by_class());
  return {call.frames,
          make_shape(call.frames.capacity),
          take_arrays(carver, call.frame_count, call.frames.capacity),
          {},
          rule,
          call.all_suppress,
          false,
          std::max(8.0f, 4 / cell_reach(rule)),
          call.params.score_threshold,
          call.out,
          call_rules(call)};
}

bool has_warp_for_each(const Call& call) {
  return call.max_candidates() * warp_size <=
         std::uint64_t{current_device().processors} * tuning::staged_resident_threads;
}

void launch_windows(const Call& call, StagedArguments arguments, void (*by_few)(StagedArguments),
                    void (*by_many)(StagedArguments)) {
  const bool many = has_warp_for_each(call);
  Shape& shape = arguments.shape;
  shape.window_blocks = ceil_div(call.frames.capacity, threads / (many ? tuning::staged_many_lanes : lanes));
  launch_pdl(many ? by_many : by_few, call, {call.grid(shape.window_blocks + shape.blocks), threads}, arguments);
}

void launch_sort(const Call& call, const StagedArguments& arguments) {
  const Shape& shape = arguments.shape;
  const auto run = [&](void (*kernel)(StagedArguments), std::uint32_t blocks, std::size_t shared = 0) {
    launch_pdl(kernel, call, {call.grid(blocks), threads, shared, shared}, arguments);
  };
  if (!call.cleared.first)
    run(clear, ceil_div(shape.words / 4, threads));
  const std::uint32_t crowd_blocks = (shape.peak_blocks != 0) + (arguments.is_large ? large_crowd_blocks : 0);
  run(arguments.is_large ? count_large : count, shape.blocks + crowd_blocks, shape.chunks * sizeof(std::uint32_t));
  run(arguments.is_large ? scan_large : scan, shape.chunks + shape.peak_blocks);
  run(scatter, shape.blocks);
}

void launch(const Call& call, Carver carver) {
  StagedArguments arguments = staged_arguments(call, carver);
  arguments.is_large = is_large(call, arguments.rule);
  arguments.left = take_left(carver, call.frame_count, call.frames.capacity);
  Shape& shape = arguments.shape;
  shape.min_per_warp = min_per_warp(call);
  shape.peak_blocks = peak_blocks(call);
  shape.sought = sought(call);
  const auto run = [&](void (*kernel)(StagedArguments), std::uint32_t blocks) {
    launch_pdl(kernel, call, {call.grid(blocks), threads}, arguments);
  };
  launch_sort(call, arguments);
  if (arguments.is_large)
    launch_sources(call, arguments);
  if (call.all_suppress) {
    launch_dominated(call, arguments);
  } else {
    launch_search(call, arguments);
    run(resolve, resolve_blocks(call.frames.capacity, shape.min_per_warp));
  }
  if (call.out.representatives || call.out.members)
    run(find_representatives, shape.window_blocks);
  if (call.out.members && call.out.max_survivors)
    run(write_members, shape.blocks);
}

}  // namespace crowd::CROWD_STAGED
