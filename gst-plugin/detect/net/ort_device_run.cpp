// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/net/ort_device_run.hpp"

#include <gst/gst.h>

#include <string>
#include <utility>

namespace crowd::net {

namespace {

using tensors::Dims;
using tensors::TensorInfo;

// The first allocates and may choose algorithms, the second is as all later ones.
constexpr int warm_up_runs = 2;

}  // namespace

OrtDeviceRun::OrtDeviceRun(OrtModel& model, const PrimaryStream& stream, int device, const EngineModel& settings)
    : model_(model),
      stream_(stream),
      settings_(settings),
      memory_("Cuda", OrtDeviceAllocator, device, OrtMemTypeDefault) {
  options_.AddConfigEntry("disable_synchronize_execution_providers", "1");
}

void OrtDeviceRun::clear() {
  const CurrentContext current(stream_.driver(), stream_.context());
  (void)stream_.wait();
  graph_.release();
  bindings_.clear();
  outputs_.clear();
  input_.release();
  dims_.clear();
}

DeviceReport lack_of_memory(const OrtModel& model, std::size_t memory_limit, const std::string& reason) {
  const bool limit = reason.find("Available memory of") != reason.npos;
  return {
      DeviceOutcome::out_of_memory,
      model.path() +
          (limit ? " takes more than the " + std::to_string(memory_limit >> 20) + " MiB of device memory that it may"
                 : std::string(" does not find enough device memory")) +
          "; take fewer tiles, a smaller max-side, or a smaller network (" + reason + ")"};
}

DeviceReport OrtDeviceRun::report_of(const std::exception& error) const {
  const std::string reason = ort_reason(error);
  if (ort_lacks_memory(reason))
    return lack_of_memory(model_, settings_.memory_limit, reason);
  return {DeviceOutcome::failed, model_.path() + ": ONNX Runtime: " + reason};
}

Ort::Value OrtDeviceRun::tensor_at(std::byte* data, const Dims& dims, tensors::Type type) const {
  return Ort::Value::CreateTensor(memory_, data, tensors::bytes_of(dims, type), dims.data(), dims.size(),
                                  ort_type(type));
}

/// Runs once with memory of ONNX Runtime's own, the one way to know the outputs of all networks.
DeviceReport OrtDeviceRun::find_outputs(const Dims& part) {
  Ort::IoBinding binding(model_.session());
  binding.BindInput(model_.input().name.c_str(), tensor_at(input_.data(), part, model_.input().type));
  for (const TensorInfo& info : model_.outputs())
    binding.BindOutput(info.name.c_str(), memory_);
  model_.session().Run(options_, binding);
  DeviceReport report = stream_.wait();
  if (report.outcome == DeviceOutcome::done &&
      !model_.describe(binding.GetOutputValues(), part[0], infos_, report.problem))
    report.outcome = DeviceOutcome::failed;
  return report;
}

DeviceReport OrtDeviceRun::allocate(const Dims& part, std::size_t parts) {
  DeviceReport report = input_.allocate(stream_.driver(), stream_.context(), parts * model_.input_bytes(part));
  if (report.outcome == DeviceOutcome::done)
    report = find_outputs(part);
  outputs_.resize(infos_.size());
  for (std::size_t i = 0; i < infos_.size() && report.outcome == DeviceOutcome::done; i++) {
    Dims dims = infos_[i].dims;
    dims[0] = part[0];
    report = outputs_[i].allocate(stream_.driver(), stream_.context(), parts * tensors::bytes_of(dims, infos_[i].type));
  }
  return report;
}

void OrtDeviceRun::bind(const Dims& part, std::size_t parts) {
  for (std::size_t i = 0; i < parts; i++) {
    Ort::IoBinding& binding = bindings_.emplace_back(model_.session());
    binding.BindInput(model_.input().name.c_str(),
                      tensor_at(input_.data() + i * model_.input_bytes(part), part, model_.input().type));
    for (std::size_t j = 0; j < infos_.size(); j++) {
      Dims dims = infos_[j].dims;
      dims[0] = part[0];
      const std::size_t bytes = tensors::bytes_of(dims, infos_[j].type);
      binding.BindOutput(infos_[j].name.c_str(), tensor_at(outputs_[j].data() + i * bytes, dims, infos_[j].type));
    }
  }
}

/// In the primary context.
void OrtDeviceRun::run() {
  for (const Ort::IoBinding& binding : bindings_)
    model_.session().Run(options_, binding);
}

DeviceReport OrtDeviceRun::start() {
  try {
    const CurrentContext current(stream_.driver(), stream_.context());
    if (graph_.recorded())
      return graph_.launch();
    run();
    return {};
  } catch (const std::exception& error) {
    return report_of(error);
  }
}

/// Other threads that wait for the context meanwhile break the capture. The CUDA runtime then keeps an error for this
/// thread, which the next run takes for its own.
void OrtDeviceRun::record() {
  if (graph_.record(stream_, [this] { run(); }))
    return;
  try {
    run();
  } catch (const std::exception& error) {
    GST_DEBUG("%s: after a capture: %s", model_.path().c_str(), error.what());
  }
}

/// The last run is one as later ones.
DeviceReport OrtDeviceRun::warm_up() {
  for (int i = 0; i < warm_up_runs; i++)
    run();
  if (DeviceReport report = stream_.wait(); report.outcome != DeviceOutcome::done)
    return report;
  if (settings_.cuda_graph)
    record();
  const DeviceReport report = start();
  return report.outcome == DeviceOutcome::done ? stream_.wait() : report;
}

/// Allocates and warms up, in the primary context.
DeviceReport OrtDeviceRun::prepare_with(Dims part, int batch) {
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

DeviceReport OrtDeviceRun::prepare_for(const InputShape& shape) {
  const auto dims_of_run = [&] {
    return model_.input_dims(model_.fixed_batch() > 0 ? model_.fixed_batch() : shape.batch, shape.width, shape.height);
  };
  Dims part = dims_of_run();
  const bool opened = part.empty() && shape.width > 0 && shape.height > 0 && model_.open_dims();
  if (opened)
    part = dims_of_run();
  if (part.empty())
    return {DeviceOutcome::unusable, model_.size_problem(shape.width, shape.height)};
  DeviceReport report = prepare_with(part, shape.batch);
  if (opened && report.outcome == DeviceOutcome::failed) {
    clear();
    model_.close_dims();
    report = {DeviceOutcome::unusable, model_.size_problem(shape.width, shape.height) + " (" + report.problem + ")"};
  }
  return report;
}

DeviceReport OrtDeviceRun::prepare(const InputShape& shape) {
  if (prepared() && shape == shape_)
    return {};
  clear();
  shape_ = shape;
  const CurrentContext current(stream_.driver(), stream_.context());
  try {
    return prepare_for(shape);
  } catch (const std::exception& error) {
    return report_of(error);
  }
}

void OrtDeviceRun::list_outputs(std::vector<tensors::Tensor>& outputs) const {
  outputs.clear();
  for (std::size_t i = 0; i < infos_.size(); i++) {
    outputs.push_back({.type = infos_[i].type, .dims = infos_[i].dims, .data = outputs_[i].data()});
    outputs.back().dims[0] = dims_[0];
  }
}

}  // namespace crowd::net
