// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/net/fill.hpp"

#include <vector>

namespace crowd::net {

namespace {

/// Samples of all pixels along an axis: that of tap t of pixel i is at i * taps + t.
template <typename Sample>
std::vector<Between> samples(int pixels, int taps, const Sample& sample) {
  std::vector<Between> all;
  all.reserve(static_cast<std::size_t>(pixels) * static_cast<std::size_t>(taps));
  for (int pixel = 0; pixel < pixels; pixel++)
    for (int tap = 0; tap < taps; tap++)
      all.push_back(sample(pixel, tap));
  return all;
}

/// pixel_of() for each pixel of one input: where samples lie is worked out once for a column or row.
template <typename Number>
void fill_image(const FillWork& work, int image, Number* batch) {
  const Crop& crop = work.crops[image];
  const int width = work.encoding.width, height = work.encoding.height;
  const auto columns =
      samples(width, crop.taps_x, [&](int x, int tap) { return sample_x(work.picture, crop, x, tap); });
  const auto rows = samples(height, crop.taps_y, [&](int y, int tap) { return sample_y(work.picture, crop, y, tap); });
  for (int y = 0; y < height; y++) {
    const Between* in_y = rows.data() + static_cast<std::ptrdiff_t>(y) * crop.taps_y;
    for (int x = 0; x < width; x++) {
      const Between* in_x = columns.data() + static_cast<std::ptrdiff_t>(x) * crop.taps_x;
      const Colour colour = has_content(crop, x, y) ? mean_of(
                                                          work.picture, crop, [in_x](int tap) { return in_x[tap]; },
                                                          [in_y](int tap) { return in_y[tap]; })
                                                    : Colour{padding, padding, padding};
      write_pixel(work.encoding, batch, static_cast<std::size_t>(image), x, y, colour);
    }
  }
}

template <typename Number>
void fill_with(const FillWork& work) {
  for (int image = 0; image < work.count; image++)
    fill_image(work, image, static_cast<Number*>(work.batch));
}

}  // namespace

void fill(const FillWork& work) {
  switch (work.type) {
    case tensors::Type::float32:
      return fill_with<float>(work);
    case tensors::Type::float16:
      return fill_with<Half>(work);
    case tensors::Type::uint8:
      return fill_with<std::uint8_t>(work);
  }
}

}  // namespace crowd::net
