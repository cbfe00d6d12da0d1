// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "overlay/draw/device_overlay.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/mappedframe.hpp"
#include "gpu/cudareport.hpp"
#include "gpu/device.hpp"
#include "gpu/framestream.hpp"
#include "gpu/uploadring.hpp"
#include "overlay/draw/frame.hpp"
#include "overlay/draw/labels.hpp"
#include "overlay/draw/painter.hpp"

namespace crowd::draw {

namespace {

constexpr std::size_t alignment = 256;

/// The boxes of the host in one block of memory, laid out alike in pinned and in device memory.
struct Layout {
  struct Layer {
    std::size_t boxes, scores, classes, members, labels;
  };
  std::size_t numbers = 0;  ///< of candidates and survivors, then those of the summary line
  Layer candidates, survivors;
  std::size_t bytes = 0;

  Layout(std::size_t candidate_count, std::size_t survivor_count) {
    numbers = take(4 * sizeof(std::uint32_t));
    candidates = take_layer(candidate_count);
    survivors = take_layer(survivor_count);
  }

 private:
  std::size_t take(std::size_t size) {
    const std::size_t at = bytes;
    bytes += (size + alignment - 1) / alignment * alignment;
    return at;
  }
  Layer take_layer(std::size_t n) {
    return {take(n * sizeof(GstCrowdBox)), take(n * sizeof(float)), take(n * sizeof(std::int32_t)),
            take(n * sizeof(std::uint32_t)), take(n * sizeof(std::int32_t))};
  }
};

DeviceBoxes boxes_at(const std::byte* base, const Layout::Layer& layer, std::size_t count_at, std::size_t n) {
  DeviceBoxes boxes;
  boxes.boxes = reinterpret_cast<const float*>(base + layer.boxes);
  boxes.scores = reinterpret_cast<const float*>(base + layer.scores);
  boxes.classes = reinterpret_cast<const std::int32_t*>(base + layer.classes);
  boxes.members = reinterpret_cast<const std::uint32_t*>(base + layer.members);
  boxes.labels = reinterpret_cast<const std::int32_t*>(base + layer.labels);
  boxes.count = reinterpret_cast<const std::uint32_t*>(base + count_at);
  boxes.capacity = static_cast<std::uint32_t>(n);
  return boxes;
}

/// Everything of a frame that the kernel reads.
struct Layers {
  DeviceBoxes candidates, survivors;
  DeviceSummary summary;
};

/// Boxes in device memory, as device pointers.
struct Mapped {
  std::optional<MappedBoxes> candidates, survivors, counted;
};

DeviceReport dropped(const char* problem) {
  return {DeviceOutcome::dropped, problem};
}

class CudaOverlay final : public DeviceOverlay {
 public:
  ~CudaOverlay() override {
    release();
  }

  DeviceReport draw(GstBuffer* buffer, const GstVideoInfo& info, const Style& style,
                    const Detections& detections) override;

 private:
  void release() {
    const CudaDevice::Current current(device_.get());
    painter_.release();
    ring_.clear();
    block_.reset();
    block_bytes_ = 0;
    before_.reset();
    after_.reset();
    moved_.reset();
    stream_ = nullptr;
  }

  cudaError_t make_events();
  void pack(std::byte* to, const Layout::Layer& layer, std::span<const Detection> detections, bool named);
  cudaError_t send(const Detections& detections, Layers& layers);
  cudaError_t make_room(std::size_t bytes);
  DeviceReport take_stream(GstMemory* memory);
  /// A memory that another buffer has, too, is replaced by a copy. That one keeps it until the order of work is laid.
  DeviceReport copy_shared(GstBuffer* buffer, GstMemory* memory);
  DeviceReport draw_on(const Canvas& canvas, const Style& style, const Detections& detections);
  DeviceReport paint(const Canvas& canvas, const Style& style, const Detections& detections, const Mapped& mapped);

  std::unique_ptr<CudaDevice> device_ = CudaDevice::make();
  DevicePainter painter_;
  cuda::UploadRing ring_;
  cuda::DeviceMemory block_;
  std::size_t block_bytes_ = 0;
  cuda::Event before_, after_, moved_;
  FrameStream given_;
  CUstream_st* stream_ = nullptr;          // of the last frame
  LabelTable labels_;                      // of detections on the host
  std::vector<const char*> class_labels_;  // of survivors in device memory, each at the number of its class
};

cudaError_t CudaOverlay::make_events() {
  if (before_)
    return cudaSuccess;
  const cudaError_t error = cuda::allocate(before_);
  return error == cudaSuccess ? cuda::allocate(after_) : error;
}

void CudaOverlay::pack(std::byte* to, const Layout::Layer& layer, std::span<const Detection> detections, bool named) {
  for (std::size_t i = 0; i < detections.size(); i++) {
    const Detection& d = detections[i];
    reinterpret_cast<GstCrowdBox*>(to + layer.boxes)[i] = {d.x1, d.y1, d.x2, d.y2};
    reinterpret_cast<float*>(to + layer.scores)[i] = d.score;
    reinterpret_cast<std::int32_t*>(to + layer.classes)[i] = d.class_id;
    reinterpret_cast<std::uint32_t*>(to + layer.members)[i] = d.members;
    reinterpret_cast<std::int32_t*>(to + layer.labels)[i] = named ? labels_.index_of(d.label) : -1;
  }
}

cudaError_t CudaOverlay::make_room(std::size_t bytes) {
  cudaError_t error = ring_.take(bytes);
  if (error == cudaSuccess && block_bytes_ < bytes) {
    block_bytes_ = 0;
    error = cuda::allocate(block_, ring_.room());
    block_bytes_ = error == cudaSuccess ? ring_.room() : 0;
  }
  return error;
}

cudaError_t CudaOverlay::send(const Detections& detections, Layers& layers) {
  const Layout layout(detections.candidates.size(), detections.survivors.size());
  labels_.begin_frame();
  if (const cudaError_t error = make_room(layout.bytes))
    return error;
  auto* host = static_cast<std::byte*>(ring_.data());
  const std::array<std::uint32_t, 4> numbers = {
      static_cast<std::uint32_t>(detections.candidates.size()), static_cast<std::uint32_t>(detections.survivors.size()),
      detections.summary.candidates, detections.summary.survivors.value_or(0)};
  std::memcpy(host + layout.numbers, numbers.data(), sizeof numbers);
  // The painter has one table of names, that of the survivors.
  const bool named = !detections.device_survivors;
  pack(host, layout.candidates, detections.candidates, named);
  pack(host, layout.survivors, detections.survivors, named);
  const cudaError_t error = ring_.send(block_.get(), layout.bytes, stream_);
  const auto* device_block = static_cast<const std::byte*>(block_.get());
  const auto* sent = reinterpret_cast<const std::uint32_t*>(device_block + layout.numbers);
  layers.candidates = boxes_at(device_block, layout.candidates, layout.numbers, detections.candidates.size());
  layers.survivors =
      boxes_at(device_block, layout.survivors, layout.numbers + sizeof(std::uint32_t), detections.survivors.size());
  layers.summary = {sent + 2, detections.summary.survivors ? sent + 3 : nullptr};
  return error;
}

DeviceBoxes boxes_of(const GstCrowdBoxesMap& map, const GstCrowdBoxesMeta& meta, const Placement& placement) {
  DeviceBoxes boxes;
  boxes.boxes = &map.boxes->x1;
  boxes.scores = map.scores;
  boxes.classes = map.classes;
  boxes.members = meta.kind == GST_CROWD_BOXES_SURVIVORS ? map.members : nullptr;
  boxes.count = map.count;
  boxes.capacity = map.capacity;
  boxes.placement = placement;
  boxes.calibration = {meta.confidence_slope, meta.confidence_offset};
  return boxes;
}

void use_labels(const GstCrowdBoxesMeta& meta, std::vector<const char*>& labels) {
  labels.clear();
  for (guint i = 0; meta.labels && i < meta.labels->len; i++)
    labels.push_back(static_cast<const char*>(g_ptr_array_index(meta.labels, i)));
}

DeviceReport CudaOverlay::paint(const Canvas& canvas, const Style& style, const Detections& detections,
                                const Mapped& mapped) {
  const auto& [candidates, survivors, counted] = mapped;
  Layers layers;
  const bool summary_from_host = style.summary && (!counted || (!survivors && detections.summary.survivors));
  const bool boxes_from_host = !detections.candidates.empty() || !detections.survivors.empty();
  if (boxes_from_host || summary_from_host) {
    if (const cudaError_t error = send(detections, layers))
      return report_of("sending detections to the GPU", error);
  }
  if (candidates) {
    // Of names they show nothing.
    layers.candidates = boxes_of(**candidates, *detections.device_candidates, detections.candidates_placement);
  }
  if (survivors) {
    layers.survivors = boxes_of(**survivors, *detections.device_survivors, detections.survivors_placement);
    layers.summary.survivors = (*survivors)->count;
    use_labels(*detections.device_survivors, class_labels_);
  }
  if (counted)
    layers.summary.candidates =
        detections.device_counted->kind == GST_CROWD_BOXES_SURVIVORS ? (*counted)->candidates : (*counted)->count;
  DeviceReport report;
  // Where neither is there nothing has a name, and those of other frames may stay.
  if (survivors)
    report = painter_.set_labels(class_labels_);
  else if (boxes_from_host)
    report = painter_.set_labels(labels_.names());
  if (report.outcome == DeviceOutcome::done)
    report = painter_.paint(canvas, style, layers.candidates, layers.survivors, layers.summary, stream_);
  return report;
}

DeviceReport CudaOverlay::draw_on(const Canvas& canvas, const Style& style, const Detections& detections) {
  Mapped mapped;
  const GstCrowdBoxesMeta* counted = style.summary ? detections.device_counted : nullptr;
  const auto map = [this](const GstCrowdBoxesMeta* meta, std::optional<MappedBoxes>& boxes) {
    return !meta ||
           (device_->owns(meta->memory) && boxes.emplace(meta->memory, meta->capacity, GST_MAP_READ | map_on_device));
  };
  if (!map(detections.device_candidates, mapped.candidates) || !map(detections.device_survivors, mapped.survivors) ||
      !map(counted, mapped.counted))
    return dropped(
        "a GstCrowdBoxesMeta is in another CUDA context than the frame, or its memory is too small for its "
        "capacity");
  cudaError_t error = make_events();
  const auto with_boxes = [&](auto&& order) {
    for (const GstCrowdBoxesMeta* meta : {detections.device_candidates, detections.device_survivors, counted}) {
      if (meta && error == cudaSuccess)
        error = order(stream_of(meta->memory));
    }
  };
  with_boxes([this](CUstream_st* theirs) { return cuda::make_wait(stream_, theirs, before_); });
  if (error != cudaSuccess)
    return report_of("waiting for boxes", error);
  DeviceReport report = paint(canvas, style, detections, mapped);
  // Their memory may be written again once the buffer is gone.
  with_boxes([this](CUstream_st* theirs) { return cuda::make_wait(theirs, stream_, after_); });
  return report_of_either(std::move(report), "ordering streams", error);
}

DeviceReport CudaOverlay::take_stream(GstMemory* memory) {
  if (DeviceReport report = given_.give(memory); report.outcome != DeviceOutcome::done)
    return report;
  // Frames share the block and the painter's memory.
  CUstream_st* stream = stream_of(memory);
  const cudaError_t error = stream == std::exchange(stream_, stream) ? cudaSuccess : cuda::wait_for_all(stream, moved_);
  return report_of_either({}, "waiting for another stream", error);
}

DeviceReport CudaOverlay::copy_shared(GstBuffer* buffer, GstMemory* memory) {
  if (gst_memory_is_writable(memory))
    return {};
  MemoryRef copy(gst_memory_copy(memory, 0, -1));
  if (!copy)
    return report_of_no_memory("no device memory for a copy of the frame");
  if (DeviceReport report = given_.give_to_copy(copy.get(), memory); report.outcome != DeviceOutcome::done)
    return report;
  gst_buffer_replace_memory(buffer, 0, copy.release());
  return {};
}

DeviceReport CudaOverlay::draw(GstBuffer* buffer, const GstVideoInfo& info, const Style& style,
                               const Detections& detections) {
  const bool boxes = !detections.candidates.empty() || !detections.survivors.empty() || detections.device_candidates ||
                     detections.device_survivors;
  if (!boxes && !style.summary)
    return {};
  GstMemory* memory = gst_buffer_n_memory(buffer) ? gst_buffer_peek_memory(buffer, 0) : nullptr;
  if (!is_on_device(memory))
    return dropped("the frame is not in the CUDA memory that its caps promise; put cudaupload before this element");
  if (DeviceReport report = device_->follow(memory, -1, [this] { release(); }); report.outcome != DeviceOutcome::done)
    return report;
  const CudaDevice::Current current(device_.get());
  if (!current)
    return {DeviceOutcome::failed, "the CUDA context cannot be made current"};
  if (DeviceReport report = take_stream(memory); report.outcome != DeviceOutcome::done)
    return report;
  if (DeviceReport report = copy_shared(buffer, memory); report.outcome != DeviceOutcome::done)
    return report;
  memory = gst_buffer_peek_memory(buffer, 0);
  // The frame's own reference would make the buffer, and with it the memory, read-only.
  const MappedFrame frame(buffer, info,
                          int{GST_MAP_READWRITE} | int{GST_VIDEO_FRAME_MAP_FLAG_NO_REF} | int{map_on_device});
  if (!frame)
    return dropped("the frame cannot be mapped for writing; put cudaconvert before this element");
  const auto part = shown_part(*frame, info);
  if (!part)
    return dropped(part_is_missing);
  const Canvas canvas = canvas_of(*frame, *part);
  if (canvas.left || canvas.top)
    return dropped("what is shown of the NV12 frame begins at an odd column or row; crop at even ones");
  return let_default_stream_follow(memory, draw_on(canvas, style, detections));
}

}  // namespace

std::unique_ptr<DeviceOverlay> DeviceOverlay::make() {
  return std::make_unique<CudaOverlay>();
}

}  // namespace crowd::draw
