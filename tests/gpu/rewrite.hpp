// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Candidates that are a function of a version and an index, on the host and on the device.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "crowd/nms.h"

namespace crowd::test {

struct Rewritten {
  CrowdNmsBox box;
  float score;
};

/// Coordinates are whole, so host and device agree. Boxes of any two versions have nothing in common.
__host__ __device__ inline Rewritten rewritten(std::uint32_t version, std::uint32_t i) {
  std::uint64_t bits = (static_cast<std::uint64_t>(version) << 32 | i) + 0x9e3779b97f4a7c15;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  bits ^= bits >> 31;
  const auto take = [&bits](unsigned n) {
    const auto taken = static_cast<float>(bits & ((1u << n) - 1));
    bits >>= n;
    return taken;
  };
  const float x = take(11), y = take(10), width = 20 + take(6), height = 30 + take(6);
  return {{x, y, x + width, y + height}, take(20)};
}

/// Overwrites n candidates on the device.
void rewrite(CrowdNmsBox* boxes, float* scores, std::uint32_t n, std::uint32_t version, cudaStream_t stream);

}  // namespace crowd::test
