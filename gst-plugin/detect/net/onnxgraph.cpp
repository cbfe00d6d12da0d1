// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/net/onnxgraph.hpp"

#include <algorithm>

#include "detect/net/protobuf.hpp"

namespace crowd::net {

namespace {

// Fields of ONNX's messages.
enum : std::uint32_t { model_graph = 7, model_operator_set = 8 };
enum : std::uint32_t { graph_node = 1, graph_initializer = 5, graph_input = 11, graph_output = 12 };
enum : std::uint32_t { node_op_type = 4 };
enum : std::uint32_t { tensor_name = 8, tensor_data_location = 14 };
enum : std::uint32_t { value_name = 1, value_type = 2, type_tensor = 1, tensor_element = 1, tensor_shape = 2 };
enum : std::uint32_t { shape_dim = 1, dim_value = 1 };

/// Calls `take` with each field; false where the message is damaged or `take` says so.
template <typename Take>
bool each_field(std::string_view message, Take take) {
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (!take(field))
      return false;
  }
  return !reader.damaged();
}

bool read_dim(std::string_view message, tensors::Dims& dims) {
  dims.push_back(tensors::any_size);
  return each_field(message, [&](const Field& field) {
    if (field.number == dim_value)
      dims.back() = static_cast<std::int64_t>(field.value);
    return true;
  });
}

bool read_type(std::string_view message, OnnxValue& value) {
  return each_field(message, [&](const Field& type) {
    return type.number != type_tensor || each_field(type.bytes, [&](const Field& tensor) {
             if (tensor.number == tensor_element)
               value.element_type = tensor.value;
             return tensor.number != tensor_shape || each_field(tensor.bytes, [&](const Field& dim) {
                      return dim.number != shape_dim || read_dim(dim.bytes, value.dims);
                    });
           });
  });
}

bool read_value(std::string_view message, std::vector<OnnxValue>& values) {
  OnnxValue value;
  const bool whole = each_field(message, [&](const Field& field) {
    if (field.number == value_name)
      value.name = field.bytes;
    return field.number != value_type || read_type(field.bytes, value);
  });
  values.push_back(std::move(value));
  return whole;
}

bool read_node(std::string_view message, OnnxGraph& graph) {
  return each_field(message, [&](const Field& field) {
    if (field.number == node_op_type)
      graph.operators.emplace(field.bytes);
    return true;
  });
}

bool read_initializer(std::string_view message, OnnxGraph& graph, std::set<std::string>& weights) {
  return each_field(message, [&](const Field& field) {
    if (field.number == tensor_name)
      weights.emplace(field.bytes);
    else if (field.number == tensor_data_location)
      graph.external_weights |= field.value != 0;
    return true;
  });
}

bool read_graph(std::string_view message, OnnxGraph& graph) {
  std::set<std::string> weights;
  const bool whole = each_field(message, [&](const Field& field) {
    switch (field.number) {
      case graph_node:
        return read_node(field.bytes, graph);
      case graph_initializer:
        return read_initializer(field.bytes, graph, weights);
      case graph_input:
        return read_value(field.bytes, graph.inputs);
      case graph_output:
        return read_value(field.bytes, graph.outputs);
      default:
        return true;
    }
  });
  std::erase_if(graph.inputs, [&](const OnnxValue& input) { return weights.contains(input.name); });
  return whole;
}

}  // namespace

std::optional<OnnxGraph> read_onnx_graph(std::string_view model) {
  OnnxGraph graph;
  bool has_operator_set = false;
  const bool whole = each_field(model, [&](const Field& field) {
    has_operator_set |= field.number == model_operator_set;
    return field.number != model_graph || read_graph(field.bytes, graph);
  });
  if (!whole || !has_operator_set || graph.operators.empty() || graph.inputs.empty() || graph.outputs.empty())
    return {};
  return graph;
}

}  // namespace crowd::net
