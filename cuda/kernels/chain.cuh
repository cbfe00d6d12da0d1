// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Greedy among the candidates of a warp, a lane each in rank order, without a memory access.
#pragma once

#include "kernels/warp.cuh"

namespace crowd {

/// `suppressors`: of the lane's candidate, bits of lanes before. Returns those of the lanes in `open` that are kept:
/// the ones that no kept one suppresses. For a whole warp.
__device__ inline std::uint32_t keep_lanes(std::uint32_t open, std::uint32_t suppressors) {
  // Those that no open one suppresses, all at once; often these are all that are kept.
  std::uint32_t kept = __ballot_sync(all_lanes, (open >> threadIdx.x % 32 & 1) && !(suppressors & open));
  open &= ~kept & ~__ballot_sync(all_lanes, suppressors & kept);
  while (open) {
    const std::uint32_t first = open & (0 - open);
    kept |= first;
    open &= ~first & ~__ballot_sync(all_lanes, suppressors & first);
  }
  return kept;
}

}  // namespace crowd
