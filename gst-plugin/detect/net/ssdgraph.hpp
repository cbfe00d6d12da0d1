// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frozen graphs of TensorFlow's object detection API with an SSD: their middle, between the preprocessor and the box
// decoding, is a plain convolutional network, and all that other libraries need.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace crowd::net {

struct SsdGraph {
  std::string bytes;                 ///< the graph that is left, with its weights
  std::string input;                 ///< [batch, height, width, 3], float32
  std::vector<std::string> boxes;    ///< a convolution for each layer of anchors, nearest first: anchors x 4 channels
  std::vector<std::string> classes;  ///< the same for logits: anchors x classes channels
};

/// Cuts a GraphDef down to what BoxPredictor_{0..}/{BoxEncodingPredictor,ClassPredictor}/BiasAdd need. Nothing, with
/// the reason and remedy, where it is none, or has no such box predictors.
std::optional<SsdGraph> cut_ssd_graph(std::string_view graph, std::string& problem);

}  // namespace crowd::net
