// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// ONNX Runtime works in the device's primary context, on a stream that we give it, and does not wait: our stream waits
// for the caller's before the run, and the caller's for ours after it. Input and outputs are memory of the primary
// context, which kernels of other contexts on the same device reach. All that is allocated is so in prepare(). There
// the run is recorded as a graph, too, where it can be.

#include "detect/net/ort_device_engine.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "detect/net/cuda_contexts.hpp"
#include "detect/net/ort_model.hpp"
#include "detect/net/streamgraph.hpp"

namespace crowd::net {

namespace {

using tensors::Dims;
using tensors::Tensor;
using tensors::TensorInfo;

// The first allocates and may choose algorithms, the second is as all later ones.
constexpr int warm_up_runs = 2;

using CudaOptions = std::unique_ptr<OrtCUDAProviderOptionsV2, void (*)(OrtCUDAProviderOptionsV2*)>;

CudaOptions cuda_options(int device, std::size_t memory_limit, CUstream stream) {
  const OrtApi& api = Ort::GetApi();
  OrtCUDAProviderOptionsV2* made = nullptr;
  Ort::ThrowOnError(api.CreateCUDAProviderOptions(&made));
  CudaOptions options(made, api.ReleaseCUDAProviderOptions);
  const std::map<std::string, std::string> settings = {
      {"device_id", std::to_string(device)},
      {"gpu_mem_limit", std::to_string(memory_limit)},
      {"arena_extend_strategy", "kSameAsRequested"},
      {"cudnn_conv_algo_search", "HEURISTIC"},
      {"use_tf32", "0"},  // boxes as on the host
  };
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : settings) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  Ort::ThrowOnError(api.UpdateCUDAProviderOptions(options.get(), keys.data(), values.data(), keys.size()));
  Ort::ThrowOnError(api.UpdateCUDAProviderOptionsWithValue(options.get(), "user_compute_stream", stream));
  return options;
}

class OrtDeviceEngine final : public DeviceEngine {
 public:
  OrtDeviceEngine(std::unique_ptr<PrimaryStream> stream, std::unique_ptr<OrtModel> model, int device,
                  std::size_t memory_limit)
      : stream_(std::move(stream)),
        model_(std::move(model)),
        memory_("Cuda", OrtDeviceAllocator, device, OrtMemTypeDefault),
        memory_limit_(memory_limit) {
    options_.AddConfigEntry("disable_synchronize_execution_providers", "1");
  }
  ~OrtDeviceEngine() override;

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
  void release();

  const std::unique_ptr<PrimaryStream> stream_;
  std::unique_ptr<OrtModel> model_;
  const Ort::MemoryInfo memory_;
  const std::size_t memory_limit_;
  Ort::RunOptions options_;
  Dims dims_;  ///< of the input of prepare(); empty before it
  std::vector<TensorInfo> infos_;
  ContextMemory input_;
  std::vector<ContextMemory> outputs_;
  std::vector<Ort::IoBinding> bindings_;  ///< one for each part of the batch that the model takes at once
  StreamGraph graph_;                     ///< of run(), if it can be recorded
};

// ONNX Runtime sets the device of the thread, and with it the context: its calls are made in the primary context.
OrtDeviceEngine::~OrtDeviceEngine() {
  release();
  const CurrentContext current(stream_->driver(), stream_->context());
  model_.reset();
}

void OrtDeviceEngine::release() {
  const CurrentContext current(stream_->driver(), stream_->context());
  (void)stream_->wait();
  graph_.release();
  bindings_.clear();
  outputs_.clear();
  input_.release();
  dims_.clear();
}

DeviceReport OrtDeviceEngine::report_of(const std::exception& error) const {
  const std::string reason = ort_reason(error);
  const auto says = [&reason](const char* text) { return reason.find(text) != reason.npos; };
  const bool limit = says("Available memory of");
  if (limit || says("out of memory") || says("Failed to allocate memory") || says("bad_alloc"))
    return {
        DeviceOutcome::out_of_memory,
        model_->path() +
            (limit ? " takes more than the " + std::to_string(memory_limit_ >> 20) + " MiB of device memory that it may"
                   : std::string(" does not find enough device memory")) +
            "; take fewer tiles, a smaller max-side, or a smaller network (" + reason + ")"};
  return {DeviceOutcome::failed, model_->path() + ": ONNX Runtime: " + reason};
}

Ort::Value OrtDeviceEngine::tensor_at(std::byte* data, const Dims& dims, tensors::Type type) const {
  return Ort::Value::CreateTensor(memory_, data, tensors::bytes_of(dims, type), dims.data(), dims.size(),
                                  ort_type(type));
}

/// Runs once with memory of ONNX Runtime's own, the one way to know the outputs of all networks.
DeviceReport OrtDeviceEngine::find_outputs(const Dims& part) {
  Ort::IoBinding binding(model_->session());
  binding.BindInput(model_->input().name.c_str(), tensor_at(input_.data(), part, model_->input().type));
  for (const TensorInfo& info : model_->outputs())
    binding.BindOutput(info.name.c_str(), memory_);
  model_->session().Run(options_, binding);
  DeviceReport report = stream_->wait();
  if (report.outcome == DeviceOutcome::done &&
      !model_->describe(binding.GetOutputValues(), part[0], infos_, report.problem))
    report.outcome = DeviceOutcome::failed;
  return report;
}

DeviceReport OrtDeviceEngine::allocate(const Dims& part, std::size_t parts) {
  DeviceReport report = input_.allocate(stream_->driver(), stream_->context(), parts * model_->input_bytes(part));
  if (report.outcome == DeviceOutcome::done)
    report = find_outputs(part);
  outputs_.resize(infos_.size());
  for (std::size_t i = 0; i < infos_.size() && report.outcome == DeviceOutcome::done; i++) {
    Dims dims = infos_[i].dims;
    dims[0] = part[0];
    report =
        outputs_[i].allocate(stream_->driver(), stream_->context(), parts * tensors::bytes_of(dims, infos_[i].type));
  }
  return report;
}

void OrtDeviceEngine::bind(const Dims& part, std::size_t parts) {
  for (std::size_t i = 0; i < parts; i++) {
    Ort::IoBinding& binding = bindings_.emplace_back(model_->session());
    binding.BindInput(model_->input().name.c_str(),
                      tensor_at(input_.data() + i * model_->input_bytes(part), part, model_->input().type));
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
    model_->session().Run(options_, binding);
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
  if (DeviceReport report = stream_->wait(); report.outcome != DeviceOutcome::done)
    return report;
  (void)graph_.record(*stream_, [this] { run(); });
  const DeviceReport report = start();
  return report.outcome == DeviceOutcome::done ? stream_->wait() : report;
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
    return model_->input_dims(model_->fixed_batch() > 0 ? model_->fixed_batch() : batch, width, height);
  };
  Dims part = dims_of_run();
  const bool opened = part.empty() && width > 0 && height > 0 && model_->open_dims();
  if (opened)
    part = dims_of_run();
  if (part.empty())
    return {DeviceOutcome::unusable, model_->size_problem(width, height)};
  DeviceReport report = prepare_with(part, batch);
  if (opened && report.outcome == DeviceOutcome::failed) {
    release();
    model_->close_dims();
    report = {DeviceOutcome::unusable, model_->size_problem(width, height) + " (" + report.problem + ")"};
  }
  return report;
}

DeviceReport OrtDeviceEngine::prepare(int batch, int width, int height, std::vector<TensorInfo>& outputs) {
  Dims wanted = batch > 0 ? model_->input_dims(batch, width, height) : Dims();
  DeviceReport report;
  if (wanted.empty() || wanted != dims_) {
    release();
    const CurrentContext current(stream_->driver(), stream_->context());
    try {
      report = prepare_for(std::max(batch, 1), width, height);
    } catch (const std::exception& error) {
      report = report_of(error);
    }
  }
  outputs = infos_;
  return report;
}

DeviceReport OrtDeviceEngine::enqueue(CUstream_st* stream, std::vector<Tensor>& outputs) {
  if (dims_.empty())
    return {DeviceOutcome::failed, model_->path() + ": the network was not prepared"};
  DeviceReport report = stream_->follow(stream);
  if (report.outcome != DeviceOutcome::done)
    return report;
  try {
    const CurrentContext current(stream_->driver(), stream_->context());
    report = start();
  } catch (const std::exception& error) {
    report = report_of(error);
  }
  // Also after a failure: until then the network may read the input.
  const DeviceReport ordered = stream_->precede(stream);
  if (report.outcome != DeviceOutcome::done || ordered.outcome != DeviceOutcome::done)
    return report.outcome != DeviceOutcome::done ? report : ordered;
  outputs.clear();
  for (std::size_t i = 0; i < infos_.size(); i++) {
    outputs.push_back({.type = infos_[i].type, .dims = infos_[i].dims, .data = outputs_[i].data()});
    outputs.back().dims[0] = dims_[0];
  }
  return {};
}

/// ONNX Runtime names the library that it misses only where it logs.
std::string no_provider(const OrtLibrary& library, const std::exception& error) {
  return "ONNX Runtime " + library.version + " cannot use CUDA: " + ort_reason(error) +
         "; set LD_LIBRARY_PATH to the folders of libonnxruntime_providers_cuda.so and of the cuDNN and CUDA "
         "libraries that it needs, or put cudadownload before this element";
}

}  // namespace

std::unique_ptr<DeviceEngine> make_ort_device_engine(const EngineModel& model, int device, std::string& problem) {
  const OrtLibrary* library = ort_library(problem);
  if (!library || !ort_has_cuda(*library, problem))
    return nullptr;
  std::unique_ptr<PrimaryStream> stream = PrimaryStream::make(device, problem);
  if (!stream)
    return nullptr;
  const CurrentContext current(stream->driver(), stream->context());
  Ort::SessionOptions options;
  try {
    (void)ort_env();  // a provider logs in it
    options.AppendExecutionProvider_CUDA_V2(*cuda_options(device, model.memory_limit, stream->stream()));
  } catch (const std::exception& error) {
    problem = no_provider(*library, error);
    return nullptr;
  }
  std::unique_ptr<OrtModel> read = OrtModel::open(model, std::move(options), problem);
  if (!read)
    return nullptr;
  return std::make_unique<OrtDeviceEngine>(std::move(stream), std::move(read), device, model.memory_limit);
}

}  // namespace crowd::net
