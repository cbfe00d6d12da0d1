// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/net/opendims.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "detect/net/onnxgraph.hpp"
#include "detect/net/protobuf.hpp"

namespace crowd::net {

namespace {

// Numbers of fields in onnx.proto.
enum : std::uint32_t { model_ir_version = 1, model_graph = 7 };
enum : std::uint32_t { graph_input = 11, graph_output = 12, graph_value_info = 13 };
enum : std::uint32_t { value_name = 1, value_type = 2, type_tensor = 1, tensor_shape = 2 };
enum : std::uint32_t { shape_dim = 1, dim_name = 2 };

// The first in which weights need not be inputs.
constexpr std::uint64_t version_of_constants = 4;

/// Appends what becomes of a field to the message.
using Change = std::function<void(const Field& field, FieldWriter& to)>;

/// A message with the fields of one number changed.
std::string changed(std::string_view message, std::uint32_t number, const Change& change) {
  FieldWriter to;
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number == number)
      change(field, to);
    else
      to.append(field.whole);
  }
  return to.message();
}

/// A ValueInfoProto with the shape of its tensor changed.
std::string with_shape(std::string_view value, const Change& change) {
  return changed(value, value_type, [&](const Field& type, FieldWriter& to) {
    to.bytes(value_type, changed(type.bytes, type_tensor, [&](const Field& tensor, FieldWriter& to_type) {
               to_type.bytes(type_tensor, changed(tensor.bytes, tensor_shape, change));
             }));
  });
}

std::string open_shape(std::string_view shape, std::size_t channels) {
  static const char* const names[] = {"batch", "side1", "side2", "side3"};
  std::size_t i = 0;
  return changed(shape, shape_dim, [&](const Field& dim, FieldWriter& to) {
    if (i == channels || i >= std::size(names)) {
      to.append(dim.whole);
    } else {
      FieldWriter open;
      open.bytes(dim_name, names[i]);
      to.bytes(shape_dim, open.message());
    }
    i++;
  });
}

std::string name_of(std::string_view value) {
  FieldReader reader(value);
  for (Field field; reader.next(field);) {
    if (field.number == value_name)
      return std::string(field.bytes);
  }
  return {};
}

std::string open_input(std::string_view value, std::size_t channels) {
  return with_shape(value, [channels](const Field& shape, FieldWriter& to) {
    to.bytes(tensor_shape, open_shape(shape.bytes, channels));
  });
}

void leave_out(const Field&, FieldWriter&) {}

}  // namespace

std::optional<std::string> with_open_dims(std::string_view model, bool planar) {
  const std::optional<OnnxGraph> read = read_onnx_graph(model);
  if (!read || read->external_weights)
    return std::nullopt;
  std::set<std::string> inputs;
  for (const OnnxValue& input : read->inputs)
    inputs.insert(input.name);
  bool has_constant_inputs = false;
  std::uint64_t version = 0;
  std::string open = changed(model, model_graph, [&](const Field& field, FieldWriter& to) {
    std::string graph = changed(field.bytes, graph_input, [&](const Field& value, FieldWriter& to_graph) {
      const bool is_input = inputs.contains(name_of(value.bytes));
      has_constant_inputs |= !is_input;
      if (is_input)
        to_graph.bytes(graph_input, open_input(value.bytes, planar ? 1 : 3));
    });
    graph = changed(graph, graph_output, [](const Field& value, FieldWriter& to_graph) {
      to_graph.bytes(graph_output, with_shape(value.bytes, leave_out));
    });
    to.bytes(model_graph, changed(graph, graph_value_info, leave_out));
  });
  changed(model, model_ir_version, [&](const Field& field, FieldWriter&) { version = field.value; });
  if (has_constant_inputs && version < version_of_constants) {
    // Of two values of a field the last one counts.
    FieldWriter newer;
    newer.number(model_ir_version, version_of_constants);
    open += newer.message();
  }
  return open;
}

}  // namespace crowd::net
