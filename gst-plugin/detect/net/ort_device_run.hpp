// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A network in ONNX Runtime on a device, ready for inputs of one shape: input, outputs, and the run between them,
// recorded as a graph where that is asked for and can be. Input and outputs are memory of the primary context, which
// kernels of other contexts on the same device reach. All that is allocated is so in prepare().
#pragma once

#include <cstddef>
#include <vector>

#include "detect/net/cuda_contexts.hpp"
#include "detect/net/engine.hpp"
#include "detect/net/ort_model.hpp"
#include "detect/net/sharedsessions.hpp"
#include "detect/net/streamgraph.hpp"

namespace crowd::net {

/// For one thread at a time. `model` runs on `stream`; they and the settings outlive it.
class OrtDeviceRun {
 public:
  OrtDeviceRun(OrtModel& model, const PrimaryStream& stream, int device, const EngineModel& settings);
  ~OrtDeviceRun() {
    clear();
  }
  OrtDeviceRun(const OrtDeviceRun&) = delete;
  OrtDeviceRun& operator=(const OrtDeviceRun&) = delete;

  /// Nothing is done if it is ready for that shape. Allocates, waits.
  DeviceReport prepare(const InputShape& shape);
  bool prepared() const {
    return !dims_.empty();
  }

  // Once prepared:
  const std::vector<tensors::TensorInfo>& infos() const {
    return infos_;
  }
  void* input() const {
    return input_.data();
  }
  /// In the order of the stream.
  DeviceReport start();
  /// Where they are, of the whole batch.
  void list_outputs(std::vector<tensors::Tensor>& outputs) const;

 private:
  DeviceReport find_outputs(const tensors::Dims& part);
  DeviceReport allocate(const tensors::Dims& part, std::size_t parts);
  void bind(const tensors::Dims& part, std::size_t parts);
  void run();
  void record();
  DeviceReport warm_up();
  DeviceReport prepare_with(tensors::Dims part, int batch);
  DeviceReport prepare_for(const InputShape& shape);
  Ort::Value tensor_at(std::byte* data, const tensors::Dims& dims, tensors::Type type) const;
  DeviceReport report_of(const std::exception& error) const;
  void clear();

  OrtModel& model_;
  const PrimaryStream& stream_;
  const EngineModel& settings_;
  const Ort::MemoryInfo memory_;
  Ort::RunOptions options_;
  InputShape shape_;    ///< of prepare()
  tensors::Dims dims_;  ///< of its input; empty before it
  std::vector<tensors::TensorInfo> infos_;
  ContextMemory input_;
  std::vector<ContextMemory> outputs_;
  std::vector<Ort::IoBinding> bindings_;  ///< one for each part of the batch that the model takes at once
  StreamGraph graph_;                     ///< of run(), if it is recorded
};

/// What to do where a model takes more device memory than there is, or than it may.
DeviceReport lack_of_memory(const OrtModel& model, std::size_t memory_limit, const std::string& reason);

}  // namespace crowd::net
