// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** placer.hpp: placement.hpp on the host. */
#pragma once

#include <optional>
#include <vector>

#include "overlay/draw/placement.hpp"

namespace crowd::draw {

/** Places the labels of one frame, all of the same height. Keeps its memory from frame to frame. */
class LabelPlacer {
 public:
  /** `label_height` and `frame_height` in pixels. */
  void begin_frame(int label_height, int frame_height);

  /** Where the next label stands, or nothing if all of its places are taken. Throws std::bad_alloc. */
  std::optional<PixelBox> place(const LabelPlaces& label);

 private:
  /** A label in the list of a band. A label lies in two bands at most, of the height of a label. */
  struct Entry {
    PixelBox box;
    int next;
  };

  bool meets_any(int band, const PixelBox& box) const;
  void add(int band, const PixelBox& box);

  int band_height_ = 1;
  std::vector<int> first_;  ///< entry of each band; negative: none
  std::vector<Entry> entries_;
};

}  // namespace crowd::draw
