// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A network on a device, as ONNX Runtime has loaded it. Its first run chooses algorithms, which takes seconds, and its
// scratch memory is as large as all layers: engines of a process that run one model on inputs of one shape share it,
// with its input and outputs.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "detect/net/cuda_contexts.hpp"
#include "detect/net/ort_device_run.hpp"
#include "detect/net/ort_model.hpp"
#include "detect/net/sharedsessions.hpp"

namespace crowd::net {

/// EngineRow::device_problem: no ONNX Runtime, one without CUDA, or without the libraries that its CUDA needs.
std::string ort_cuda_problem();

class OrtDeviceSession {
 public:
  using Shared = std::shared_ptr<OrtDeviceSession>;

  /// One that others have of this model, or a new one. Null with the reason and remedy. Any thread.
  static Shared open(const EngineModel& model, int device, std::string& problem);

  /// Puts one in the place of `session` that runs inputs of this shape and no other, see SharedSessions. False with the
  /// reason, and all as it was, where there is none. Any thread.
  static bool take_shape(Shared& session, const InputShape& shape, std::string& problem);

  ~OrtDeviceSession();
  OrtDeviceSession(const OrtDeviceSession&) = delete;
  OrtDeviceSession& operator=(const OrtDeviceSession&) = delete;

  /// To be held where the model is used and where work is given to the stream. Runs use memory of the session, hence
  /// this one stream orders all of them, and what fills their input and reads their outputs.
  std::mutex& mutex() {
    return mutex_;
  }
  OrtDeviceRun& run() {
    return *run_;
  }
  OrtModel& model() {
    return *model_;
  }
  const PrimaryStream& stream() const {
    return *stream_;
  }
  int device() const {
    return device_;
  }
  std::size_t memory_limit() const {
    return settings_.memory_limit;
  }

 private:
  OrtDeviceSession(const EngineModel& model, int device) : settings_(model), device_(device) {}
  static SharedSessions<OrtDeviceSession>& all();
  static Shared make(const EngineModel& model, int device, std::string& problem);
  bool load(std::string& problem);

  const EngineModel settings_;
  const int device_;
  std::mutex mutex_;
  std::unique_ptr<PrimaryStream> stream_;
  std::unique_ptr<OrtModel> model_;
  std::unique_ptr<OrtDeviceRun> run_;
};

}  // namespace crowd::net
