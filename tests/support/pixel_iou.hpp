// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The overlap of boxes in whole pixels as GStreamer's yolov8tensordec computes it. Shares no code with ours.
#pragma once

#include <algorithm>

namespace crowd::test {

/// In pixels.
struct PixelBox {
  int x, y, width, height;
};

/// Cuts off the part of a side that is below 0. False if nothing is left; a side may be left with length 0.
inline bool cut_below_zero(int& at, int& length) {
  if (at >= 0)
    return true;
  if (at + length < 0)
    return false;
  length += at;
  at = 0;
  return true;
}

inline int shared_length(int a, int a_length, int b, int b_length) {
  return std::max(0, std::min(a + a_length, b + b_length) - std::max(a, b));
}

/// Intersection over union of what lies right of the frame's left edge and below its top. 0 without an intersection.
inline float pixel_iou(PixelBox a, PixelBox b) {
  if (!cut_below_zero(a.x, a.width) || !cut_below_zero(a.y, a.height) || !cut_below_zero(b.x, b.width) ||
      !cut_below_zero(b.y, b.height))
    return 0;
  const int both = shared_length(a.x, a.width, b.x, b.width) * shared_length(a.y, a.height, b.y, b.height);
  return both == 0 ? 0 : float(both) / float(a.width * a.height + b.width * b.height - both);
}

}  // namespace crowd::test
