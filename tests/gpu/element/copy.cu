// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "copy.hpp"

namespace crowd::test {

namespace {

constexpr unsigned block = 256;

__global__ void copy(float* to, const float* from, std::size_t count) {
  const std::size_t i = std::size_t{blockIdx.x} * block + threadIdx.x;
  if (i < count)
    to[i] = from[i];
}

}  // namespace

cudaError_t copy_by_kernel(void* to, const void* from, std::size_t count, cudaStream_t stream) {
  copy<<<static_cast<unsigned>((count + block - 1) / block), block, 0, stream>>>(
      static_cast<float*>(to), static_cast<const float*>(from), count);
  return cudaGetLastError();
}

}  // namespace crowd::test
