// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** search.hpp: how to search, for the finders on the CPU and on the GPU. */
#pragma once

namespace crowd {

/** How to search. Sizes are pixels of the image. */
struct Search {
  double scale_factor = 1.05;  ///< ratio between neighbouring window sizes, > 1
  int win_stride = 8;          ///< step of the HOG window, pixels of the scaled image; quick where hog_cell divides it
  int padding = 8;             ///< how far a HOG window may leave the image, pixels of the scaled image
  double hit_threshold = 0.6;  ///< min HOG score
  int min_size = 0;            ///< min window height; the image is enlarged for less than the classifier's own height.
                               ///< 0: 88 for people, the cascade's own
  int max_size = 0;            ///< max window height; 0: the image
  bool body = true;            ///< shrink HOG windows to the part that the person fills
};

// The training windows hold the person with a border of 1/8 of the height above and below; 3/16 of the width on either
// side leaves room for arms and stride.
constexpr float body_margin_x = 3.0F / 16;
constexpr float body_margin_y = 1.0F / 8;

// Persons of about 66 pixels, the far end of a street scene in standard definition.
constexpr int people_min_size = 88;

/** Height of the smallest windows that people are searched for in, pixels of the image. */
constexpr int min_people_height(const Search& search) {
  return search.min_size > 0 ? search.min_size : people_min_size;
}

// Side of the cells of pixels that a HOG window consists of.
constexpr int hog_cell = 8;

// HOG takes some 20 bytes for each.
constexpr double max_enlarged_pixels = 64e6;

}  // namespace crowd
