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
  if (!__any_sync(all_lanes, suppressors & open))
    return open;
  std::uint32_t kept = 0;
#pragma unroll 8
  for (int lane = 0; lane < 32; ++lane) {
    const std::uint32_t its = __shfl_sync(all_lanes, suppressors, lane);
    kept |= its & kept ? 0 : open & 1u << lane;
  }
  return kept;
}

}  // namespace crowd
