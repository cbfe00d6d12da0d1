// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The launches of best first.

#include <algorithm>

#include "core/carver.hpp"
#include "kernels/best_first/best_first.cuh"

namespace crowd::CROWD_DIRECT {

namespace {

BestFirstArrays take_arrays(Carver& carver, std::uint32_t frames, std::uint32_t capacity) {
  const std::size_t total = std::size_t{frames} * chosen_room;
  BestFirstArrays arrays;
  arrays.chosen = {carver.take<float4>(total), carver.take<float>(total), carver.take<std::int32_t>(total),
                   carver.take<std::uint32_t>(total)};
  arrays.sizes = carver.take<std::uint32_t>(frames);
  arrays.survivors = carver.take<std::uint32_t>(total);
  arrays.reports = carver.take<CrowdNmsReport>(frames);
  arrays.states = carver.take<BestFirstFrame>(frames);
  arrays.left = carver.take<std::uint32_t>(std::size_t{frames} * left_words(capacity));
  return arrays;
}

/// Greedy of what is chosen.
Call chosen_call(const Call& call, const BestFirstArrays& arrays) {
  Call its = call;
  its.frames = {arrays.chosen.boxes,
                arrays.chosen.scores,
                call.frames.classes ? arrays.chosen.classes : nullptr,
                nullptr,
                arrays.sizes,
                chosen_room,
                chosen_room};
  its.out = {};
  its.out.survivors = arrays.survivors;
  its.out.reports = arrays.reports;
  its.out.max_survivors = chosen_room;
  its.cleared = {};
  its.gathering = {};
  return its;
}

}  // namespace

bool has_best_first(std::uint32_t frames, std::uint32_t capacity) {
  return frames >= tuning::best_first_frames && capacity > tuning::direct_capacity &&
         capacity <= tuning::best_first_capacity;
}

std::size_t best_first_bytes(std::uint32_t frames, std::uint32_t capacity, std::size_t alignment) {
  Carver carver(nullptr, alignment);
  take_arrays(carver, frames, capacity);
  return carver.bytes() + workspace_bytes(frames, chosen_room, alignment);
}

void launch_best_first(Call& call, Carver carver, std::uint32_t* settled) {
  const BestFirstArrays arrays = take_arrays(carver, call.frame_count, call.frames.capacity);
  const BestFirstArguments arguments{
      call.frames,  call.out, pair_rule(call.rule(), call.by_class()), call.params.score_threshold, arrays,
      call.cleared, settled};
  constexpr unsigned threads = tuning::best_first_block;
  const auto run = [&](void (*kernel)(BestFirstArguments), dim3 grid) {
    launch_pdl(kernel, call, {grid, threads}, arguments);
  };
  const Call chosen = chosen_call(call, arrays);
  run(choose_best, {call.frame_count, 1, 1});
  launch(chosen, carver);
  run(drop_suppressed, call.grid(ceil_div(call.frames.capacity, threads)));
  run(choose_left, {call.frame_count, 1, 1});
  launch(chosen, carver);
  run(write_settled, {call.frame_count, 1, 1});
  call.note(chosen.error);
  call.frames.settled = settled;
}

}  // namespace crowd::CROWD_DIRECT
