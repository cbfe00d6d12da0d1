// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A short list sorted by a warp.
#pragma once

#include "kernels/warp.cuh"

namespace crowd {

/// Sorts by bitonic exchanges. The list has room for a power of two of entries. For a whole warp.
__device__ inline void sort_list(std::uint32_t* list, std::uint32_t count) {
  constexpr unsigned warp_size = 32;
  const unsigned lane = threadIdx.x % warp_size;
  std::uint32_t size = 1;
  while (size < count)
    size *= 2;
  for (std::uint32_t i = count + lane; i < size; i += warp_size)
    list[i] = ~0u;
  __syncwarp();
  for (std::uint32_t run = 2; run <= size; run *= 2) {
    for (std::uint32_t step = run / 2; step; step /= 2) {
      for (std::uint32_t pair = lane; pair < size / 2; pair += warp_size) {
        const std::uint32_t i = 2 * pair - pair % step;
        const std::uint32_t first = list[i];
        const std::uint32_t second = list[i + step];
        if ((first > second) == !(i & run)) {
          list[i] = second;
          list[i + step] = first;
        }
      }
      __syncwarp();
    }
  }
}

}  // namespace crowd
