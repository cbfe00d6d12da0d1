// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tensordec/tensordecoder.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "gpu/device.hpp"
#include "tensors/fitting.hpp"

namespace crowd {

namespace {

GstMemory* device_memory_of(const GstTensor& tensor) {
  if (!tensor.data || gst_buffer_n_memory(tensor.data) != 1)
    return nullptr;
  GstMemory* memory = gst_buffer_peek_memory(tensor.data, 0);
  return is_on_device(memory) ? memory : nullptr;
}

}  // namespace

/// A tensor's data in host memory, mapped while it lives.
class TensorDecoder::MappedData {
 public:
  explicit MappedData(GstBuffer* buffer) : buffer_(buffer) {
    if (!buffer_ || !gst_buffer_map(buffer_, &map_, GST_MAP_READ))
      buffer_ = nullptr;
  }
  ~MappedData() {
    if (buffer_)
      gst_buffer_unmap(buffer_, &map_);
  }
  MappedData(MappedData&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)), map_(other.map_) {}
  MappedData& operator=(MappedData&&) = delete;

  /// Empty, or what is wrong with it.
  std::string take(tensors::Tensor& tensor) const {
    if (!buffer_)
      return "its data is missing or cannot be mapped for reading";
    const std::size_t bytes = bytes_of(tensor.dims, tensor.type);
    if (map_.size < bytes)
      return "its data has " + std::to_string(map_.size) + " bytes, and its dims say " + std::to_string(bytes);
    if (reinterpret_cast<std::uintptr_t>(map_.data) % bytes_of(tensor.type))
      return "its data is not aligned for its type";
    tensor.data = map_.data;
    return {};
  }

 private:
  GstBuffer* buffer_;
  GstMapInfo map_{};
};

bool TensorDecoder::is_prepared(const FrameTensors& tensors, const meta::FrameSize& frame) const {
  return network_ == tensors.network && frame_width_ == frame.width && frame_height_ == frame.height &&
         std::ranges::equal(tensors.tensors, ids_, {}, &GstTensor::id) && are_described(tensors, plan_.infos);
}

// Without a description of the input's size the frame is the input, as GStreamer's decoders have it.
void TensorDecoder::plan_for(const FrameTensors& tensors, const meta::FrameSize& frame) {
  const tensors::Input& input = tensors.network->description.input;
  const auto width = static_cast<int>(frame.width), height = static_cast<int>(frame.height);
  const bool sized = !tensors.network->frame_is_input && input.width() > 0 && input.height() > 0;
  plan_.description = &tensors.network->description;
  plan_.input_width = sized ? input.width() : width;
  plan_.input_height = sized ? input.height() : height;
  const auto [x, y] = tensors::scale_to_picture(width, height, plan_.input_width, plan_.input_height, input.fit);
  plan_.placement = {0, 0, static_cast<float>(x), static_cast<float>(y)};
}

std::string TensorDecoder::prepare(const FrameTensors& tensors, const meta::FrameSize& frame) {
  if (is_prepared(tensors, frame))
    return problem_;
  network_ = nullptr;
  decoder_.reset();
  if (on_device_)
    on_device_->forget_plan();
  if (!frame.known())
    return "the caps have no width and height: put a capsfilter with both before crowdtensordec";
  std::string problem;
  if (!describe_tensors(tensors, plan_.infos, problem))
    return problem;
  plan_for(tensors, frame);
  problem_.clear();
  decoder_ = tensors::Decoder::make(*plan_.description, plan_.infos, plan_.input_width, plan_.input_height, problem_);
  rule_ = StockRule::of_layout(plan_.description->group_id);
  outputs_.clear();
  for (const tensors::TensorInfo& info : plan_.infos)
    outputs_.push_back({info.type, info.dims, nullptr});
  ids_.clear();
  for (const GstTensor* tensor : tensors.tensors)
    ids_.push_back(tensor->id);
  network_ = tensors.network;
  frame_width_ = frame.width;
  frame_height_ = frame.height;
  return problem_;
}

bool TensorDecoder::can_decode_on_device(const FrameTensors& tensors) const {
  return on_device_ && std::ranges::all_of(tensors.tensors, [](const GstTensor* tensor) {
           return device_memory_of(*tensor) != nullptr;
         });
}

std::string TensorDecoder::map(const FrameTensors& tensors, std::vector<MappedData>& maps) {
  maps.reserve(tensors.tensors.size());
  for (std::size_t i = 0; i < tensors.tensors.size(); i++) {
    maps.emplace_back(tensors.tensors[i]->data);
    if (const std::string problem = maps.back().take(outputs_[i]); !problem.empty())
      return plan_.infos[i].name + ": " + problem + "; mend the element that attaches it";
  }
  return {};
}

std::string TensorDecoder::decode(const FrameTensors& tensors, const tensors::DecodeSettings& settings,
                                  std::vector<tensors::RawBox>& boxes) {
  std::vector<MappedData> maps;
  std::string problem = map(tensors, maps);
  if (problem.empty())
    decoder_->decode(outputs_, {&plan_.placement, 1}, settings, boxes, problem);
  return problem;
}

std::string TensorDecoder::select(const FrameTensors& tensors, StockSettings settings,
                                  std::vector<tensors::RawBox>& kept) {
  std::vector<MappedData> maps;
  std::string problem = map(tensors, maps);
  settings.frame_width = static_cast<int>(frame_width_);
  settings.frame_height = static_cast<int>(frame_height_);
  if (problem.empty())
    rule_->select(outputs_, settings, kept, problem);
  return problem;
}

DeviceReport TensorDecoder::decode_on_device(const FrameTensors& tensors, const DeviceTensors::Settings& settings,
                                             MemoryRef& candidates) {
  memories_.clear();
  for (const GstTensor* tensor : tensors.tensors)
    memories_.push_back(device_memory_of(*tensor));
  return on_device_->find(plan_, memories_, settings, candidates);
}

}  // namespace crowd
