// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Where an input of a network lies in the frame. C++17, for CUDA sources as well.
#pragma once

namespace crowd::tensors {

/// frame = offset + scale * input, all in pixels. A box goes where this says, also beyond the input's and the frame's
/// border.
struct InputPlacement {
  float x = 0, y = 0;
  float scale_x = 1, scale_y = 1;
};

}  // namespace crowd::tensors
