// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A model that ONNX Runtime has read: what it takes and gives, compared with its description.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "detect/net/engine.hpp"
#include "detect/net/ort_library.hpp"

namespace crowd::net {

class OrtModel {
 public:
  /// Null with the reason and remedy where the file is missing, is no whole model, needs what ONNX Runtime lacks, or
  /// has another input than described. Throws nothing.
  static std::unique_ptr<OrtModel> open(const EngineModel& model, Ort::SessionOptions options, std::string& problem);

  /// Makes the input's batch, width and height any, which the file may fix though the network takes any. Where the
  /// network does not, runs throw: close_dims() then. False where the file cannot be changed so, or was once.
  bool open_dims();
  /// Back to the dims of the file.
  void close_dims();

  Ort::Session& session() {
    return session_;
  }
  const std::string& path() const {
    return path_;
  }
  const tensors::TensorInfo& input() const {
    return input_;
  }
  /// Those of the description, or all where the model has not all of them. Dims are the model's own.
  const std::vector<tensors::TensorInfo>& outputs() const {
    return outputs_;
  }
  /// 0 where it is any.
  std::int64_t fixed_batch() const {
    return input_.dims[0] > 0 ? input_.dims[0] : 0;
  }
  std::size_t input_bytes(const tensors::Dims& dims) const;

  /// Dims of an input of `batch`; empty where the file says that the model takes no such size.
  tensors::Dims input_dims(std::int64_t batch, int width, int height) const;

  /// Why it takes no pictures of this size.
  std::string size_problem(int width, int height) const;

  /// The outputs of one run, with the dims that it had but for the batch, which is any_size. False with the reason
  /// where these are no tensors of a batch.
  bool describe(const std::vector<Ort::Value>& values, std::int64_t batch, std::vector<tensors::TensorInfo>& outputs,
                std::string& problem) const;

 private:
  OrtModel(std::string path, Ort::SessionOptions options)
      : path_(std::move(path)), options_(std::move(options)), session_(ort_env(), path_.c_str(), options_) {}
  bool read_input(const tensors::Input& described, std::string& problem);
  bool check_input(const tensors::Input& described, std::string& problem);
  bool read_outputs(const std::vector<tensors::TensorInfo>& described, std::string& problem);

  const std::string path_;
  const Ort::SessionOptions options_;
  Ort::Session session_;
  bool tried_to_open_ = false;
  tensors::Dims file_dims_;  ///< of the input
  tensors::TensorInfo input_;
  bool planar_ = true;
  std::vector<tensors::TensorInfo> outputs_;
};

ONNXTensorElementDataType ort_type(tensors::Type type);

/// "1x3x300x300", with ? for any_size.
std::string text_of(const tensors::Dims& dims);

}  // namespace crowd::net
