// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The launch of the reduce, a block a frame; and the choice between small() and map() with reduce().

#include <algorithm>

#include "core/carver.hpp"
#include "kernels/direct/tiny_frame.cuh"

namespace crowd::CROWD_DIRECT {

namespace {

/// `can_be_few`: as in map(), rows in place of columns.
template <bool greedy, unsigned items, bool can_be_few>
__global__ void __launch_bounds__(1024, 1) reduce(const __grid_constant__ DirectArguments a) {
  extern __shared__ uint4 memory[];
  __shared__ ReduceShared shared;
  const std::uint32_t frame = blockIdx.x;
  if (unlikely(a.frames.capacity > a.capacity) && a.frames.size(frame) > a.capacity)
    return pdl_wait();
  // map() waited before it let this kernel start (tuning::direct_early), and leaves tiny frames alone: what these need
  // may be accessed before pdl_wait().
  const std::uint32_t n = can_be_few ? materialize(a.frames.size(frame)) : 0;
  // As in map(). `frame` itself is not kept in a register over the wait.
  const std::uint32_t early = read_block_index();
  const Row* const first = materialize(a.found(early).rows + Mine<items>::rank(0));
  clear(carve(memory, a.capacity), shared, a.capacity);
  __syncthreads();
  if (can_be_few && n <= a.tiny) {
    reduce_tiny<greedy>({a, shared, carve(memory, a.capacity), frame, n, a.frames.input(frame), a.found(frame)});
    return pdl_wait();
  }
  pdl_wait();
  const View view{
      a, shared, carve(memory, a.capacity), frame, a.frames.size(frame), a.frames.input(frame), a.found(frame)};
  if (can_be_few && view.n <= blockDim.x)
    reduce_frame<greedy, 1>(view, view.found.rows + Mine<1>::rank(0));
  else
    reduce_frame<greedy, items>(view, first);
  if (unlikely(a.cleared.first)) {
    // The barrier comes before the release, which is then one of all that the block has written.
    __syncthreads();
    if (threadIdx.x == 0)
      store_release(a.cleared.done(frame), 1);
  }
}

/// Of frame 0.
Found take_found(Carver& carver, std::uint32_t frames, std::uint32_t capacity) {
  const std::size_t total = static_cast<std::size_t>(frames) * capacity;
  return {carver.take<Row>(total), carver.take<uint4>(list_vectors(total)),
          carver.take<std::uint32_t>(total * mask_words(capacity)), carver.take<RejectedCounts>(frames)};
}

/// Rows a block of the map: few enough to occupy all multiprocessors. One is left for the reduce of a single frame,
/// which starts early (launch_pdl()).
unsigned tile_for(const Call& call, std::uint32_t capacity, const Device& device) {
  const std::uint64_t rows = std::uint64_t{call.frame_count} * capacity;
  const bool leave_one = device.hopper && call.frame_count == 1 && device.processors > 1;
  const std::uint64_t blocks = device.processors - (leave_one ? 1 : 0);
  return static_cast<unsigned>(std::min<std::uint64_t>((rows + blocks - 1) / blocks, 32 * words_max));
}

/// What the reduce gathers. A block has one frame, and totals are those of all; boxes and scores that the call writes
/// are not there yet.
Gathering gathering_of(const Call& call) {
  const bool can =
      call.is_direct() && (call.frame_count == 1 || !call.gathering.out.totals) && !call.out.boxes && !call.out.scores;
  return can ? call.gathering : Gathering{};
}

template <unsigned items>
void launch(const Call& call, const DirectArguments& arguments) {
  const std::uint32_t capacity = arguments.capacity;
  constexpr bool can_be_few = items == items_max;
  const bool few = has_few(call);
  const auto kernel = call.all_suppress ? (few ? reduce<false, items, can_be_few> : reduce<false, items, false>)
                                        : (few ? reduce<true, items, can_be_few> : reduce<true, items, false>);
  launch_pdl(kernel, call,
             {{call.frame_count, 1, 1},
              ceil_div(ceil_div(capacity, items), 32) * 32,
              memory_bytes(capacity),
              memory_bytes(capacity_max)},
             arguments);
}

}  // namespace

/// A thread with fewer rows is done sooner.
void launch_reduce(const Call& call, const DirectArguments& arguments) {
  if (arguments.capacity <= 1024)
    launch<1>(call, arguments);
  else if (arguments.capacity <= 2048)
    launch<2>(call, arguments);
  else
    launch<items_max>(call, arguments);
}

std::size_t workspace_bytes(std::uint32_t frames, std::uint32_t capacity, std::size_t alignment) {
  Carver carver(nullptr, alignment);
  take_found(carver, frames, std::min(capacity, capacity_max));
  return carver.bytes();
}

DirectArguments direct_arguments(const Call& call, Carver& carver, unsigned tile) {
  const std::uint32_t capacity = std::min(call.frames.capacity, capacity_max);
  return {
      {call.frames, call.out, pair_rule(call.rule(), call.by_class()), call.params.score_threshold, call_rules(call)},
      capacity,
      take_found(carver, call.frame_count, capacity),
      call.cleared,
      tile,
      call.out.representatives || call.out.members,
      call.all_suppress && !call.out.representatives && !call.out.members,
      gathering_of(call),
      has_few(call) && capacity > tuning::direct_early ? tuning::direct_tiny : 0};
}

void launch(const Call& call, Carver carver) {
  const std::uint32_t capacity = std::min(call.frames.capacity, capacity_max);
  if (!capacity)
    return;
  const Device device = current_device();
  const DirectArguments arguments = direct_arguments(call, carver, tile_for(call, capacity, device));
  call.is_gathered = arguments.gathering.is_wanted();
  if (capacity <= tuning::small_capacity && device.hopper) {
    launch_small(call, arguments);
    return;
  }
  launch_map(call, arguments);
  if (call.error == cudaSuccess)
    launch_reduce(call, arguments);
}

}  // namespace crowd::CROWD_DIRECT
