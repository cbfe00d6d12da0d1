// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What is left of a crowd: the candidates that no peak suppresses, the peaks included. Only these can suppress each
// other, and where they are few each is compared with those near it by their bits in bins, not with all places of its
// window. In map-reduce others can suppress them, too: a warp looks through the window of each.
#pragma once

#include "kernels/staged/crowd.cuh"

namespace crowd::CROWD_STAGED {

/// A frame's candidates that are left, in no order. If there are more than fit, the list is not used.
__device__ inline Listed left_of(const Stage& stage) {
  const std::uint32_t room = max_left(stage.a.frames.capacity);
  const std::size_t first = static_cast<std::size_t>(stage.frame) * room;
  const LeftArrays& arrays = stage.a.left;
  return {arrays.box + first, arrays.key + first, &stage.counters().left, room, arrays.place + first};
}

/// Lists the lanes' candidates that are `on`. For a whole warp.
__device__ inline void list_left(const Stage& stage, bool on, const float4& b, std::uint64_t key, std::uint32_t place) {
  if (!__any_sync(all_lanes, on))
    return;
  const Listed left = left_of(stage);
  const AddOne in_left(left.count, 0, on);
  // Computed while the counter is waited for.
  const Window near = left_bins(stage).window_of(stage, b);
  const std::uint32_t number = in_left.before();
  if (!on || !left.add(number, b, key))
    return;
  left.place[number] = place;
  if (!stage.a.all_suppress)
    left_bins(stage).add(near, number);
}

/// Calls visit(place, key) for a candidate's suppressors among the `count` that are left. Returns how many it was
/// compared with. For a whole warp, which the queue is for.
template <typename Visit>
__device__ std::uint32_t visit_left(const Stage& stage, const Listed& left, std::uint32_t count, NumberQueue& queue,
                                    const Subject& mine, const Visit& visit) {
  constexpr unsigned at_once = 4;
  constexpr std::uint32_t room = NumberQueue::room;
  const NearBins bins = left_bins(stage);
  const std::uint32_t* const column = bins.column_of(mine.box);
  const std::uint32_t* const row = bins.row_of(mine.box);
  const std::uint32_t lane = threadIdx.x % warp_size;
  const std::uint32_t words = ceil_div(count, 32);
  std::uint32_t compared = 0;
  for (std::uint32_t first = lane; first - lane < words; first += at_once * warp_size) {
    std::uint32_t near[at_once];
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k)
      near[k] = first + k * warp_size < words ? column[first + k * warp_size] & row[first + k * warp_size] : 0;
    std::uint32_t own = 0;
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k)
      own += static_cast<std::uint32_t>(__popc(near[k]));
    const std::uint32_t upto = warp_prefix(own);
    const std::uint32_t total = __shfl_sync(all_lanes, upto, warp_size - 1);
    compared += total;
    for (std::uint32_t begin = 0; begin < total; begin += room) {
      // Places before `begin` are beyond the room, too.
      std::uint32_t at = upto - own - begin;
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k)
        for (std::uint32_t bits = near[k]; bits; bits &= bits - 1, ++at)
          if (at < room)
            queue.number[at] = static_cast<std::uint16_t>((first + k * warp_size) * 32 + lowest_bit(bits));
      __syncwarp();
      visit_queued(stage, left, queue, min(total - begin, room), mine, visit);
      __syncwarp();
    }
  }
  return compared;
}

}  // namespace crowd::CROWD_STAGED
