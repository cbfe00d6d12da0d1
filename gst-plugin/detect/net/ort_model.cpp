// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/net/ort_model.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

#include "detect/net/opendims.hpp"

namespace crowd::net {

namespace {

using tensors::Dims;
using tensors::TensorInfo;
using tensors::Type;

std::optional<Type> type_of(ONNXTensorElementDataType type) {
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
      return Type::float32;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
      return Type::float16;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
      return Type::uint8;
    default:
      return std::nullopt;
  }
}

const char* name_of(Type type) {
  return type == Type::float32 ? "float32" : type == Type::float16 ? "float16" : "uint8";
}

/// Nothing where it is no tensor of a type that we know.
std::optional<TensorInfo> info_of(std::string name, const Ort::TypeInfo& info) {
  if (info.GetONNXType() != ONNX_TYPE_TENSOR)
    return std::nullopt;
  const auto tensor = info.GetTensorTypeAndShapeInfo();
  const std::optional<Type> type = type_of(tensor.GetElementType());
  if (!type)
    return std::nullopt;
  return TensorInfo{.name = std::move(name), .id = {}, .type = *type, .dims = tensor.GetShape()};
}

const TensorInfo* find(const std::vector<TensorInfo>& infos, const std::string& name) {
  const auto found = std::ranges::find(infos, name, &TensorInfo::name);
  return found == infos.end() ? nullptr : &*found;
}

std::string names_of(const std::vector<TensorInfo>& infos) {
  std::string names;
  for (const TensorInfo& info : infos)
    names += (names.empty() ? "" : ", ") + info.name;
  return names;
}

/// Whether one of two sizes is open, or both are the same.
bool agree(std::int64_t a, std::int64_t b) {
  return a <= 0 || b <= 0 || a == b;
}

}  // namespace

ONNXTensorElementDataType ort_type(Type type) {
  return type == Type::float32   ? ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT
         : type == Type::float16 ? ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16
                                 : ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8;
}

std::string text_of(const Dims& dims) {
  std::string text;
  for (const std::int64_t size : dims)
    text += (text.empty() ? "" : "x") + (size > 0 ? std::to_string(size) : std::string("?"));
  return text;
}

std::unique_ptr<OrtModel> OrtModel::open(const EngineModel& model, Ort::SessionOptions options, std::string& problem) {
  if (const std::ifstream file(model.path, std::ios::binary); !file) {
    problem = model.path + ": " + std::strerror(errno) + "; check the path, or fetch the model";
    return nullptr;
  }
  try {
    std::unique_ptr<OrtModel> read(new OrtModel(model.path, std::move(options)));
    const bool fits =
        read->read_input(model.description.input, problem) && read->read_outputs(model.description.outputs, problem);
    if (fits)
      return read;
  } catch (const std::exception& error) {
    problem = "ONNX Runtime cannot load it: " + ort_reason(error);
  }
  problem = model.path + ": " + problem;
  return nullptr;
}

bool OrtModel::read_input(const tensors::Input& described, std::string& problem) {
  const Ort::AllocatorWithDefaultOptions allocator;
  std::vector<TensorInfo> infos;
  std::string name;
  const std::size_t count = session_.GetInputCount();
  for (std::size_t i = 0; i < count; i++) {
    name = session_.GetInputNameAllocated(i, allocator).get();
    if (std::optional<TensorInfo> info = info_of(name, session_.GetInputTypeInfo(i)))
      infos.push_back(std::move(*info));
  }
  if (count != 1) {
    problem = "it has " + std::to_string(count) + " inputs; detectors have one, a picture";
    return false;
  }
  if (infos.empty()) {
    problem = "its input " + name + " is no tensor of float32, float16 or uint8";
    return false;
  }
  input_ = std::move(infos[0]);
  file_dims_ = input_.dims;
  planar_ = described.planar;
  return check_input(described, problem);
}

bool OrtModel::check_input(const tensors::Input& described, std::string& problem) {
  const std::size_t channel = planar_ ? 1 : 3;
  if (input_.type != described.tensor.type)
    problem = "its input is of type " + std::string(name_of(input_.type)) + "; say so in the description";
  else if (input_.dims.size() != 4)
    problem = "its input has dims " + text_of(input_.dims) + "; detectors take four, a batch of pictures";
  else if (!agree(input_.dims[channel], 3))
    problem = "its input has dims " + text_of(input_.dims) + ", and 3 is not where the description has the channels";
  else if (const Dims& dims = described.tensor.dims; dims.size() == 4 && !std::ranges::equal(dims, input_.dims, agree))
    problem = "its input has dims " + text_of(input_.dims) + ", the description " + text_of(dims);
  else
    return true;
  return false;
}

bool OrtModel::read_outputs(const std::vector<TensorInfo>& described, std::string& problem) {
  const Ort::AllocatorWithDefaultOptions allocator;
  std::vector<TensorInfo> all;
  const std::size_t count = session_.GetOutputCount();
  for (std::size_t i = 0; i < count; i++) {
    std::string name = session_.GetOutputNameAllocated(i, allocator).get();
    if (std::optional<TensorInfo> info = info_of(std::move(name), session_.GetOutputTypeInfo(i)))
      all.push_back(std::move(*info));
  }
  if (all.empty()) {
    problem = "it has no outputs of float32, float16 or uint8";
    return false;
  }
  for (const TensorInfo& wanted : described) {
    if (const TensorInfo* info = find(all, wanted.name); info && !find(outputs_, wanted.name)) {
      outputs_.push_back(*info);
      outputs_.back().id = wanted.id;
    }
  }
  if (outputs_.size() < described.size() || outputs_.empty())
    outputs_ = all;  // named otherwise: decoders know them by their shapes
  if (outputs_.size() < described.size()) {
    problem = "it has the outputs " + names_of(all) + ", the description " + names_of(described);
    return false;
  }
  return true;
}

std::size_t OrtModel::input_bytes(const Dims& dims) const {
  return tensors::bytes_of(dims, input_.type);
}

bool OrtModel::open_dims() {
  std::ifstream file(path_, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::optional<std::string> open = tried_to_open_ ? std::nullopt : with_open_dims(bytes, planar_);
  if (!open)
    return false;
  tried_to_open_ = true;
  session_ = Ort::Session(ort_env(), open->data(), open->size(), options_);
  for (const std::size_t i : {0, 2, planar_ ? 3 : 1})
    input_.dims[i] = tensors::any_size;
  return true;
}

void OrtModel::close_dims() {
  try {
    session_ = Ort::Session(ort_env(), path_.c_str(), options_);
    input_.dims = file_dims_;
  } catch (const Ort::Exception&) {
    // The file has gone meanwhile. The model with open dims stays, and its runs say what is wrong.
  }
}

Dims OrtModel::input_dims(std::int64_t batch, int width, int height) const {
  Dims dims = planar_ ? Dims{batch, 3, height, width} : Dims{batch, height, width, 3};
  return width > 0 && height > 0 && std::ranges::equal(dims, input_.dims, agree) ? dims : Dims();
}

std::string OrtModel::size_problem(int width, int height) const {
  return path_ + ": its input has dims " + text_of(file_dims_) + ", which pictures of " + std::to_string(width) + 'x' +
         std::to_string(height) + " are not; give dims or multiple-of that it was made for in its description";
}

bool OrtModel::describe(const std::vector<Ort::Value>& values, std::int64_t batch, std::vector<TensorInfo>& outputs,
                        std::string& problem) const {
  outputs = outputs_;
  for (std::size_t i = 0; i < values.size(); i++) {
    outputs[i].dims = values[i].GetTensorTypeAndShapeInfo().GetShape();
    if (outputs[i].dims.empty() || outputs[i].dims[0] != batch) {
      problem = path_ + ": its output " + outputs[i].name + " has dims " + text_of(outputs[i].dims) + " for " +
                std::to_string(batch) + " pictures, of which the first is not the batch";
      return false;
    }
    outputs[i].dims[0] = tensors::any_size;
  }
  return true;
}

}  // namespace crowd::net
