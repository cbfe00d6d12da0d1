// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// cv::resize() of 8-bit grey as OpenCV 4.6 does it, to the bit, of a frame whose luma is taken as cv::cvtColor() would.

#include "detect/hog/hog_kernels.cuh"
#include "gpu/launch.cuh"

namespace crowd::hog {

namespace {

constexpr unsigned threads = 256;

__device__ int luma(const DeviceImage& frame, int x, int y) {
  const std::uint8_t* pixel = frame.data + y * frame.stride + static_cast<std::ptrdiff_t>(x) * frame.pixel_bytes;
  if (frame.pixel_bytes < 3)
    return *pixel;
  constexpr int red = 9798, green = 19235, blue = 3735, bits = 15;
  return (pixel[frame.red] * red + pixel[frame.green] * green + pixel[frame.blue] * blue + (1 << (bits - 1))) >> bits;
}

__device__ int linear(const DeviceImage& frame, const ZoomTap& x, const ZoomTap& y) {
  const int above = luma(frame, x.first, y.first) * x.a + luma(frame, x.last, y.first) * x.b;
  const int below = luma(frame, x.first, y.last) * x.a + luma(frame, x.last, y.last) * x.b;
  return ((y.a * (above >> 4) >> 16) + (y.b * (below >> 4) >> 16) + 2) >> 2;
}

__device__ int area(const DeviceImage& frame, const float* weights, const ZoomTap& x, const ZoomTap& y) {
  float sum = 0;
  for (int row = y.first; row <= y.last; ++row) {
    float part = 0;
    for (int column = x.first; column <= x.last; ++column)
      part += static_cast<float>(luma(frame, column, row)) * weights[x.a + column - x.first];
    sum += weights[y.a + row - y.first] * part;
  }
  return min(static_cast<int>(rintf(sum)), 255);
}

__device__ int whole(const DeviceImage& frame, int factor, const ZoomTap& x, const ZoomTap& y) {
  int sum = 0;
  for (int row = y.first; row <= y.last; ++row)
    for (int column = x.first; column <= x.last; ++column)
      sum += luma(frame, column, row);
  const int count = (x.last - x.first + 1) * (y.last - y.first + 1);
  const bool cut = count < factor * factor;
  if (factor == 2 && !cut)
    return (sum + 2) >> 2;
  return static_cast<int>(cut ? rintf(static_cast<float>(sum) / static_cast<float>(count))
                              : rintf(static_cast<float>(sum) * (1.F / static_cast<float>(count))));
}

__global__ void __launch_bounds__(threads) zoom_kernel(ZoomWork work) {
  cuda::pdl_wait();
  const Zoom zoom = work.zoom;
  const unsigned at = blockIdx.x * threads + threadIdx.x;
  const auto y = static_cast<int>(at / static_cast<unsigned>(zoom.width));
  const auto x = static_cast<int>(at % static_cast<unsigned>(zoom.width));
  if (y >= zoom.height)
    return;
  const ZoomTap column = work.x[x];
  const ZoomTap row = work.y[y];
  const int grey = zoom.mode == ZoomMode::linear ? linear(work.frame, column, row)
                   : zoom.mode == ZoomMode::area ? area(work.frame, work.weights, column, row)
                                                 : whole(work.frame, zoom.factor, column, row);
  work.image[static_cast<std::ptrdiff_t>(y) * zoom.pitch + x] = static_cast<std::uint8_t>(grey);
}

}  // namespace

cudaError_t launch_zoom(const ZoomWork& work, cudaStream_t stream) {
  const auto pixels = static_cast<unsigned>(work.zoom.width) * static_cast<unsigned>(work.zoom.height);
  return cuda::launch_pdl(zoom_kernel, stream, {(pixels + threads - 1) / threads, 1, 1}, threads, work);
}

}  // namespace crowd::hog
