// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What an ONNX file says of itself, for messages that a library would not give, or would crash over.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tensors/tensor.hpp"

namespace crowd::net {

struct OnnxValue {
  std::string name;
  std::uint64_t element_type = 0;  ///< TensorProto.DataType: 1 is float32, 0 is none
  tensors::Dims dims;              ///< any_size where the file has a name or nothing
};

struct OnnxGraph {
  std::vector<OnnxValue> inputs;  ///< without the weights
  std::vector<OnnxValue> outputs;
  std::set<std::string> operators;
  bool external_weights = false;  ///< in files of their own
};

inline constexpr std::uint64_t onnx_float32 = 1;

/// Nothing where the bytes are no ONNX model, or not a whole one.
std::optional<OnnxGraph> read_onnx_graph(std::string_view model);

}  // namespace crowd::net
