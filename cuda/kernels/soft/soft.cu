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

/// Whether frames are left as they are: all candidates are compared.
bool compares_all(const Call& call, std::uint32_t max_unsorted) {
  return call.frames.capacity && call.frames.capacity <= max_unsorted;
}

std::size_t live_words(std::uint32_t frames, std::uint32_t capacity) {
  return std::size_t{frames} * capacity * live_stride;
}

SoftArguments take_arguments(const Call& call, Carver& carver, Decay decay, bool sorted) {
  return {staged_arguments(call, carver),
          nullptr,
          0,
          nullptr,
          call.frame_count,
          sorted ? 0 : rows_of_tile(call),
          decay,
          static_cast<float>(call.params.sigma)};
}

void take_lists(const Call& call, Carver& carver, SoftArguments& arguments) {
  const std::size_t entries = list_entries(call.frame_count, call.frames.capacity);
  arguments.entries_per_frame = static_cast<std::uint32_t>(entries / call.frame_count);
  arguments.lists = carver.take<ListEntry>(entries);
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
  launch_soft_survivors(call, arguments);
}

}  // namespace

std::size_t soft_bytes(const CrowdNmsParams&, std::uint32_t frames, std::uint32_t capacity) {
  Carver carver(nullptr, workspace_alignment);
  take_arrays(carver, frames, capacity);
  carver.take<ListEntry>(list_entries(frames, capacity));
  carver.take<std::uint32_t>(live_words(frames, capacity));
  return carver.bytes();
}

std::size_t matrix_bytes(const CrowdNmsParams&, std::uint32_t frames, std::uint32_t capacity) {
  Carver carver(nullptr, workspace_alignment);
  take_arrays(carver, frames, capacity);
  // Larger frames need none, but the workspace of a call does for smaller ones.
  carver.take<ListEntry>(list_entries(frames, std::min(capacity, tuning::direct_capacity)));
  return carver.bytes();
}

template <Decay decay>
void launch_soft(Call& call, std::byte* workspace, std::uint32_t max_unsorted) {
  call.params = soft_params(call.params, decay == Decay::linear ? Overlaps::as_asked : Overlaps::all);
  const bool sorted = !compares_all(call, max_unsorted);
  Carver carver(workspace, workspace_alignment);
  SoftArguments arguments = take_arguments(call, carver, decay, sorted);
  take_lists(call, carver, arguments);
  arguments.live = carver.take<std::uint32_t>(live_words(call.frame_count, call.frames.capacity));
  if (sorted) {
    launch_sort(call, arguments.staged);
    launch_pdl(list_neighbours, call, shape_of(call, ceil_div(call.frames.capacity, soft_warps), soft_threads),
               arguments);
  } else {
    launch_all_pairs(call, arguments, false);
  }
  launch_settle(call, arguments);
  launch_pdl(settle_in_turn, call, shape_of(call, 1, tuning::frame_block), arguments);
  launch_outputs(call, arguments);
}
template void launch_soft<Decay::linear>(Call& call, std::byte* workspace, std::uint32_t max_unsorted);
template void launch_soft<Decay::gaussian>(Call& call, std::byte* workspace, std::uint32_t max_unsorted);

template <Decay decay>
void launch_matrix(Call& call, std::byte* workspace, std::uint32_t max_unsorted) {
  call.params = soft_params(call.params, Overlaps::all);
  const bool sorted = !compares_all(call, max_unsorted);
  Carver carver(workspace, workspace_alignment);
  SoftArguments arguments = take_arguments(call, carver, decay, sorted);
  if (sorted) {
    launch_sort(call, arguments.staged);
  } else {
    take_lists(call, carver, arguments);
    launch_all_pairs(call, arguments, true);
  }
  launch_matrix_looks(call, arguments);
  launch_outputs(call, arguments);
}
template void launch_matrix<Decay::linear>(Call& call, std::byte* workspace, std::uint32_t max_unsorted);
template void launch_matrix<Decay::gaussian>(Call& call, std::byte* workspace, std::uint32_t max_unsorted);

}  // namespace crowd::ruled
