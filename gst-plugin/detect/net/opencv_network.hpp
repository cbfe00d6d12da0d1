// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A model's file for OpenCV's dnn: checked, and kept as bytes, since OpenCV takes a network for one size of input only.
// OpenCV 4.6 fuses layers on the first run; after one with inputs of another shape its results are wrong, silently.
#pragma once

#include <functional>
#include <opencv2/dnn.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tensors/tensor.hpp"

namespace crowd::net {

struct OpenCvNetwork {
  std::string bytes;
  bool onnx = false;
  /// Outputs of the network by OpenCV's names. Of an SSD the boxes of all layers, then the classes of all layers.
  std::vector<std::string> outputs;
  std::size_t ssd_layers = 0;  ///< 0 where the network is no SSD graph of TensorFlow

  /// Throws what OpenCV throws.
  cv::dnn::Net read() const;
};

/// Calls `call`; false with what OpenCV or the standard library threw.
bool try_opencv(std::string& problem, const std::function<void()>& call);

/// Of the outputs those named in `wanted` that the file has, or all where it has none of these. Nothing, with the
/// reason and remedy, for a file that is not there, is no whole model, or that OpenCV cannot read.
std::optional<OpenCvNetwork> load_opencv_network(const std::string& path,
                                                 const std::vector<tensors::TensorInfo>& wanted, std::string& problem);

/// Whether the ending is one that load_opencv_network() reads: .onnx or .pb.
bool opencv_reads(const std::string& path);

}  // namespace crowd::net
