// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tensordec/devicetensors.hpp"

#include <algorithm>
#include <cstdint>

#include "gpu/cudamemory.hpp"
#include "gpu/devicesearch.hpp"
#include "tensors/device_decoder.hpp"

namespace crowd {

namespace {

/// A device memory, mapped there while it lives.
class MappedTensor {
 public:
  explicit MappedTensor(GstMemory* memory) : memory_(memory) {
    if (!gst_memory_map(memory, &map_, GST_MAP_READ | map_on_device))
      memory_ = nullptr;
  }
  ~MappedTensor() {
    if (memory_)
      gst_memory_unmap(memory_, &map_);
  }
  MappedTensor(const MappedTensor&) = delete;
  MappedTensor& operator=(const MappedTensor&) = delete;

  const void* data() const {
    return memory_ ? map_.data : nullptr;
  }
  std::size_t size() const {
    return memory_ ? map_.size : 0;
  }

 private:
  GstMemory* memory_;
  GstMapInfo map_{};
};

class CudaTensors final : public DeviceTensors {
 public:
  ~CudaTensors() override {
    search_.leave([this] { release(); });
  }

  DeviceReport find(const TensorPlan& plan, std::span<GstMemory* const> memories, const Settings& settings,
                    MemoryRef& candidates) override {
    for (GstMemory* memory : memories)
      if (context_of(memory) != context_of(memories.front()))
        return {DeviceOutcome::dropped, "its tensors are in different CUDA contexts; let one element make them all"};
    return search_.run(
        memories.front(), settings.capacity, candidates, [this] { release(); },
        [&](const DeviceSearch::Work& work) { return search(work, plan, memories, settings); });
  }

  void forget_plan() override {
    planned_ = false;
  }

 private:
  // All that is in the context that is current.
  void release() {
    decoder_.reset();
    placement_.reset();
    reached_.reset();
    planned_ = false;
  }

  DeviceReport prepare(const TensorPlan& plan);
  DeviceReport search(const DeviceSearch::Work& work, const TensorPlan& plan, std::span<GstMemory* const> memories,
                      const Settings& settings);
  DeviceReport decode(const DeviceSearch::Work& work, std::span<GstMemory* const> memories, const Settings& settings);

  DeviceSearch search_;
  std::unique_ptr<tensors::DeviceDecoder> decoder_;
  cuda::DeviceMemory placement_;
  cuda::Event reached_;  // for tensors on other streams than the first
  bool planned_ = false;
  std::vector<tensors::Tensor> outputs_;
};

// Freeing the old decoder waits for the device.
DeviceReport CudaTensors::prepare(const TensorPlan& plan) {
  if (planned_ && decoder_)
    return {};
  release();
  cudaError_t error = cuda::allocate(reached_);
  if (error == cudaSuccess)
    error = cuda::allocate(placement_, sizeof plan.placement);
  if (error == cudaSuccess)
    error = cudaMemcpy(placement_.get(), &plan.placement, sizeof plan.placement, cudaMemcpyHostToDevice);
  if (error != cudaSuccess)
    return report_of("decoding tensors", error);
  // Last, as it waits until the placement is there, which the copy itself need not.
  DeviceReport report;
  decoder_ =
      tensors::DeviceDecoder::make(*plan.description, plan.infos, plan.input_width, plan.input_height, 1, report);
  if (!decoder_)
    return report;
  outputs_.clear();
  for (const tensors::TensorInfo& info : plan.infos)
    outputs_.push_back({info.type, info.dims, nullptr});
  planned_ = true;
  return {};
}

DeviceReport CudaTensors::search(const DeviceSearch::Work& work, const TensorPlan& plan,
                                 std::span<GstMemory* const> memories, const Settings& settings) {
  if (DeviceReport report = prepare(plan); report.outcome != DeviceOutcome::done)
    return report;
  std::vector<std::unique_ptr<MappedTensor>> maps;
  for (std::size_t i = 0; i < memories.size(); i++) {
    const auto& map = *maps.emplace_back(std::make_unique<MappedTensor>(memories[i]));
    tensors::Tensor& output = outputs_[i];
    output.data = map.data();
    if (!output.data)
      return {DeviceOutcome::dropped, "the CUDA memory of a tensor cannot be mapped; unmap it before it is handed on"};
    if (map.size() < bytes_of(output.dims, output.type) ||
        reinterpret_cast<std::uintptr_t>(output.data) % bytes_of(output.type))
      return {DeviceOutcome::dropped,
              "the memory of a tensor is smaller than its dims say, or not aligned for its type; mend the element that "
              "attaches it"};
  }
  return decode(work, memories, settings);
}

// The others' streams wait as well, before what they do next to their memories.
DeviceReport CudaTensors::decode(const DeviceSearch::Work& work, std::span<GstMemory* const> memories,
                                 const Settings& settings) {
  const tensors::DeviceDecodeSettings decoding = {settings.score_threshold, nullptr, 0, settings.objectness_threshold};
  const tensors::DecodedArrays out = {work.boxes.count, &work.boxes.boxes->x1, work.boxes.scores, work.boxes.classes,
                                      work.capacity};
  cudaError_t error = cudaSuccess;
  for (GstMemory* memory : memories)
    if (error == cudaSuccess)
      error = cuda::make_wait(work.stream, stream_of(memory), reached_);
  if (error == cudaSuccess)
    error = decoder_->enqueue(outputs_, 1, static_cast<const tensors::InputPlacement*>(placement_.get()), decoding, out,
                              work.stream);
  for (GstMemory* memory : memories)
    if (error == cudaSuccess)
      error = cuda::make_wait(stream_of(memory), work.stream, reached_);
  return error == cudaSuccess ? DeviceReport() : report_of("decoding tensors", error);
}

}  // namespace

std::unique_ptr<DeviceTensors> DeviceTensors::make() {
  return std::make_unique<CudaTensors>();
}

}  // namespace crowd
