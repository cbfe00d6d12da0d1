// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/net/ssdoutputs.hpp"

namespace crowd::net {

namespace {

constexpr std::int64_t sides = 4;

bool is_layer(const tensors::Dims& dims) {
  return dims.size() == 4 && dims[0] == 1 && dims[1] > 0 && dims[2] > 0 && dims[3] > 0;
}

}  // namespace

std::optional<SsdOutputs> SsdOutputs::make(const std::vector<tensors::Dims>& boxes,
                                           const std::vector<tensors::Dims>& classes, std::string& problem) {
  SsdOutputs outputs;
  for (std::size_t i = 0; i < boxes.size(); i++) {
    const tensors::Dims &box = boxes[i], &score = classes[i];
    const std::int64_t anchors = is_layer(box) ? box[1] / sides : 0;
    const bool fits = anchors > 0 && box[1] % sides == 0 && is_layer(score) && score[1] % anchors == 0 &&
                      score[2] == box[2] && score[3] == box[3] && (i == 0 || score[1] / anchors == outputs.classes_);
    if (!fits) {
      problem = "its BoxPredictor_" + std::to_string(i) +
                " does not have four encodings and the same number of classes for each anchor; convert it to ONNX";
      return {};
    }
    outputs.classes_ = score[1] / anchors;
    outputs.layers_.push_back({.cells = box[2] * box[3], .anchors = anchors});
    outputs.anchors_ += box[2] * box[3] * anchors;
  }
  return outputs;
}

void SsdOutputs::gather_one(const std::vector<Layer>& layers, const std::vector<const float*>& planes,
                            std::int64_t values, float* out) {
  for (std::size_t i = 0; i < layers.size(); i++) {
    const auto [cells, anchors] = layers[i];
    for (std::int64_t cell = 0; cell < cells; cell++) {
      for (std::int64_t channel = 0; channel < anchors * values; channel++)
        *out++ = planes[i][channel * cells + cell];
    }
  }
}

void SsdOutputs::gather(const std::vector<const float*>& boxes, const std::vector<const float*>& classes,
                        float* encodings, float* logits) const {
  gather_one(layers_, boxes, sides, encodings);
  gather_one(layers_, classes, classes_, logits);
}

}  // namespace crowd::net
