// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// ONNX Runtime works in the device's primary context, on a stream that we give it, and does not wait: our stream waits
// for the caller's before the run, and the caller's for ours after it.

#include "detect/net/ort_device_engine.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "detect/net/ort_device_session.hpp"

namespace crowd::net {

namespace {

using tensors::Tensor;
using tensors::TensorInfo;

class OrtDeviceEngine final : public DeviceEngine {
 public:
  explicit OrtDeviceEngine(OrtDeviceSession::Shared session) : session_(std::move(session)) {}

  DeviceReport prepare(int batch, int width, int height, std::vector<TensorInfo>& outputs) override;
  DeviceReport run(CUstream_st* caller, const Fill& fill, const Read& read) override;

 private:
  DeviceReport run_network(CUstream_st* caller);

  OrtDeviceSession::Shared session_;
  InputShape shape_;                  ///< of prepare()
  std::optional<CallerOrder> order_;  ///< with the stream of the session; empty before it
  std::vector<Tensor> outputs_;
};

DeviceReport OrtDeviceEngine::prepare(int batch, int width, int height, std::vector<TensorInfo>& outputs) {
  const InputShape wanted = {std::max(batch, 1), width, height};
  if (!order_ || wanted != shape_) {
    order_.reset();
    std::string problem;
    // Where others have the session with another shape, this loads the model once more.
    if (!OrtDeviceSession::take_shape(session_, wanted, problem)) {
      const std::lock_guard lock(session_->mutex());
      return ort_lacks_memory(problem) ? lack_of_memory(session_->model(), session_->memory_limit(), problem)
                                       : DeviceReport{DeviceOutcome::unusable, problem};
    }
    shape_ = wanted;
    order_.emplace(session_->stream());
  }
  const std::lock_guard lock(session_->mutex());
  const DeviceReport report = session_->run().prepare(shape_);
  outputs = session_->run().infos();
  return report;
}

/// Once the input is filled in order of the caller's stream.
DeviceReport OrtDeviceEngine::run_network(CUstream_st* caller) {
  DeviceReport report = order_->follow(caller);
  if (report.outcome != DeviceOutcome::done)
    return report;
  report = session_->run().start();
  // Also after a failure: until then the network may read the input.
  const DeviceReport ordered = order_->precede(caller);
  return report.outcome != DeviceOutcome::done ? report : ordered;
}

// Between the streams of the session's engines: each waits for what the one before gave to its own.
DeviceReport OrtDeviceEngine::run(CUstream_st* caller, const Fill& fill, const Read& read) {
  const std::lock_guard lock(session_->mutex());
  if (!order_ || !session_->run().prepared())
    return {DeviceOutcome::failed, session_->model().path() + ": the network was not prepared"};
  DeviceReport report = order_->precede(caller);
  if (report.outcome != DeviceOutcome::done)
    return report;
  report = fill(session_->run().input());
  if (report.outcome == DeviceOutcome::done)
    report = run_network(caller);
  if (report.outcome == DeviceOutcome::done) {
    session_->run().list_outputs(outputs_);
    report = read(outputs_);
  }
  const DeviceReport ordered = order_->follow(caller);
  return report.outcome != DeviceOutcome::done ? report : ordered;
}

}  // namespace

std::unique_ptr<DeviceEngine> make_ort_device_engine(const EngineModel& model, int device, std::string& problem) {
  OrtDeviceSession::Shared session = OrtDeviceSession::open(model, device, problem);
  return session ? std::make_unique<OrtDeviceEngine>(std::move(session)) : nullptr;
}

}  // namespace crowd::net
