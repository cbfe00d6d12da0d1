// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How a part of a picture becomes an input of a network, on the host and on a device with the same bits. C++17.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/host_device.hpp"
#include "detect/net/number.hpp"
#include "detect/net/picture.hpp"
#include "tensors/placement.hpp"

namespace crowd::net {

/// One input of a batch. Beyond the edge of the picture its last pixels go on.
struct Crop {
  tensors::InputPlacement place;
  float content_width = 0, content_height = 0;  ///< pixels of the input that show the picture; the rest is padding
  int taps_x = 1, taps_y = 1;                   ///< samples of the picture for a pixel of the input, in each direction
};

/// What the input's numbers are.
struct Encoding {
  int width = 0, height = 0;
  bool planar = true;             ///< channel by channel; else pixel by pixel
  float factor[3] = {1, 1, 1};    ///< of red, green and blue of 0 to 255
  float offset[3] = {};           ///< added to the product
  int channel_of[3] = {0, 1, 2};  ///< where red, green and blue go
};

/// Grey of what shows nothing of the picture.
inline constexpr float padding = 114;

/// Sample `tap` of `taps`, spread evenly over a pixel of the input, along an axis of the picture with `end` pixels.
CROWD_HD inline Between sample_of(int pixel, int tap, int taps, float origin, float scale, int end) {
  const float inside = static_cast<float>(pixel) + (static_cast<float>(tap) + 0.5F) / static_cast<float>(taps);
  return between(origin + scale * inside, end);
}

CROWD_HD inline Between sample_x(const Picture& picture, const Crop& crop, int x, int tap) {
  return sample_of(x, tap, crop.taps_x, crop.place.x, crop.place.scale_x, picture.width);
}

CROWD_HD inline Between sample_y(const Picture& picture, const Crop& crop, int y, int tap) {
  return sample_of(y, tap, crop.taps_y, crop.place.y, crop.place.scale_y, picture.height);
}

/// Whether pixel (x, y) of the input shows the picture.
CROWD_HD inline bool has_content(const Crop& crop, int x, int y) {
  return static_cast<float>(x) < crop.content_width && static_cast<float>(y) < crop.content_height;
}

/// The mean of the samples of a pixel; in_x(column) and in_y(row) say where they lie.
template <typename InX, typename InY>
CROWD_HD inline Colour mean_of(const Picture& picture, const Crop& crop, const InX& in_x, const InY& in_y) {
  Colour sum{0, 0, 0};
  for (int row = 0; row < crop.taps_y; row++) {
    const Between y = in_y(row);
    for (int column = 0; column < crop.taps_x; column++) {
      const Colour colour = colour_at(picture, in_x(column), y);
      sum.red += colour.red;
      sum.green += colour.green;
      sum.blue += colour.blue;
    }
  }
  const auto taps = static_cast<float>(crop.taps_x * crop.taps_y);
  return {sum.red / taps, sum.green / taps, sum.blue / taps};
}

/// Pixel (x, y) of the input.
CROWD_HD inline Colour pixel_of(const Picture& picture, const Crop& crop, int x, int y) {
  if (!has_content(crop, x, y))
    return {padding, padding, padding};
  return mean_of(
      picture, crop, [&](int column) { return sample_x(picture, crop, x, column); },
      [&](int row) { return sample_y(picture, crop, y, row); });
}

/// Writes pixel (x, y) of the `image`-th input of a batch.
template <typename Number>
CROWD_HD inline void write_pixel(const Encoding& encoding, Number* batch, std::size_t image, int x, int y,
                                 const Colour& colour) {
  const float channels[3] = {colour.red, colour.green, colour.blue};
  const std::size_t pixels = static_cast<std::size_t>(encoding.width) * static_cast<std::size_t>(encoding.height);
  const std::size_t pixel =
      static_cast<std::size_t>(y) * static_cast<std::size_t>(encoding.width) + static_cast<std::size_t>(x);
  for (int i = 0; i < 3; i++) {
    const auto channel = static_cast<std::size_t>(encoding.channel_of[i]);
    const std::size_t at = image * 3 * pixels + (encoding.planar ? channel * pixels + pixel : pixel * 3 + channel);
    store(channels[i] * encoding.factor[i] + encoding.offset[i], batch[at]);
  }
}

}  // namespace crowd::net
