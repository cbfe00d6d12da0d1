// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Pixels of a frame in any planar or packed format as red, green and blue, on the host and on a device with the same
// bits. C++17. Both have to be compiled without contraction.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/host_device.hpp"

namespace crowd::net {

/// Samples of one component (luma, blue, ...).
struct Samples {
  const std::uint8_t* data = nullptr;  ///< of the pixel at 0, 0
  std::ptrdiff_t stride = 0;           ///< bytes from row to row
  int step = 1;                        ///< bytes from sample to sample
  int shift_x = 0, shift_y = 0;        ///< log2 of the pixels that share a sample
};

/// The part of a frame that is shown. Components are Y, U, V or R, G, B.
struct Picture {
  Samples components[3];
  int width = 0, height = 0;  ///< pixels
  bool wide = false;          ///< samples are 16-bit little-endian words
  float offsets[3] = {};      ///< subtracted from samples first
  float matrix[3][3] = {};    ///< then red, green and blue, 0 to 255, are rows of this times the components
};

struct Colour {
  float red, green, blue;
};

CROWD_HD inline float sample_at(const Picture& picture, const Samples& component, int x, int y) {
  const std::uint8_t* sample =
      component.data + (y >> component.shift_y) * component.stride + (x >> component.shift_x) * component.step;
  return picture.wide ? static_cast<float>(sample[0] | sample[1] << 8) : static_cast<float>(sample[0]);
}

CROWD_HD inline float in_range(float value) {
  return value < 0.F ? 0.F : value > 255.F ? 255.F : value;
}

CROWD_HD inline int within(int value, int end) {
  return value < 0 ? 0 : value >= end ? end - 1 : value;
}

CROWD_HD inline float mixed(float a, float b, float weight) {
  return a + (b - a) * weight;
}

CROWD_HD inline int floor_of(float value) {
  const int truncated = static_cast<int>(value);
  return truncated - (value < static_cast<float>(truncated) ? 1 : 0);
}

/// Where a coordinate lies along one axis: between these two pixels, so much nearer to `high`.
struct Between {
  int low, high;
  float weight;
};

/// The middle of the first pixel is 0.5. Inside `end` pixels, whose last ones go on beyond. `at` lies within a few
/// thousand pixels of them.
CROWD_HD inline Between between(float at, int end) {
  const int low = floor_of(at - 0.5F);
  return {within(low, end), within(low + 1, end), at - 0.5F - static_cast<float>(low)};
}

/// Between four pixels. Chroma that pixels share is not interpolated between their blocks.
CROWD_HD inline Colour colour_at(const Picture& picture, const Between& x, const Between& y) {
  float value[3];
  for (int i = 0; i < 3; i++) {
    const Samples& component = picture.components[i];
    const float upper =
        mixed(sample_at(picture, component, x.low, y.low), sample_at(picture, component, x.high, y.low), x.weight);
    const float lower =
        mixed(sample_at(picture, component, x.low, y.high), sample_at(picture, component, x.high, y.high), x.weight);
    value[i] = mixed(upper, lower, y.weight) - picture.offsets[i];
  }
  const auto channel = [&](const float* row) {
    return in_range(row[0] * value[0] + row[1] * value[1] + row[2] * value[2]);
  };
  return {channel(picture.matrix[0]), channel(picture.matrix[1]), channel(picture.matrix[2])};
}

}  // namespace crowd::net
