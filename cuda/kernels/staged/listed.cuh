// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A few of a frame's candidates in a list, and how a warp compares one with some of them.
#pragma once

#include "kernels/staged/staged.cuh"

namespace crowd::CROWD_STAGED {

/// Candidates in no order, in a part of the workspace. The number of one is its index in the list.
struct Listed {
  float4* box;
  std::uint64_t* key;
  std::uint32_t* count;  ///< of all, those without room included; of best_of() two counts
  std::uint32_t room;
  std::uint32_t* place;  ///< null: not known yet

  /// Whether there is room for it.
  __device__ bool add(std::uint32_t number, const float4& its_box, std::uint64_t its_key) const {
    if (number >= room)
      return false;
    box[number] = its_box;
    key[number] = its_key;
    return true;
  }
  /// The number of one that `before` others follow; without room for it a number beyond the room.
  __device__ std::uint32_t from_the_back(std::uint32_t before) const {
    return room - 1 - before;
  }
};

/// Numbers of listed candidates that a warp compares one with. It spreads these over the lanes: neighbours are often
/// listed one after another.
struct NumberQueue {
  static constexpr std::uint32_t room = 4 * warp_size;

  std::uint16_t number[room];
  static_assert(max_left(tuning::staged_capacity) <= 1 << 16 && 2 * tuning::staged_best <= 1 << 16);
};

/// Compares a candidate with those that the queue holds, and calls visit(place, key) for its suppressors; of those
/// without a place by number. For a whole warp.
template <typename Visit>
__device__ void visit_queued(const Stage& stage, const Listed& listed, const NumberQueue& queue, std::uint32_t queued,
                             const Subject& mine, const Visit& visit) {
  constexpr unsigned at_once = 2;
  for (std::uint32_t q = threadIdx.x % warp_size; q < queued; q += at_once * warp_size) {
    std::uint64_t key[at_once];
    float4 box[at_once];
    std::uint32_t place[at_once];
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const std::uint32_t number = queue.number[min(q + k * warp_size, queued - 1)];
      key[k] = q + k * warp_size < queued ? listed.key[number] : 0;
      box[k] = listed.box[number];
      place[k] = listed.place ? listed.place[number] : number;
    }
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k)
      if (stage.may_suppress(key[k], box[k], mine) && stage.suppresses(key[k], box[k], mine))
        visit(place[k], key[k]);
  }
}

}  // namespace crowd::CROWD_STAGED
