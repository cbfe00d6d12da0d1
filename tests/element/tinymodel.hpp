// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A network small enough to know by heart, as an ONNX file that is written here: it takes [1, 3, 32, 32] and gives, as
// YOLOv8 does, [1, 6, 16]: for each cell of 8x8 pixels a box of 12x8 pixels around (16, 12), and as scores of two
// classes the means of red and of blue in the cell.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "detect/net/protobuf.hpp"
#include "tensors/half.hpp"

namespace crowd::test {

constexpr int tiny_side = 32, tiny_cell = 8, tiny_cells = 16;

namespace onnx {

using net::FieldWriter;

enum { float_type = 1, int64_type = 7, half_type = 10, ints_attribute = 7 };

template <typename Number>
std::string tensor(const std::string& name, const std::vector<std::int64_t>& dims, int type,
                   const std::vector<Number>& numbers) {
  FieldWriter message;
  for (const auto dim : dims)
    message.number(1, static_cast<std::uint64_t>(dim));
  message.number(2, static_cast<std::uint64_t>(type));
  message.bytes(8, name);
  message.bytes(9, {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)});
  return message.message();
}

inline std::string value(const std::string& name, const std::vector<std::int64_t>& dims, int element_type) {
  FieldWriter shape, tensor, type, message;
  for (const auto dim : dims) {
    FieldWriter size;
    size.number(1, static_cast<std::uint64_t>(dim));
    shape.bytes(1, size.message());
  }
  tensor.number(1, static_cast<std::uint64_t>(element_type));
  tensor.bytes(2, shape.message());
  type.bytes(1, tensor.message());
  message.bytes(1, name);
  message.bytes(2, type.message());
  return message.message();
}

inline std::string ints(const std::string& name, const std::vector<std::int64_t>& values) {
  FieldWriter message;
  message.bytes(1, name);
  for (const auto entry : values)
    message.number(8, static_cast<std::uint64_t>(entry));
  message.number(20, ints_attribute);
  return message.message();
}

inline std::string node(const char* type, const std::vector<std::string>& inputs, const std::string& output,
                        const std::vector<std::string>& attributes) {
  FieldWriter message;
  for (const std::string& input : inputs)
    message.bytes(1, input);
  message.bytes(2, output);
  message.bytes(3, type);
  message.bytes(4, type);
  for (const std::string& attribute : attributes)
    message.bytes(5, attribute);
  return message.message();
}

}  // namespace onnx

/// The file's bytes. Pixels of 0 to 1. `score` is added to the scores. With `half` all is float16.
inline std::string tiny_model(float score = 0, bool half = false) {
  constexpr std::size_t taps = tiny_cell * tiny_cell, channels = 6;
  std::vector<float> weights(channels * 3 * taps);
  for (std::size_t i = 0; i < taps; i++) {
    weights[(4 * 3 + 0) * taps + i] = 1.F / taps;
    weights[(5 * 3 + 2) * taps + i] = 1.F / taps;
  }
  const std::vector<float> bias = {16, 12, 12, 8, score, score};
  const int type = half ? onnx::half_type : onnx::float_type;
  const auto add_floats = [&](onnx::FieldWriter& to, const std::string& name, const std::vector<std::int64_t>& dims,
                              const std::vector<float>& values) {
    std::vector<std::uint16_t> halves;
    for (const float value : values)
      halves.push_back(tensors::half_of_float(value));
    to.bytes(5, half ? onnx::tensor(name, dims, type, halves) : onnx::tensor(name, dims, type, values));
  };
  onnx::FieldWriter graph, operators, model;
  graph.bytes(1, onnx::node("Conv", {"images", "weights", "bias"}, "cells",
                            {onnx::ints("kernel_shape", {tiny_cell, tiny_cell}),
                             onnx::ints("strides", {tiny_cell, tiny_cell}), onnx::ints("pads", {0, 0, 0, 0})}));
  graph.bytes(1, onnx::node("Reshape", {"cells", "shape"}, "output0", {}));
  graph.bytes(2, "tiny");
  add_floats(graph, "weights", {channels, 3, tiny_cell, tiny_cell}, weights);
  add_floats(graph, "bias", {channels}, bias);
  graph.bytes(5, onnx::tensor<std::int64_t>("shape", {3}, onnx::int64_type, {1, channels, tiny_cells}));
  graph.bytes(11, onnx::value("images", {1, 3, tiny_side, tiny_side}, type));
  graph.bytes(12, onnx::value("output0", {1, channels, tiny_cells}, type));
  operators.number(2, 11);
  model.number(1, 7);
  model.bytes(7, graph.message());
  model.bytes(8, operators.message());
  return model.message();
}

/// What describes it, with `more` at the end of the group [crowd].
inline std::string tiny_description(const std::string& more = "", bool half = false) {
  const std::string type = half ? "type=float16\n" : "type=float32\n";
  return "[modelinfo]\nversion=1.0\ngroup-id=yolo-v8-out\n"
         "[images]\nid=yolo-v8-in\n" +
         type + "dims=1,3,32,32\ndir=input\nranges=0.0,1.0;0.0,1.0;0.0,1.0\n[output0]\nid=yolo-v8-out\n" + type +
         "dims=1,6,16\ndir=output\n[crowd]\nfit=stretch\n" + more;
}

}  // namespace crowd::test
