// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "overlay/draw/placer.hpp"

namespace crowd::draw {

void LabelPlacer::begin_frame(int label_height, int frame_height) {
  band_height_ = label_height;
  // A label that is higher than the frame ends below it.
  first_.assign(static_cast<std::size_t>(frame_height / label_height) + 2, -1);
  entries_.clear();
}

bool LabelPlacer::meets_any(int band, const PixelBox& box) const {
  for (int i = first_[static_cast<std::size_t>(band)]; i >= 0; i = entries_[static_cast<std::size_t>(i)].next)
    if (!is_empty(intersection(entries_[static_cast<std::size_t>(i)].box, box)))
      return true;
  return false;
}

void LabelPlacer::add(int band, const PixelBox& box) {
  int& first = first_[static_cast<std::size_t>(band)];
  entries_.push_back({box, first});
  first = static_cast<int>(entries_.size()) - 1;
}

std::optional<PixelBox> LabelPlacer::place(const LabelPlaces& label) {
  for (int i = 0; i < label_places; i++) {
    if (!(label.usable >> i & 1))
      continue;
    const PixelBox box = label.box(i);
    const int upper = box.y1 / band_height_, lower = (box.y2 - 1) / band_height_;
    if (meets_any(upper, box) || (lower != upper && meets_any(lower, box)))
      continue;
    add(upper, box);
    if (lower != upper)
      add(lower, box);
    return box;
  }
  return std::nullopt;
}

}  // namespace crowd::draw
