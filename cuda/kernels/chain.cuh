// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Greedy among the candidates of a warp, a lane each in rank order: a chain of suppressors within the warp takes no
// memory access.
#pragma once

#include "kernels/warp.cuh"

namespace crowd {

/// Lanes of a warp.
struct DecidedLanes {
  std::uint32_t kept, suppressed;
};

/// Decides as many lanes as follow from each other. For a whole warp. Of a lane's candidate:
/// `undecided`: whether it is to be decided;
/// `suppressed`: it has a suppressor that is kept;
/// `elsewhere`: it has, or may have, an undecided suppressor that is not among the lanes;
/// `suppressors`: lanes with its undecided suppressors. All of these have to be `undecided`.
__device__ inline DecidedLanes decide_lanes(bool undecided, bool suppressed, bool elsewhere,
                                            std::uint32_t suppressors) {
  const std::uint32_t mine = 1u << threadIdx.x % 32;
  DecidedLanes decided{0, __ballot_sync(all_lanes, undecided && suppressed)};
  std::uint32_t open = __ballot_sync(all_lanes, undecided && !suppressed);
  for (std::uint32_t before = 0; open != before;) {
    before = open;
    const bool is_open = open & mine;
    const bool falls = is_open && (suppressors & decided.kept);
    const bool survives = is_open && !falls && !elsewhere && !(suppressors & open);
    decided.suppressed |= __ballot_sync(all_lanes, falls);
    decided.kept |= __ballot_sync(all_lanes, survives);
    open &= ~(decided.kept | decided.suppressed);
  }
  return decided;
}

}  // namespace crowd
