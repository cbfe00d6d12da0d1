// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Models' files of a few hundred bytes, written here.
#pragma once

#include <string>
#include <vector>

namespace crowd::test {

struct SmallOnnx {
  std::string op = "Relu";
  int inputs = 1;
  int element_type = 1;  ///< of the input: float32
  bool external_weights = false;
};

/// An ONNX model of one operator from [1, 3, height, width], which the file leaves open, to output "out".
std::string small_onnx(const SmallOnnx& options = {});

/// A frozen graph as of TensorFlow's object detection API: an SSD of one layer with `anchors` anchors a pixel and
/// two classes. Of the pixel's channels r, g, b a value is r + 10 g + 100 b + its channel: 4 anchor + i for boxes,
/// 2 anchor + i for classes.
std::string small_ssd(int anchors);

}  // namespace crowd::test
