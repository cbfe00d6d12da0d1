// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// ONNX Runtime on the host.

#include <algorithm>
#include <cstring>

#include "detect/net/engine_rows.hpp"
#if CROWD_HAVE_ORT_DEVICE
#include "detect/net/ort_device_engine.hpp"
#include "detect/net/ort_device_session.hpp"
#endif
#include "detect/net/ort_model.hpp"

namespace crowd::net {

namespace {

using tensors::Dims;
using tensors::Tensor;
using tensors::TensorInfo;

/// What a run is called with, besides the data.
struct OutputNames {
  explicit OutputNames(const std::vector<TensorInfo>& infos) {
    for (const TensorInfo& info : infos)
      names.push_back(info.name.c_str());
  }
  std::vector<const char*> names;
};

std::string lack_of_memory(const std::string& path) {
  return path + " does not find enough memory; take fewer tiles, a smaller max-side, or a smaller network";
}

class OrtHostEngine final : public Engine {
 public:
  explicit OrtHostEngine(std::unique_ptr<OrtModel> model) : model_(std::move(model)), names_(model_->outputs()) {}

  bool prepare(int width, int height, std::vector<TensorInfo>& outputs, std::string& problem) override;
  bool run(const Tensor& input, std::vector<Tensor>& outputs, std::string& problem) override;

 private:
  std::vector<Ort::Value> run_once(const void* data, const Dims& dims);
  bool try_dims(const Dims& dims, std::string& problem);
  bool is_input(const Tensor& input) const;
  bool are_outputs(const std::vector<Ort::Value>& values, std::int64_t batch) const;
  bool run_in_parts(const Tensor& input, std::int64_t part, std::vector<Tensor>& outputs);
  bool run_whole(const Tensor& input, std::vector<Tensor>& outputs);
  void append(const std::vector<Ort::Value>& values, std::int64_t batch);

  const std::unique_ptr<OrtModel> model_;
  const OutputNames names_;
  const Ort::MemoryInfo memory_ = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  Dims dims_;  ///< of the input, for a batch of one or of the model's; empty before prepare()
  std::vector<TensorInfo> infos_;
  std::vector<Ort::Value> values_;              ///< of the last run
  std::vector<std::vector<std::byte>> stored_;  ///< the outputs of all parts
  std::vector<std::byte> padded_;               ///< input of a part that is not full
};

std::vector<Ort::Value> OrtHostEngine::run_once(const void* data, const Dims& dims) {
  // The library does not write to inputs.
  const Ort::Value input = Ort::Value::CreateTensor(memory_, const_cast<void*>(data), model_->input_bytes(dims),
                                                    dims.data(), dims.size(), ort_type(model_->input().type));
  const char* name = model_->input().name.c_str();
  return model_->session().Run(Ort::RunOptions(nullptr), &name, &input, 1, names_.names.data(), names_.names.size());
}

/// A run is the one way to know the outputs of all networks.
bool OrtHostEngine::try_dims(const Dims& dims, std::string& problem) {
  const std::vector<std::byte> nothing(model_->input_bytes(dims));
  if (!model_->describe(run_once(nothing.data(), dims), dims[0], infos_, problem))
    return false;
  dims_ = dims;
  return true;
}

bool OrtHostEngine::prepare(int width, int height, std::vector<TensorInfo>& outputs, std::string& problem) {
  const auto dims_of_run = [&](std::int64_t batch) {
    return model_->input_dims(model_->fixed_batch() > 0 ? model_->fixed_batch() : batch, width, height);
  };
  Dims dims = dims_of_run(1);
  if (!dims.empty() && dims == dims_) {
    outputs = infos_;
    return true;
  }
  dims_.clear();
  values_.clear();
  problem = model_->size_problem(width, height);
  bool opened = false;
  try {
    opened = dims.empty() && width > 0 && height > 0 && model_->open_dims();
    // Of two, to see whether the network takes batches.
    if (opened)
      dims = dims_of_run(2);
    if (dims.empty() || !try_dims(dims, problem))
      return false;
  } catch (const std::exception& error) {
    const std::string reason = ort_reason(error);
    if (ort_lacks_memory(reason))
      problem = lack_of_memory(model_->path());
    problem += " (ONNX Runtime: " + reason + ")";
    if (opened)
      model_->close_dims();
    return false;
  }
  if (model_->fixed_batch() == 0)
    dims_[0] = 1;
  outputs = infos_;
  return true;
}

bool OrtHostEngine::is_input(const Tensor& input) const {
  return !dims_.empty() && input.type == model_->input().type && input.dims.size() == dims_.size() &&
         input.dims[0] > 0 && std::equal(dims_.begin() + 1, dims_.end(), input.dims.begin() + 1);
}

bool OrtHostEngine::are_outputs(const std::vector<Ort::Value>& values, std::int64_t batch) const {
  return std::ranges::equal(values, infos_, [batch](const Ort::Value& value, const TensorInfo& info) {
    const auto shape = value.GetTensorTypeAndShapeInfo();
    Dims expected = info.dims;
    expected[0] = batch;
    return shape.GetShape() == expected && shape.GetElementType() == ort_type(info.type);
  });
}

/// The first `batch` of each output to the end of what is stored.
void OrtHostEngine::append(const std::vector<Ort::Value>& values, std::int64_t batch) {
  for (std::size_t i = 0; i < values.size(); i++) {
    Dims dims = infos_[i].dims;
    dims[0] = batch;
    const auto* data = static_cast<const std::byte*>(values[i].GetTensorRawData());
    stored_[i].insert(stored_[i].end(), data, data + tensors::bytes_of(dims, infos_[i].type));
  }
}

/// For a model that takes `part` inputs at once; the last part is filled up with nothing.
bool OrtHostEngine::run_in_parts(const Tensor& input, std::int64_t part, std::vector<Tensor>& outputs) {
  const std::int64_t batch = input.dims[0];
  const std::size_t size = model_->input_bytes(dims_) / static_cast<std::size_t>(part);
  const auto* data = static_cast<const std::byte*>(input.data);
  stored_.assign(infos_.size(), {});
  for (std::int64_t done = 0; done < batch; done += part) {
    const std::int64_t left = std::min(part, batch - done);
    const std::byte* from = data + static_cast<std::size_t>(done) * size;
    if (left < part) {
      padded_.assign(static_cast<std::size_t>(part) * size, std::byte{0});
      std::memcpy(padded_.data(), from, static_cast<std::size_t>(left) * size);
      from = padded_.data();
    }
    values_ = run_once(from, dims_);
    if (!are_outputs(values_, part))
      return false;
    append(values_, left);
  }
  for (std::size_t i = 0; i < outputs.size(); i++)
    outputs[i].data = stored_[i].data();
  return true;
}

bool OrtHostEngine::run_whole(const Tensor& input, std::vector<Tensor>& outputs) {
  values_ = run_once(input.data, input.dims);
  if (!are_outputs(values_, input.dims[0]))
    return false;
  for (std::size_t i = 0; i < outputs.size(); i++)
    outputs[i].data = values_[i].GetTensorRawData();
  return true;
}

bool OrtHostEngine::run(const Tensor& input, std::vector<Tensor>& outputs, std::string& problem) {
  if (!is_input(input)) {
    problem = model_->path() + ": the input is not of the size that the network was prepared for";
    return false;
  }
  const std::int64_t batch = input.dims[0];
  outputs.clear();
  for (const TensorInfo& info : infos_) {
    outputs.push_back({.type = info.type, .dims = info.dims});
    outputs.back().dims[0] = batch;
  }
  try {
    const std::int64_t part = model_->fixed_batch();
    if (part > 0 && part != batch ? run_in_parts(input, part, outputs) : run_whole(input, outputs))
      return true;
    problem = model_->path() + ": its outputs are of other sizes than for the input that it was prepared with";
    return false;
  } catch (const std::exception& error) {
    const std::string reason = ort_reason(error);
    problem = ort_lacks_memory(reason) ? lack_of_memory(model_->path()) + " (ONNX Runtime: " + reason + ")"
                                       : model_->path() + ": ONNX Runtime failed: " + reason;
    return false;
  }
}

std::unique_ptr<Engine> make_host(const EngineModel& model, std::string& problem) {
  if (!ort_library(problem))
    return nullptr;
  Ort::SessionOptions options;
  if (model.threads > 0)
    options.SetIntraOpNumThreads(model.threads);
  // Threads that wait for work in a loop take time from the rest of the pipeline.
  options.AddConfigEntry("session.intra_op.allow_spinning", "0");
  std::unique_ptr<OrtModel> read = OrtModel::open(model, std::move(options), problem);
  return read ? std::make_unique<OrtHostEngine>(std::move(read)) : nullptr;
}

bool reads(const std::string& path) {
  return path.ends_with(".onnx") || path.ends_with(".ort");
}

}  // namespace

EngineRow onnxruntime_row() {
#if CROWD_HAVE_ORT_DEVICE
  const auto make_device = make_ort_device_engine;
  const auto device_problem = ort_cuda_problem;
#else
  constexpr decltype(EngineRow::make_device) make_device = nullptr;
  constexpr decltype(EngineRow::device_problem) device_problem = nullptr;
#endif
  return {.name = "onnxruntime",
          .make = make_host,
          .make_device = make_device,
          .device_problem = device_problem,
          .reads = reads};
}

}  // namespace crowd::net
