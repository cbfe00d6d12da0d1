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

// With IoU > t, inter > t / (1 + t) * (sum of areas), but for the rounding of either side.
float least_part(const OverlapRule& rule) {
  if (rule.metric != CROWD_NMS_IOU || rule.threshold < tiny_area)
    return 0;
  return rule.threshold / (1 + rule.threshold) * (1 - 4 * guard);
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
  const staged::Arguments arguments{call.frames,
                                    shape,
                                    staged::take_arrays(carver, call.frame_count, capacity),
                                    pair_rule(call.rule(), call.by_class()),
                                    staged::least_part(call.rule()),
                                    call.params.score_threshold,
                                    call.out};
  const auto launch = [&](void (*kernel)(staged::Arguments), std::uint32_t blocks, std::size_t shared = 0) {
    launch_early(kernel, call, {call.grid(blocks), staged::threads, shared, shared}, arguments);
  };
  launch(staged::clear, ceil_div(shape.words / 4, staged::threads));
  launch(staged::count, shape.blocks, shape.chunks * sizeof(std::uint32_t));
  launch(staged::scan, shape.chunks);
  launch(staged::scatter, shape.blocks);
  launch(call.params.method == CROWD_NMS_GREEDY ? staged::find_rivals : staged::find_dominated,
         shape.home_blocks + shape.blocks);
  launch(staged::resolve, shape.blocks);
  if (call.out.representatives || call.out.members)
    launch(staged::find_representatives, shape.home_blocks);
  if (call.out.members && call.out.max_survivors)
    launch(staged::write_members, shape.blocks);
}

}  // namespace crowd
