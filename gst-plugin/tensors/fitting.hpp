// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How pictures become inputs of a network, and the way back.
#pragma once

#include <algorithm>

#include "tensors/description.hpp"

namespace crowd::tensors {

/// Pixels of the picture to a pixel of the input.
struct PictureScale {
  double x, y;
};

inline PictureScale scale_to_picture(double width, double height, int input_width, int input_height, Fit fit) {
  const double x = width / input_width, y = height / input_height;
  return fit == Fit::letterbox ? PictureScale{std::max(x, y), std::max(x, y)} : PictureScale{x, y};
}

}  // namespace crowd::tensors
