// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What is left of a crowd: the candidates that no peak suppresses, the peaks included. Only these can suppress each
// other, and where they are few each is compared with those near it by their bits in bins, not with all places of its
// window. In map-reduce others can suppress them, too (dominated.cu).
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

/// Words of bits that a warp takes at a time.
constexpr unsigned left_words = 4 * warp_size;

/// Calls visit(place, key) for a candidate's suppressors among the `count` that are left, of those in words `first` to
/// `first` + left_words - 1 of 32: bit b of lane k's `meant` asks for word `first` + 32 k + b, and others near that may
/// be taken with it. Returns how many the candidate was compared with. For a whole warp, which the queue is for.
template <typename Visit>
__device__ std::uint32_t visit_words(const Stage& stage, const Listed& left, std::uint32_t count, NumberQueue& queue,
                                     std::uint32_t first, unsigned meant, const Subject& mine, const Visit& visit) {
  constexpr std::uint32_t at_once = NumberQueue::room / warp_size;
  static_assert(left_words % at_once == 0 && left_words <= warp_size * warp_size);
  const std::uint32_t lane = threadIdx.x % warp_size;
  std::uint32_t compared = 0;
  for (std::uint32_t word = 0; (first + word) * 32 < count && word < left_words; word += at_once) {
    const unsigned bits = __shfl_sync(all_lanes, meant, static_cast<int>(word / warp_size));
    if (!(bits >> word % warp_size & low_bits(at_once)))
      continue;
    const std::uint32_t begin = (first + word) * 32;
#pragma unroll
    for (std::uint32_t k = 0; k < at_once; ++k)
      queue.number[k * warp_size + lane] = static_cast<std::uint16_t>(begin + k * warp_size + lane);
    __syncwarp();
    const std::uint32_t queued = min(count - begin, NumberQueue::room);
    visit_queued(stage, left, queue, queued, mine, visit);
    __syncwarp();
    compared += queued;
  }
  return compared;
}

/// The same for those near the candidate.
template <typename Visit>
__device__ std::uint32_t visit_left(const Stage& stage, const Listed& left, std::uint32_t count, NumberQueue& queue,
                                    const Subject& mine, const Visit& visit) {
  constexpr unsigned at_once = left_words / warp_size;
  constexpr std::uint32_t room = NumberQueue::room;
  const NearBins bins = left_bins(stage);
  const std::uint32_t* const column = bins.column_of(mine.box);
  const std::uint32_t* const row = bins.row_of(mine.box);
  const std::uint32_t lane = threadIdx.x % warp_size;
  const std::uint32_t words = ceil_div(count, 32);
  std::uint32_t compared = 0;
  for (std::uint32_t first = lane; first - lane < words; first += left_words) {
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
    if (unlikely(total > tuning::staged_dense_left)) {
      unsigned meant = 0;
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k) {
        const unsigned some = __ballot_sync(all_lanes, near[k] != 0);
        meant = lane == k ? some : meant;
      }
      compared += visit_words(stage, left, count, queue, first - lane, meant, mine, visit);
      continue;
    }
    compared += total;
    // Of the lane's next in the queue, if below its room. Wraps where a lane has no bits left, which does not use it.
    std::uint32_t at = upto - own;
    for (std::uint32_t begin = 0; begin < total; begin += room, at -= room) {
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k)
        for (; near[k] && at < room; near[k] &= near[k] - 1, ++at)
          queue.number[at] = static_cast<std::uint16_t>((first + k * warp_size) * 32 + lowest_bit(near[k]));
      __syncwarp();
      visit_queued(stage, left, queue, min(total - begin, room), mine, visit);
      __syncwarp();
    }
  }
  return compared;
}

}  // namespace crowd::CROWD_STAGED
