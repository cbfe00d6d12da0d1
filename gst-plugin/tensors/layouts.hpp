// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The layouts of outputs that can be decoded, a row each. A description names one by its group-id, and says by ids
// which tensor is which of the layout's outputs. b is the batch, N the places (anchors or cells), C the classes:
//
//   group-id            ids of outputs and their dims
//   ssd-encodings-out   ssd-encodings-out-boxes [b,N,4], ssd-encodings-out-scores [b,N,C]: to be added to anchors
//   ssd-boxes-out       ssd-boxes-out-boxes [b,N,4], ssd-boxes-out-scores [b,N,C]: corners, 0..1
//   centerface-out      centerface-out-heat [b,1,H,W], -sizes [b,2,H,W], -offsets [b,2,H,W], -landmarks (not read)
//   yolo-v8-out         yolo-v8-out [b,4+C,N]: YOLOv8 and 11; centre and size in pixels, scores
//   yolo-v5-out         yolo-v5-out [b,N,5+C]: centre and size in pixels, objectness, scores
//   yolo-v26-out        yolo-v26-out [b,N,6]: x1 y1 x2 y2 in pixels, score, class
//   blazeface-out       blazeface-out-boxes [b,N,16], blazeface-out-scores [b,N,1]
//   ultra-lightweight-face-detection-rfb-320-v1-variant-1-out, with the ids that GStreamer's decoder reads:
//                       ssd-mobilenet-v1-variant-1-out-boxes [b,N,4], GROUP-ID-scores [b,N,C]: corners, 0..1
//
// Parameters, keys of a description's group [crowd]; each layout has its own defaults:
//
//   activation=none|sigmoid      what is to be done to scores and objectness
//   classes=                     how many there are; yolo-v26-out has to have it, for others it is compared
//   background=yes|no            class 0 of the tensor is the background, and class 1 becomes class 0
//   coordinates=pixels|relative  of the input, or 0..1
//   box-order=                   of the four values of a box: xyxy, yxyx, or with anchors xywh, yxhw
//   variances=                   of the encodings' x and y, and of width and height
//   grids=                       cells a side of each layer of anchors
//   min-scale=, max-scale=       of the anchors of the first and of the last layer, parts of the input's side
//   ratios=                      width to height of the anchors of a cell
//   reduce-first=yes|no          the first layer has three anchors a cell, the first of them of scale .1
//   anchors-per-cell=            of each layer, all alike
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tensors/description.hpp"
#include "tensors/plan.hpp"

namespace crowd::tensors {

struct Layout;

/// Null where there is none of that name.
const Layout* find_layout(const std::string& group_id);

/// All names, for messages: "a, b or c".
std::string layout_names();

/// Whether a description of that layout may give this parameter.
bool has_parameter(const Layout& layout, const std::string& key);
/// Its parameters, for messages.
std::string parameter_names(const Layout& layout);
/// Whether it has an output of that id.
bool has_output(const Layout& layout, const std::string& id);
/// Whether that is needed to decode it.
bool needs_output(const Layout& layout, const std::string& id);
/// Its outputs' ids and dims, for messages.
std::string output_names(const Layout& layout);

/// What a decoder on the host and one on a device are made from.
struct Planned {
  Plan plan;
  std::vector<Anchor> anchors;  ///< one for each place, where the form takes them
  /// outputs[i] of the plan is this of the network's; their types and dims are what they have to be but for the batch.
  std::vector<std::size_t> outputs;
  std::vector<TensorInfo> infos;
};

/// As Decoder::make(). False with the reason and remedy in `problem`.
bool make_plan(const Description& description, const std::vector<TensorInfo>& outputs, int width, int height,
               Planned& planned, std::string& problem);

/// Where the outputs of a batch are that the plan reads. False where they are not what the plan was made for, or of a
/// smaller batch.
bool take_outputs(const Planned& planned, std::span<const Tensor> outputs, std::size_t batch, OutputData& data);

}  // namespace crowd::tensors
