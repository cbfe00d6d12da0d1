// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * placement.hpp: where labels stand, so that none covers another, on the host and on a device, in C++17.
 *
 * The labels of the `max_labels` best-ranked survivors are placed in the order of their rank, each at the first of its
 * places that meets no label placed before. One that finds no place is left out. The summary has its place before all.
 */
#pragma once

#include "base/host_device.hpp"
#include "overlay/draw/geometry.hpp"

namespace crowd::draw {

/** Survivors that have labels, so that no crowd takes more time than this. */
constexpr int max_labels = 512;

/** Places of a label: above its box, inside the top, below, inside the bottom; each from the box's left edge to the
 * right, then from the right edge to the left. */
constexpr int label_rows = 4, label_columns = 2, label_places = label_rows * label_columns;

struct LabelPlaces {
  int x[label_columns];
  int y[label_rows];
  int width, height;
  unsigned usable;  ///< a bit for each place, the first one lowest

  CROWD_HD constexpr PixelBox box(int place) const {
    const int left = x[place % label_columns], top = y[place / label_columns];
    return {left, top, left + width, top + height};
  }
  /** The places that meet a box: a bit for each. */
  CROWD_HD constexpr unsigned meeting(const PixelBox& other) const {
    unsigned columns = 0, places = 0;
    for (int i = 0; i < label_columns; i++)
      if (x[i] < other.x2 && other.x1 < x[i] + width)
        columns |= 1U << i;
    for (int i = 0; i < label_rows; i++)
      if (y[i] < other.y2 && other.y1 < y[i] + height)
        places |= columns << i * label_columns;
    return places;
  }
  /** What covers every place. */
  CROWD_HD constexpr PixelBox reach() const {
    const int top = smaller_of(smaller_of(y[0], y[1]), smaller_of(y[2], y[3]));
    const int bottom = larger_of(larger_of(y[0], y[1]), larger_of(y[2], y[3]));
    return {smaller_of(x[0], x[1]), top, larger_of(x[0], x[1]) + width, bottom + height};
  }
};

/** The first of the places in a set that is not empty. */
CROWD_HD constexpr int first_place(unsigned places) {
  int place = 0;
  while (!(places >> place & 1))
    place++;
  return place;
}

/**
 * The places of a text for a box that is visible. They lie in the frame, as far as the text fits into it.
 * `taken`: the pixels of the summary, or an empty box.
 */
CROWD_HD constexpr LabelPlaces places_of(const PixelBox& box, int characters, int scale, int width, int height,
                                         const PixelBox& taken) {
  const PixelBox text = text_box(0, 0, characters, scale);
  const PixelBox seen = intersection(box, {0, 0, width, height});
  const int right = larger_of(width - text.x2, 0), bottom = larger_of(height - text.y2, 0);
  LabelPlaces places{};
  places.x[0] = smaller_of(seen.x1, right);
  places.x[1] = larger_of(smaller_of(seen.x2 - text.x2, right), 0);
  places.y[0] = seen.y1 - text.y2;
  places.y[1] = smaller_of(seen.y1, bottom);
  places.y[2] = seen.y2;
  places.y[3] = larger_of(smaller_of(seen.y2 - text.y2, bottom), 0);
  places.width = text.x2;
  places.height = text.y2;
  constexpr unsigned row = (1U << label_columns) - 1;
  places.usable = row << label_columns | row << 3 * label_columns;
  if (places.y[0] >= 0)
    places.usable |= row;
  if (places.y[2] <= bottom)
    places.usable |= row << 2 * label_columns;
  places.usable &= ~places.meeting(taken);
  return places;
}

}  // namespace crowd::draw
