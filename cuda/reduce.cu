// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The reduce of each frame by a block of its own, behind the map over all multiprocessors; and which of the two ways a
// small frame takes.

#include <algorithm>

#include "reduce_frame.cuh"

namespace crowd {

namespace direct {

namespace {

template <bool greedy>
__global__ void __launch_bounds__(capacity_max / rank_items) reduce(Arguments a) {
  extern __shared__ uint4 memory[];
  __shared__ Verdicts shared;
  if (threadIdx.x == 0)
    shared.malformed = shared.low = shared.waiting = 0;
  __syncthreads();
  const std::uint32_t frame = blockIdx.x;
  const std::size_t slot = a.frames.slot(frame);
  // The map began when all before it was done: the candidates are there.
  const View view{a,
                  shared,
                  carve(memory),
                  frame,
                  a.frames.size(frame),
                  slot,
                  a.frames.input(frame),
                  a.arrays.rows + slot,
                  a.arrays.lists + slot * list_room,
                  a.tile,
                  a.tile * list_room};
  rank(view);
  await_previous();
  reduce_frame<greedy>(view);
}

Arrays take_arrays(Carver& carver, std::uint32_t frames, std::uint32_t capacity) {
  const std::size_t total = static_cast<std::size_t>(frames) * capacity;
  return {carver.take<Row>(total), carver.take<std::uint16_t>(total * list_room)};
}

/// Rows a block of the map, so that all blocks run at once.
unsigned tile_for(const Call& call, unsigned processors) {
  const std::uint32_t threads = ceil_div(call.frames.capacity, 32 * tuning::direct_columns) * 32;
  const std::uint64_t slots =
      static_cast<std::uint64_t>(processors) * std::min(tuning::direct_threads / threads, tuning::direct_blocks);
  const std::uint64_t tile = (static_cast<std::uint64_t>(call.frame_count) * call.frames.capacity + slots - 1) / slots;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(tile, tuning::direct_tile_min, tuning::direct_tile_max));
}

}  // namespace

unsigned reduce_threads(std::uint32_t capacity) {
  return ceil_div(ceil_div(capacity, rank_items), 32) * 32;
}

void launch_reduce(const Call& call, const Arguments& arguments) {
  const unsigned threads = reduce_threads(call.frames.capacity);
  launch_early(call.params.method == CROWD_NMS_GREEDY ? reduce<true> : reduce<false>, call,
               {{call.frame_count, 1, 1}, threads, memory_bytes(threads), memory_bytes(capacity_max / rank_items)},
               arguments);
}

}  // namespace direct

std::size_t direct_bytes(std::uint32_t frames, std::uint32_t capacity, std::size_t alignment) {
  Carver carver(nullptr, alignment);
  if (capacity <= direct::capacity_max)
    direct::take_arrays(carver, frames, capacity);
  return carver.bytes();
}

bool launch_direct(const Call& call, Carver carver) {
  const std::uint32_t capacity = call.frames.capacity;
  if (!capacity || capacity > direct::capacity_max)
    return false;
  const Device device = current_device();
  const direct::Arguments arguments{call.frames,
                                    direct::take_arrays(carver, call.frame_count, capacity),
                                    call.out,
                                    pair_rule(call.rule(), call.by_class()),
                                    call.params.score_threshold,
                                    direct::tile_for(call, device.processors)};
  if (capacity <= tuning::small_capacity && device.hopper) {
    direct::launch_small(call, arguments);
    return true;
  }
  // Before the first of two launches, since nothing takes that back.
  if (direct::memory_bytes(direct::reduce_threads(capacity)) > device.shared_bytes)
    return false;
  direct::launch_map(call, arguments);
  if (cudaPeekAtLastError() == cudaSuccess)
    direct::launch_reduce(call, arguments);
  return true;
}

}  // namespace crowd
