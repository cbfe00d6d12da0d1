// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/net/ort_device_session.hpp"

#include <filesystem>
#include <map>
#include <utility>
#include <vector>

namespace crowd::net {

namespace {

using CudaOptions = std::unique_ptr<OrtCUDAProviderOptionsV2, void (*)(OrtCUDAProviderOptionsV2*)>;

/// A null stream: ONNX Runtime makes its own.
CudaOptions cuda_options(int device, const EngineModel& model, CUstream stream) {
  const OrtApi& api = Ort::GetApi();
  const bool half = model.description.input.tensor.type == tensors::Type::float16;
  OrtCUDAProviderOptionsV2* made = nullptr;
  Ort::ThrowOnError(api.CreateCUDAProviderOptions(&made));
  CudaOptions options(made, api.ReleaseCUDAProviderOptions);
  const std::map<std::string, std::string> settings = {
      {"device_id", std::to_string(device)},
      {"gpu_mem_limit", std::to_string(model.memory_limit)},
      {"arena_extend_strategy", "kSameAsRequested"},
      // Person-net with 3x3 tiles on an H200, frames a second: in float32 355 and 190, in float16 290 and 515.
      {"cudnn_conv_algo_search", half ? "HEURISTIC" : "EXHAUSTIVE"},
      {"use_tf32", "0"},  // boxes as on the host
      // There a batch takes a fifth less of the time in float16 and a quarter more in float32.
      {"prefer_nhwc", half ? "1" : "0"},
  };
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : settings) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  Ort::ThrowOnError(api.UpdateCUDAProviderOptions(options.get(), keys.data(), values.data(), keys.size()));
  if (stream)
    Ort::ThrowOnError(api.UpdateCUDAProviderOptionsWithValue(options.get(), "user_compute_stream", stream));
  return options;
}

/// ONNX Runtime names the library that it misses only where it logs.
std::string no_provider(const OrtLibrary& library, const std::exception& error) {
  return "ONNX Runtime " + library.version + " cannot use CUDA: " + ort_reason(error) +
         "; set LD_LIBRARY_PATH to the folders of libonnxruntime_providers_cuda.so and of the cuDNN and CUDA "
         "libraries that it needs, or put cudadownload before this element";
}

/// False with the reason and remedy.
bool append_cuda(Ort::SessionOptions& options, int device, const EngineModel& model, CUstream stream,
                 std::string& problem) {
  const OrtLibrary* library = ort_library(problem);
  if (!library || !ort_has_cuda(*library, problem))
    return false;
  try {
    (void)ort_env();  // a provider logs in it
    options.AppendExecutionProvider_CUDA_V2(*cuda_options(device, model, stream));
    return true;
  } catch (const std::exception& error) {
    problem = no_provider(*library, error);
    return false;
  }
}

/// All that makes a session another. A file that was written anew is another model.
std::string key_of(const EngineModel& model, int device) {
  std::error_code error;
  const auto written = std::filesystem::last_write_time(model.path, error).time_since_epoch().count();
  const tensors::Input& input = model.description.input;
  std::string key = model.path + '\n' + std::to_string(written) + '\n' + std::to_string(device) + '\n' +
                    std::to_string(model.memory_limit) + (model.cuda_graph ? "\ngraph\n" : "\n") +
                    std::to_string(static_cast<int>(input.tensor.type)) + (input.planar ? "planar" : "") +
                    text_of(input.tensor.dims);
  for (const tensors::TensorInfo& output : model.description.outputs)
    key += '\n' + output.name + '\n' + output.id;
  return key;
}

}  // namespace

std::string ort_cuda_problem() {
  std::string problem;
  if (!ort_library(problem))
    return problem;
  Ort::SessionOptions options;
  return append_cuda(options, 0, {}, nullptr, problem) ? "" : problem;
}

SharedSessions<OrtDeviceSession>& OrtDeviceSession::all() {
  // Never destroyed: elements may go later at the end of the process.
  static auto* const sessions = new SharedSessions<OrtDeviceSession>;
  return *sessions;
}

OrtDeviceSession::~OrtDeviceSession() {
  if (!stream_)
    return;
  // ONNX Runtime sets the device of the thread, and with it the context: its calls are made in the primary context.
  const CurrentContext current(stream_->driver(), stream_->context());
  run_.reset();
  model_.reset();
}

bool OrtDeviceSession::load(std::string& problem) {
  stream_ = PrimaryStream::make(device_, problem);
  if (!stream_)
    return false;
  const CurrentContext current(stream_->driver(), stream_->context());
  Ort::SessionOptions options;
  if (append_cuda(options, device_, settings_, stream_->stream(), problem))
    model_ = OrtModel::open(settings_, std::move(options), problem);
  if (model_)
    run_ = std::make_unique<OrtDeviceRun>(*model_, *stream_, device_, settings_);
  return model_ != nullptr;
}

OrtDeviceSession::Shared OrtDeviceSession::make(const EngineModel& model, int device, std::string& problem) {
  Shared session(new OrtDeviceSession(model, device));
  return session->load(problem) ? session : nullptr;
}

OrtDeviceSession::Shared OrtDeviceSession::open(const EngineModel& model, int device, std::string& problem) {
  if (const OrtLibrary* library = ort_library(problem); !library || !ort_has_cuda(*library, problem))
    return nullptr;
  return all().open(key_of(model, device), [&] { return make(model, device, problem); });
}

bool OrtDeviceSession::take_shape(Shared& session, const InputShape& shape, std::string& problem) {
  return all().take_shape(session, shape, [&] { return make(session->settings_, session->device_, problem); });
}

}  // namespace crowd::net
