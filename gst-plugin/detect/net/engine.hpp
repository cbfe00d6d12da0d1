// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What runs a network: a library that reads a model's file. Not thread-safe: one engine, one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/deviceoutcome.hpp"
#include "tensors/description.hpp"
#include "tensors/tensor.hpp"

struct CUstream_st;

namespace crowd::net {

struct EngineModel {
  std::string path;  ///< the model's file
  tensors::Description description;
  int threads = 0;                       ///< of the host; 0: as many as the library takes
  std::size_t memory_limit = 2UL << 30;  ///< a model that takes more on a device is refused, bytes
  /// Record a run on a device, in prepare(). Other threads' waits for the whole device then fail meanwhile.
  bool cuda_graph = false;
};

/// Runs with tensors in host memory.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Outputs for an input of this size, dims included but for the batch, which is any_size. False with the reason and
  /// remedy where the network refuses the size.
  virtual bool prepare(int width, int height, std::vector<tensors::TensorInfo>& outputs, std::string& problem) = 0;

  /// Runs a batch of any size; where the model's batch is fixed, in several goes. `outputs`, in the order of prepare(),
  /// stay valid until the next call. False with the reason where the library fails; the next frame may fare better.
  virtual bool run(const tensors::Tensor& input, std::vector<tensors::Tensor>& outputs, std::string& problem) = 0;
};

/// Runs with tensors in device memory. Calls are made in a context of the device that it was made for; that of the last
/// call outlives it.
class DeviceEngine {
 public:
  virtual ~DeviceEngine() = default;

  /// As Engine::prepare(), for batches of `batch` inputs. Allocates, may wait.
  virtual DeviceReport prepare(int batch, int width, int height, std::vector<tensors::TensorInfo>& outputs) = 0;

  /// Gives the stream what fills an input of the type and size of prepare().
  using Fill = std::function<DeviceReport(void* input)>;
  /// Gives the stream all that reads the outputs, in the order of prepare(): others may write them later.
  using Read = std::function<DeviceReport(const std::vector<tensors::Tensor>& outputs)>;

  /// Runs in order of `stream`: after what it was given before, fill() included, and before read() and what it is given
  /// later. The host does not wait, but for calls in other threads that run the same network.
  virtual DeviceReport run(CUstream_st* stream, const Fill& fill, const Read& read) = 0;
};

/// A row of the table of engines.
struct EngineRow {
  const char* name;  ///< value of crowddetect's property `engine`
  /// Null with the reason and remedy: a library that is missing or too old, a model that it cannot read.
  std::unique_ptr<Engine> (*make)(const EngineModel& model, std::string& problem);
  /// The same on a device; null function where the engine has none.
  std::unique_ptr<DeviceEngine> (*make_device)(const EngineModel& model, int device, std::string& problem);
  /// Why it can run nothing on a device, whatever the model, with the remedy: libraries that are missing. Empty if it
  /// may. Null function as make_device.
  std::string (*device_problem)();
  /// Whether it reads files of that name, by its ending.
  bool (*reads)(const std::string& path);
};

/// All of this build, the one that `engine=auto` tries first at the front.
std::span<const EngineRow> engines();

}  // namespace crowd::net
