// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "rewrite.hpp"

namespace crowd::test {

namespace {

__global__ void rewrite_kernel(CrowdNmsBox* boxes, float* scores, std::uint32_t n, std::uint32_t version) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const Rewritten candidate = rewritten(version, i);
  boxes[i] = candidate.box;
  scores[i] = candidate.score;
}

}  // namespace

void rewrite(CrowdNmsBox* boxes, float* scores, std::uint32_t n, std::uint32_t version, cudaStream_t stream) {
  constexpr unsigned threads = 128;
  rewrite_kernel<<<(n + threads - 1) / threads, threads, 0, stream>>>(boxes, scores, n, version);
}

}  // namespace crowd::test
