// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "small_models.hpp"

#include <cstring>
#include <utility>

#include "detect/net/protobuf.hpp"

namespace crowd::test {

namespace {

using net::FieldWriter;

std::string onnx_value(const std::string& name, int element_type, const SmallOnnx& options) {
  FieldWriter shape, tensor, type, value;
  const std::pair<int, const char*> dims[] = {
      {options.batch, "batch"}, {3, ""}, {options.side, "height"}, {options.side, "width"}};
  for (const auto& [size, any] : dims) {
    FieldWriter dim;
    if (size > 0)
      dim.number(1, static_cast<std::uint64_t>(size));
    else
      dim.bytes(2, any);
    shape.bytes(1, dim.message());
  }
  tensor.number(1, static_cast<std::uint64_t>(element_type));
  tensor.bytes(2, shape.message());
  type.bytes(1, tensor.message());
  value.bytes(1, name);
  value.bytes(2, type.message());
  return value.message();
}

std::string shape_tensor(const std::vector<std::int64_t>& dims) {
  FieldWriter tensor;
  tensor.number(1, dims.size());
  tensor.number(2, 7);  // int64
  tensor.bytes(8, "shape");
  std::string bytes(dims.size() * sizeof(dims[0]), '\0');
  std::memcpy(bytes.data(), dims.data(), bytes.size());
  tensor.bytes(9, bytes);
  return tensor.message();
}

struct TfNode {
  std::string name, op;
  std::vector<std::string> inputs;
  std::vector<std::pair<std::string, std::string>> attributes;  ///< AttrValue messages
};

void add_node(FieldWriter& graph, const TfNode& node) {
  FieldWriter message;
  message.bytes(1, node.name);
  message.bytes(2, node.op);
  for (const std::string& input : node.inputs)
    message.bytes(3, input);
  for (const auto& [key, value] : node.attributes) {
    FieldWriter entry;
    entry.bytes(1, key);
    entry.bytes(2, value);
    message.bytes(5, entry.message());
  }
  graph.bytes(1, message.message());
}

std::string attribute_type() {
  FieldWriter value;
  value.number(6, 1);  // float32
  return value.message();
}

std::string attribute_text(const std::string& text) {
  FieldWriter value;
  value.bytes(2, text);
  return value.message();
}

std::string attribute_ones() {
  FieldWriter list, value;
  for (int i = 0; i < 4; i++)
    list.number(3, 1);
  value.bytes(1, list.message());
  return value.message();
}

std::string attribute_tensor(const std::vector<int>& dims, const std::vector<float>& values) {
  FieldWriter shape, tensor, value;
  for (const int size : dims) {
    FieldWriter dim;
    dim.number(1, static_cast<std::uint64_t>(size));
    shape.bytes(2, dim.message());
  }
  tensor.number(1, 1);
  tensor.bytes(2, shape.message());
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  tensor.bytes(4, bytes);
  value.bytes(8, tensor.message());
  return value.message();
}

void add_constant(FieldWriter& graph, const std::string& name, const std::vector<int>& dims,
                  const std::vector<float>& values) {
  add_node(graph, {name, "Const", {}, {{"dtype", attribute_type()}, {"value", attribute_tensor(dims, values)}}});
}

void add_predictor(FieldWriter& graph, const std::string& name, int channels) {
  std::vector<float> weights, biases;
  for (const float weight : {1.F, 10.F, 100.F})
    weights.insert(weights.end(), static_cast<std::size_t>(channels), weight);
  for (int i = 0; i < channels; i++)
    biases.push_back(static_cast<float>(i));
  add_constant(graph, name + "/weights", {1, 1, 3, channels}, weights);
  add_constant(graph, name + "/biases", {channels}, biases);
  add_node(graph, {name + "/Conv2D",
                   "Conv2D",
                   {"Preprocessor/sub", name + "/weights"},
                   {{"T", attribute_type()},
                    {"data_format", attribute_text("NHWC")},
                    {"padding", attribute_text("SAME")},
                    {"strides", attribute_ones()}}});
  add_node(graph, {name + "/BiasAdd",
                   "BiasAdd",
                   {name + "/Conv2D", name + "/biases"},
                   {{"T", attribute_type()}, {"data_format", attribute_text("NHWC")}}});
}

}  // namespace

std::string small_onnx(const SmallOnnx& options) {
  FieldWriter operators, node, graph, model;
  for (int i = 0; i < options.inputs; i++) {
    node.bytes(1, "in" + std::to_string(i));
    graph.bytes(11, onnx_value("in" + std::to_string(i), options.element_type, options));
  }
  if (options.reshape) {
    node.bytes(1, "shape");
    graph.bytes(5, shape_tensor({options.batch, 3, options.side, options.side}));
  }
  node.bytes(2, options.layers > 1 ? "layer1" : "out");
  node.bytes(3, "node");
  node.bytes(4, options.reshape ? "Reshape" : options.op);
  graph.bytes(1, node.message());
  for (int i = 1; i < options.layers; i++) {
    FieldWriter layer;
    layer.bytes(1, "layer" + std::to_string(i));
    layer.bytes(2, i + 1 < options.layers ? "layer" + std::to_string(i + 1) : "out");
    layer.bytes(3, "node" + std::to_string(i));
    layer.bytes(4, options.op);
    graph.bytes(1, layer.message());
  }
  graph.bytes(2, "small");
  if (options.external_weights) {
    FieldWriter tensor;
    tensor.number(2, 1);
    tensor.bytes(8, "weights");
    tensor.number(14, 1);
    graph.bytes(5, tensor.message());
  }
  graph.bytes(12, onnx_value("out", options.output_type, options));
  model.number(1, 7);
  model.bytes(7, graph.message());
  operators.number(2, 11);
  model.bytes(8, operators.message());
  return model.message();
}

std::string small_ssd(int anchors) {
  FieldWriter graph;
  add_node(graph, {"image_tensor", "Placeholder", {}, {{"dtype", attribute_type()}}});
  add_node(graph, {"Preprocessor/sub", "Loop", {"image_tensor"}, {}});
  add_predictor(graph, "BoxPredictor_0/BoxEncodingPredictor", 4 * anchors);
  add_predictor(graph, "BoxPredictor_0/ClassPredictor", 2 * anchors);
  add_node(graph, {"Postprocessor/nms", "NonMaxSuppressionV3", {"BoxPredictor_0/BoxEncodingPredictor/BiasAdd"}, {}});
  return graph.message();
}

}  // namespace crowd::test
