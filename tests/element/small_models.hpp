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
  int output_type = 1;
  int batch = 1;         ///< 0 leaves it open
  int side = 0;          ///< width and height; 0 leaves them open
  bool reshape = false;  ///< the operator is a Reshape to the dims above: inputs of other sizes fail
  bool external_weights = false;
  int layers = 1;  ///< of one input: the operator this many times in a row
};

/// An ONNX model of one operator from [batch, 3, height, width] to output "out".
std::string small_onnx(const SmallOnnx& options = {});

/// A frozen graph as of TensorFlow's object detection API: an SSD of one layer with `anchors` anchors a pixel and
/// two classes. Of the pixel's channels r, g, b a value is r + 10 g + 100 b + its channel: 4 anchor + i for boxes,
/// 2 anchor + i for classes.
std::string small_ssd(int anchors);

}  // namespace crowd::test
