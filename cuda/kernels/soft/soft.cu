// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The launches of the soft methods.

#include <algorithm>

#include "core/soft_params.hpp"
#include "kernels/soft/soft.cuh"

namespace crowd::ruled {

namespace {

/// Entries of lists that a frame has room for. Where they do not suffice, its survivors are found one after another.
std::uint32_t entries_per_frame(std::uint32_t frames, std::uint32_t capacity) {
  const std::size_t all = std::max(std::size_t{frames} * capacity, std::size_t{1});
  const std::size_t room = tuning::soft_entries / all;
  return capacity *
         std::clamp<std::uint32_t>(static_cast<std::uint32_t>(room), tuning::min_list_room, tuning::max_list_room);
}

SoftArguments take_arguments(const Call& call, Carver carver, bool with_lists) {
  SoftArguments arguments{staged_arguments(call, carver),       nullptr, 0, call.frame_count, call.params.method,
                          static_cast<float>(call.params.sigma)};
  if (with_lists) {
    arguments.entries_per_frame = entries_per_frame(call.frame_count, call.frames.capacity);
    arguments.lists = carver.take<ListEntry>(std::size_t{call.frame_count} * arguments.entries_per_frame);
  }
  return arguments;
}

LaunchShape shape_of(const Call& call, std::uint32_t blocks, unsigned block) {
  return {call.grid(blocks), block};
}

void launch_settle(const Call& call, const SoftArguments& arguments) {
  const std::uint32_t blocks = std::max(ceil_div(call.frames.capacity, soft_warps), 1u);
  const std::uint32_t together = max_together(settle, soft_threads);
  const std::uint32_t frames = std::min(call.frame_count, together);
  launch_together(settle, call, {std::min(blocks, together / frames), frames, 1}, soft_threads, arguments);
}

void launch_outputs(const Call& call, const SoftArguments& arguments) {
  const std::uint32_t capacity = call.frames.capacity;
  if (call.out.representatives || call.out.members)
    launch_pdl(write_soft_representatives, call, shape_of(call, ceil_div(capacity, threads), threads), arguments);
  launch_pdl(write_soft_survivors, call, shape_of(call, ceil_div(capacity, soft_warps), soft_threads), arguments);
}

}  // namespace

std::size_t soft_bytes(const CrowdNmsParams&, std::uint32_t frames, std::uint32_t capacity) {
  Carver carver(nullptr, workspace_alignment);
  take_arrays(carver, frames, capacity);
  carver.take<ListEntry>(std::size_t{frames} * entries_per_frame(frames, capacity));
  return carver.bytes();
}

std::size_t matrix_bytes(const CrowdNmsParams&, std::uint32_t frames, std::uint32_t capacity) {
  return workspace_bytes(frames, capacity, workspace_alignment);
}

void launch_soft(Call& call, std::byte* workspace) {
  const bool linear = call.params.method == CROWD_NMS_SOFT_LINEAR;
  call.params = soft_params(call.params, linear ? Overlaps::as_asked : Overlaps::all);
  const SoftArguments arguments = take_arguments(call, Carver(workspace, workspace_alignment), true);
  launch_sort(call, arguments.staged);
  launch_pdl(list_neighbours, call, shape_of(call, ceil_div(call.frames.capacity, soft_warps), soft_threads),
             arguments);
  launch_settle(call, arguments);
  launch_pdl(settle_in_turn, call, shape_of(call, 1, tuning::frame_block), arguments);
  launch_outputs(call, arguments);
}

void launch_matrix(Call& call, std::byte* workspace) {
  call.params = soft_params(call.params, Overlaps::all);
  const SoftArguments arguments = take_arguments(call, Carver(workspace, workspace_alignment), false);
  launch_sort(call, arguments.staged);
  const LaunchShape windows = shape_of(call, arguments.staged.shape.window_blocks, threads);
  launch_pdl(find_covered, call, windows, arguments);
  launch_pdl(lower_by_matrix, call, windows, arguments);
  launch_outputs(call, arguments);
}

}  // namespace crowd::ruled
