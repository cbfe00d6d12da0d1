// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// ONNX Runtime works in the device's primary context, on a stream that we give it, and does not wait: our stream waits
// for the caller's before the run, and the caller's for ours after it. Input and outputs are memory of the primary
// context, which kernels of other contexts on the same device reach. All that is allocated is so in prepare(). There
// the run is recorded as a graph, too, where it can be.

#include "detect/net/ort_device_engine.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "detect/net/ort_device_session.hpp"
#include "detect/net/streamgraph.hpp"

namespace crowd::net {

namespace {

using tensors::Dims;
using tensors::Tensor;
using tensors::TensorInfo;

// The first allocates and may choose algorithms, the second is as all later ones.
constexpr int warm_up_runs = 2;

class OrtDeviceEngine final : public DeviceEngine {
 public:
  explicit OrtDeviceEngine(OrtDeviceSession::Shared session)
      : session_(std::move(session)), memory_("Cuda", OrtDeviceAllocator, session_->device(), OrtMemTypeDefault) {
    options_.AddConfigEntry("disable_synchronize_execution_providers", "1");
  }
  ~OrtDeviceEngine() override {
    release();
  }

  DeviceReport prepare(int batch, int width, int height, std::vector<TensorInfo>& outputs) override;
  void* input() override {
    return input_.data();
  }
  DeviceReport enqueue(CUstream_st* stream, std::vector<Tensor>& outputs) override;

 private:
  DeviceReport allocate(const Dims& part, std::size_t parts);
  DeviceReport find_outputs(const Dims& part);
  void bind(const Dims& part, std::size_t parts);
  void run();
  DeviceReport start();
  DeviceReport warm_up();
  DeviceReport prepare_with(Dims part, int batch);
  DeviceReport prepare_for(int batch, int width, int height);
  Ort::Value tensor_at(std::byte* data, const Dims& dims, tensors::Type type) const;
  DeviceReport report_of(const std::exception& error) const;
  DeviceReport lack_of_memory(const std::string& reason) const;
  void clear();
  void release();

  OrtModel& model() const {
    return session_->model();
  }
  const PrimaryStream& stream() const {
    return session_->stream();
  }

  OrtDeviceSession::Shared session_;
  const Ort::MemoryInfo memory_;
  Ort::RunOptions options_;
  InputShape shape_;  ///< of prepare()
  Dims dims_;         ///< of its input; empty before it
  std::vector<TensorInfo> infos_;
  ContextMemory input_;
  std::vector<ContextMemory> outputs_;
  std::vector<Ort::IoBinding> bindings_;  ///< one for each part of the batch that the model takes at once
  StreamGraph graph_;                     ///< of run(), if it can be recorded
  std::optional<CallerOrder> order_;      ///< with the stream of the session
};

/// In the primary context, which ONNX Runtime makes current in any case.
void OrtDeviceEngine::clear() {
  (void)stream().wait();
  graph_.release();
  bindings_.clear();
  outputs_.clear();
  input_.release();
  dims_.clear();
}

/// Lets go of all that is of the session.
void OrtDeviceEngine::release() {
  const std::lock_guard lock(session_->mutex());
  const CurrentContext current(stream().driver(), stream().context());
  clear();
  order_.reset();
}

DeviceReport OrtDeviceEngine::lack_of_memory(const std::string& reason) const {
  const bool limit = reason.find("Available memory of") != reason.npos;
  return {DeviceOutcome::out_of_memory,
          model().path() +
              (limit ? " takes more than the " + std::to_string(session_->memory_limit() >> 20) +
                           " MiB of device memory that it may"
                     : std::string(" does not find enough device memory")) +
              "; take fewer tiles, a smaller max-side, or a smaller network (" + reason + ")"};
}

DeviceReport OrtDeviceEngine::report_of(const std::exception& error) const {
  const std::string reason = ort_reason(error);
  if (ort_lacks_memory(reason))
    return lack_of_memory(reason);
  return {DeviceOutcome::failed, model().path() + ": ONNX Runtime: " + reason};
}

Ort::Value OrtDeviceEngine::tensor_at(std::byte* data, const Dims& dims, tensors::Type type) const {
  return Ort::Value::CreateTensor(memory_, data, tensors::bytes_of(dims, type), dims.data(), dims.size(),
                                  ort_type(type));
}

/// Runs once with memory of ONNX Runtime's own, the one way to know the outputs of all networks.
DeviceReport OrtDeviceEngine::find_outputs(const Dims& part) {
  Ort::IoBinding binding(model().session());
  binding.BindInput(model().input().name.c_str(), tensor_at(input_.data(), part, model().input().type));
  for (const TensorInfo& info : model().outputs())
    binding.BindOutput(info.name.c_str(), memory_);
  model().session().Run(options_, binding);
  DeviceReport report = stream().wait();
  if (report.outcome == DeviceOutcome::done &&
      !model().describe(binding.GetOutputValues(), part[0], infos_, report.problem))
    report.outcome = DeviceOutcome::failed;
  return report;
}

DeviceReport OrtDeviceEngine::allocate(const Dims& part, std::size_t parts) {
  DeviceReport report = input_.allocate(stream().driver(), stream().context(), parts * model().input_bytes(part));
  if (report.outcome == DeviceOutcome::done)
    report = find_outputs(part);
  outputs_.resize(infos_.size());
  for (std::size_t i = 0; i < infos_.size() && report.outcome == DeviceOutcome::done; i++) {
    Dims dims = infos_[i].dims;
    dims[0] = part[0];
    report =
        outputs_[i].allocate(stream().driver(), stream().context(), parts * tensors::bytes_of(dims, infos_[i].type));
  }
  return report;
}

void OrtDeviceEngine::bind(const Dims& part, std::size_t parts) {
  for (std::size_t i = 0; i < parts; i++) {
    Ort::IoBinding& binding = bindings_.emplace_back(model().session());
    binding.BindInput(model().input().name.c_str(),
                      tensor_at(input_.data() + i * model().input_bytes(part), part, model().input().type));
    for (std::size_t j = 0; j < infos_.size(); j++) {
      Dims dims = infos_[j].dims;
      dims[0] = part[0];
      const std::size_t bytes = tensors::bytes_of(dims, infos_[j].type);
      binding.BindOutput(infos_[j].name.c_str(), tensor_at(outputs_[j].data() + i * bytes, dims, infos_[j].type));
    }
  }
}

/// In the primary context.
void OrtDeviceEngine::run() {
  for (const Ort::IoBinding& binding : bindings_)
    model().session().Run(options_, binding);
}

DeviceReport OrtDeviceEngine::start() {
  if (graph_.recorded())
    return graph_.launch();
  run();
  return {};
}

/// The last run is one as enqueue() makes it.
DeviceReport OrtDeviceEngine::warm_up() {
  for (int i = 0; i < warm_up_runs; i++)
    run();
  if (DeviceReport report = stream().wait(); report.outcome != DeviceOutcome::done)
    return report;
  (void)graph_.record(stream(), [this] { run(); });
  const DeviceReport report = start();
  return report.outcome == DeviceOutcome::done ? stream().wait() : report;
}

/// Allocates and warms up, in the primary context.
DeviceReport OrtDeviceEngine::prepare_with(Dims part, int batch) {
  const auto parts = static_cast<std::size_t>((batch + part[0] - 1) / part[0]);
  try {
    DeviceReport report = allocate(part, parts);
    if (report.outcome != DeviceOutcome::done)
      return report;
    bind(part, parts);
    if (report = warm_up(); report.outcome != DeviceOutcome::done)
      return report;
  } catch (const std::exception& error) {
    return report_of(error);
  }
  dims_ = std::move(part);
  dims_[0] = batch;
  return {};
}

DeviceReport OrtDeviceEngine::prepare_for(int batch, int width, int height) {
  const auto dims_of_run = [&] {
    return model().input_dims(model().fixed_batch() > 0 ? model().fixed_batch() : batch, width, height);
  };
  Dims part = dims_of_run();
  const bool opened = part.empty() && width > 0 && height > 0 && model().open_dims();
  if (opened)
    part = dims_of_run();
  if (part.empty())
    return {DeviceOutcome::unusable, model().size_problem(width, height)};
  DeviceReport report = prepare_with(part, batch);
  if (opened && report.outcome == DeviceOutcome::failed) {
    clear();
    model().close_dims();
    report = {DeviceOutcome::unusable, model().size_problem(width, height) + " (" + report.problem + ")"};
  }
  return report;
}

DeviceReport OrtDeviceEngine::prepare(int batch, int width, int height, std::vector<TensorInfo>& outputs) {
  const InputShape wanted = {std::max(batch, 1), width, height};
  DeviceReport report;
  if (dims_.empty() || wanted != shape_) {
    release();
    // Where others have the session with another shape, this loads the model once more.
    if (!OrtDeviceSession::take_shape(session_, wanted, report.problem))
      return ort_lacks_memory(report.problem) ? lack_of_memory(report.problem)
                                              : DeviceReport{DeviceOutcome::unusable, report.problem};
    shape_ = wanted;
    order_.emplace(stream());
    const std::lock_guard lock(session_->mutex());
    const CurrentContext current(stream().driver(), stream().context());
    try {
      report = prepare_for(wanted.batch, width, height);
    } catch (const std::exception& error) {
      report = report_of(error);
    }
  }
  outputs = infos_;
  return report;
}

DeviceReport OrtDeviceEngine::enqueue(CUstream_st* caller, std::vector<Tensor>& outputs) {
  if (dims_.empty())
    return {DeviceOutcome::failed, model().path() + ": the network was not prepared"};
  const std::lock_guard lock(session_->mutex());
  DeviceReport report = order_->follow(caller);
  if (report.outcome != DeviceOutcome::done)
    return report;
  try {
    const CurrentContext current(stream().driver(), stream().context());
    report = start();
  } catch (const std::exception& error) {
    report = report_of(error);
  }
  // Also after a failure: until then the network may read the input.
  const DeviceReport ordered = order_->precede(caller);
  if (report.outcome != DeviceOutcome::done || ordered.outcome != DeviceOutcome::done)
    return report.outcome != DeviceOutcome::done ? report : ordered;
  outputs.clear();
  for (std::size_t i = 0; i < infos_.size(); i++) {
    outputs.push_back({.type = infos_[i].type, .dims = infos_[i].dims, .data = outputs_[i].data()});
    outputs.back().dims[0] = dims_[0];
  }
  return {};
}

}  // namespace

std::unique_ptr<DeviceEngine> make_ort_device_engine(const EngineModel& model, int device, std::string& problem) {
  OrtDeviceSession::Shared session = OrtDeviceSession::open(model, device, problem);
  return session ? std::make_unique<OrtDeviceEngine>(std::move(session)) : nullptr;
}

}  // namespace crowd::net
