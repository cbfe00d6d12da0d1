// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The launches of the staged path.

#include "core/carver.hpp"
#include "kernels/launch.cuh"
#include "kernels/staged/staged.cuh"

namespace crowd {

namespace staged {

namespace {

// IoU > t gives inter > t / (1 + t) * (sum of areas); the guard covers rounding. 0 for other rules.
float min_part(const OverlapRule& rule) {
  const float iou = min_iou(Ratios{}, rule.metric, rule.threshold);
  return iou < tiny_area ? 0 : iou / (1 + iou) * (1 - 4 * guard);
}

}  // namespace

}  // namespace staged

std::size_t staged_bytes(std::uint32_t frames, std::uint32_t capacity, std::size_t alignment) {
  Carver carver(nullptr, alignment);
  staged::take_arrays(carver, frames, capacity);
  return carver.bytes();
}

void launch_staged(const Call& call, Carver carver) {
  const std::uint32_t capacity = call.frames.capacity;
  const staged::Shape shape = staged::make_shape(capacity);
  const staged::StagedArguments arguments{call.frames,
                                          shape,
                                          staged::take_arrays(carver, call.frame_count, capacity),
                                          pair_rule(call.rule(), call.by_class()),
                                          staged::min_part(call.rule()),
                                          call.params.score_threshold,
                                          call.out};
  const auto launch = [&](void (*kernel)(staged::StagedArguments), std::uint32_t blocks, std::size_t shared = 0) {
    launch_pdl(kernel, call, {call.grid(blocks), staged::threads, shared, shared}, arguments);
  };
  launch(staged::clear, ceil_div(shape.words / 4, staged::threads));
  launch(staged::count, shape.blocks, shape.chunks * sizeof(std::uint32_t));
  launch(staged::scan, shape.chunks);
  launch(staged::scatter, shape.blocks);
  launch(call.all_suppress ? staged::find_dominated : staged::find_suppressors, shape.window_blocks + shape.blocks);
  launch(staged::resolve, shape.blocks);
  if (call.out.representatives || call.out.members)
    launch(staged::find_representatives, shape.window_blocks);
  if (call.out.members && call.out.max_survivors)
    launch(staged::write_members, shape.blocks);
}

}  // namespace crowd
