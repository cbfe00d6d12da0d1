// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/net/fill.hpp"

namespace crowd::net {

namespace {

template <typename Number>
void fill_with(const FillWork& work) {
  auto* batch = static_cast<Number*>(work.batch);
  for (int image = 0; image < work.count; image++)
    for (int y = 0; y < work.encoding.height; y++)
      for (int x = 0; x < work.encoding.width; x++)
        write_pixel(work.encoding, batch, static_cast<std::size_t>(image), x, y,
                    pixel_of(work.picture, work.crops[image], x, y));
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
