// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "bright-blocks.hpp"

#include <cuda_runtime.h>

namespace {

constexpr int side = 32;  // of a block, pixels

__global__ void find(const unsigned char* luma, std::ptrdiff_t stride, int columns, int blocks, int threshold,
                     DeviceCandidates to) {
  const int block = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (block >= blocks)
    return;
  const int x = block % columns * side, y = block / columns * side;
  int sum = 0;
  for (int row = 0; row < side; ++row)
    for (int column = 0; column < side; ++column)
      sum += luma[(y + row) * stride + x + column];
  const int mean = sum / (side * side);
  if (mean < threshold)
    return;
  // The count goes on where there is no room left, and readers take it for what was lost.
  const unsigned at = atomicAdd(to.count, 1U);
  if (at >= to.capacity)
    return;
  float* box = to.boxes + 4 * at;
  box[0] = static_cast<float>(x);
  box[1] = static_cast<float>(y);
  box[2] = static_cast<float>(x + side);
  box[3] = static_cast<float>(y + side);
  to.scores[at] = static_cast<float>(mean) / 255;
  to.classes[at] = 0;
}

}  // namespace

bool find_bright_blocks(const unsigned char* luma, std::ptrdiff_t stride, int width, int height, int threshold,
                        const DeviceCandidates& to, void* stream) {
  const int columns = width / side, blocks = columns * (height / side);
  auto* const order = static_cast<cudaStream_t>(stream);
  cudaMemsetAsync(to.count, 0, sizeof *to.count, order);
  if (blocks > 0)
    find<<<(blocks + 127) / 128, 128, 0, order>>>(luma, stride, columns, blocks, threshold, to);
  return cudaGetLastError() == cudaSuccess;
}
