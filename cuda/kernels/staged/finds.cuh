// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the lanes of a warp have found of a candidate's suppressors.
#pragma once

#include "kernels/staged/staged.cuh"

namespace crowd::CROWD_STAGED {

/// The three best suppressors that a lane has found, as by_score(), and the number of all that it was given. In the
/// place of places there may be other numbers, by which decisions are published: those of best_of().
struct Finds {
  static constexpr std::uint32_t room = 3;

  std::uint64_t best[room] = {};
  std::uint32_t count = 0;

  __device__ void add(std::uint64_t key, std::uint32_t place) {
    std::uint64_t entry = by_score(key, place);
    ++count;
#pragma unroll
    for (std::uint64_t& held : best) {
      const std::uint64_t lesser = min(held, entry);
      held = max(held, entry);
      entry = lesser;
    }
  }
  /// What has a lower score would not be held. 0 while there is room.
  __device__ std::uint32_t min_held_score() const {
    return static_cast<std::uint32_t>(best[2] >> 32);
  }
  /// Takes the best entry off the lanes of a candidate; 0 if there is none. For a whole warp.
  template <unsigned shared_by>
  __device__ std::uint64_t take_best() {
    std::uint64_t top = best[0];
#pragma unroll
    for (unsigned step = shared_by / 2; step; step /= 2)
      top = max(top, __shfl_xor_sync(all_lanes, top, step));
    if (top == best[0]) {
      best[0] = best[1];
      best[1] = best[2];
      best[2] = 0;
    }
    return top;
  }
};

/// Decides a candidate by looks at the decisions of all its suppressors, which the lanes of the warp have found. Warps
/// of these may not have begun, so looks are few. For a whole warp.
__device__ inline Decision decide_by_finds(const Stage& stage, const Finds& finds, unsigned max_looks) {
  if (!__any_sync(all_lanes, finds.count != 0))
    return Decision::kept();
  const bool all_held = __all_sync(all_lanes, finds.count <= Finds::room);
  std::uint32_t waits = (1u << min(finds.count, Finds::room)) - 1;  // for those not known to be suppressed
  for (unsigned looks = 0; looks < max_looks; ++looks) {
    std::uint32_t word[Finds::room];
#pragma unroll
    for (unsigned k = 0; k < Finds::room; ++k)
      word[k] =
          (waits >> k & 1 ? stage.decision(static_cast<std::uint32_t>(finds.best[k])) : Decision::suppressed()).word();
    bool kept = false;
#pragma unroll
    for (unsigned k = 0; k < Finds::room; ++k) {
      kept |= Decision::of_word(word[k]).is_kept();
      waits &= ~(static_cast<std::uint32_t>(Decision::of_word(word[k]).is_suppressed()) << k);
    }
    if (__any_sync(all_lanes, kept))
      return Decision::suppressed();
    if (!__any_sync(all_lanes, waits))
      return all_held ? Decision::kept() : Decision::undecided();
  }
  return Decision::undecided();
}

}  // namespace crowd::CROWD_STAGED
