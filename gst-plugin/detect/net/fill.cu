// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <cuda_runtime.h>

#include "detect/net/fill.hpp"
#include "gpu/launch.cuh"

namespace crowd::net {

namespace {

constexpr unsigned threads = 256;

template <typename Number>
__global__ void __launch_bounds__(threads) fill_kernel(FillWork work) {
  cuda::pdl_wait();
  const int width = work.encoding.width;
  const auto pixel = static_cast<int>(blockIdx.x * threads + threadIdx.x);
  if (pixel >= width * work.encoding.height)
    return;
  const int x = pixel % width, y = pixel / width;
  write_pixel(work.encoding, static_cast<Number*>(work.batch), blockIdx.y, x, y,
              pixel_of(work.picture, work.crops[blockIdx.y], x, y));
}

}  // namespace

int fill_on_device(const FillWork& work, CUstream_st* stream) {
  const auto pixels = static_cast<unsigned>(work.encoding.width) * static_cast<unsigned>(work.encoding.height);
  const dim3 grid{(pixels + threads - 1) / threads, static_cast<unsigned>(work.count), 1};
  const auto kernel = work.type == tensors::Type::float32   ? fill_kernel<float>
                      : work.type == tensors::Type::float16 ? fill_kernel<Half>
                                                            : fill_kernel<std::uint8_t>;
  return cuda::launch_pdl(kernel, stream, grid, threads, work);
}

}  // namespace crowd::net
