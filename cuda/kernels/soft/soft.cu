// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The launches of the soft methods.

#include <algorithm>

#include "core/soft_params.hpp"
#include "kernels/soft/soft.cuh"

namespace crowd::ruled {

namespace {

/// Entries of lists that a call has room for; where a frame's part of them does not suffice, its survivors are found
/// one after another. More candidates never have less: a workspace does for smaller calls.
std::size_t list_entries(std::uint32_t frames, std::uint32_t capacity) {
  const std::size_t candidates = std::size_t{frames} * capacity;
  return std::clamp<std::size_t>(tuning::soft_entries, candidates * tuning::min_list_room,
                                 candidates * tuning::max_list_room);
}

SoftArguments take_arguments(const Call& call, Carver carver, Decay decay, bool with_lists) {
  SoftArguments arguments{staged_arguments(call, carver),       nullptr, 0, call.frame_count, decay,
                          static_cast<float>(call.params.sigma)};
  if (with_lists) {
    const std::size_t entries = list_entries(call.frame_count, call.frames.capacity);
    arguments.entries_per_frame = static_cast<std::uint32_t>(entries / call.frame_count);
    arguments.lists = carver.take<ListEntry>(entries);
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
  launch_pdl(write_soft_survivors, call, shape_of(call, ceil_div(capacity, survivors_per_block), soft_threads),
             arguments);
}

}  // namespace

std::size_t soft_bytes(const CrowdNmsParams&, std::uint32_t frames, std::uint32_t capacity) {
  Carver carver(nullptr, workspace_alignment);
  take_arrays(carver, frames, capacity);
  carver.take<ListEntry>(list_entries(frames, capacity));
  return carver.bytes();
}

std::size_t matrix_bytes(const CrowdNmsParams&, std::uint32_t frames, std::uint32_t capacity) {
  return workspace_bytes(frames, capacity, workspace_alignment);
}

template <Decay decay>
void launch_soft(Call& call, std::byte* workspace) {
  call.params = soft_params(call.params, decay == Decay::linear ? Overlaps::as_asked : Overlaps::all);
  const SoftArguments arguments = take_arguments(call, Carver(workspace, workspace_alignment), decay, true);
  launch_sort(call, arguments.staged);
  launch_pdl(list_neighbours, call, shape_of(call, ceil_div(call.frames.capacity, soft_warps), soft_threads),
             arguments);
  launch_settle(call, arguments);
  launch_pdl(settle_in_turn, call, shape_of(call, 1, tuning::frame_block), arguments);
  launch_outputs(call, arguments);
}
template void launch_soft<Decay::linear>(Call& call, std::byte* workspace);
template void launch_soft<Decay::gaussian>(Call& call, std::byte* workspace);

template <Decay decay>
void launch_matrix(Call& call, std::byte* workspace) {
  call.params = soft_params(call.params, Overlaps::all);
  const SoftArguments arguments = take_arguments(call, Carver(workspace, workspace_alignment), decay, false);
  launch_sort(call, arguments.staged);
  launch_matrix_looks(call, arguments);
  launch_outputs(call, arguments);
}
template void launch_matrix<Decay::linear>(Call& call, std::byte* workspace);
template void launch_matrix<Decay::gaussian>(Call& call, std::byte* workspace);

}  // namespace crowd::ruled
