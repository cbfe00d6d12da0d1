// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cluster/device_nms.hpp"

#include <algorithm>
#include <utility>

#include "cluster/arrays.hpp"
#include "cluster/device_work.hpp"
#include "gpu/cudareport.hpp"
#include "gpu/framestream.hpp"

namespace crowd {

namespace {

using Outcome = FrameReport::Outcome;

DeviceWork::Call call_of(const Frame& frame) {
  const guint capacity = std::min(frame.on_device->capacity, frame.config.capacity);
  const guint max = frame.settings.max_detections;
  return {.params = frame.config.params, .capacity = capacity, .room = max ? std::min(max, capacity) : capacity};
}

class CudaNms final : public DeviceNms {
 public:
  CudaNms(CudaDevice& device, const Metadata& metadata) : device_(device), metadata_(metadata) {}

  FrameReport begin(GstBuffer* buffer, Frame& frame) override;
  FrameReport finish(GstBuffer* buffer, Frame& frame) override;

  void drop() override {
    const CudaDevice::Current current(&device_);
    work_.forget();
  }
  void release() override {
    const CudaDevice::Current current(&device_);
    survivors_.clear();
    work_.release();
  }

  CrowdNmsTotals totals() const override {
    return work_.totals();
  }
  Times times() const override {
    return work_.times();
  }
  void forget_totals() override {
    work_.forget_totals();
  }

 private:
  FrameReport cluster(GstBuffer* buffer, Frame& frame);
  FrameReport cluster_mapped(GstBuffer* buffer, const Frame& frame, const GstCrowdBoxesMap& candidates);
  FrameReport leave_on_device(GstBuffer* buffer, const Frame& frame, const GstCrowdBoxesMap& candidates,
                              const DeviceWork::Call& call);

  CudaDevice& device_;
  const Metadata& metadata_;
  DeviceWork work_;
  DeviceBoxesPool survivors_;
  guint survivors_capacity_ = 0;
};

constexpr char no_context[] = "the CUDA context cannot be made current";

FrameReport CudaNms::begin(GstBuffer* buffer, Frame& frame) {
  const CudaDevice::Current current(&device_);
  if (!current)
    return {Outcome::gpu_failed, no_context};
  FrameReport report = cluster(buffer, frame);
  FrameReport followed = frame_report(let_default_stream_follow(frame.on_device->memory));
  if (!report.is_done())
    return report;
  if (!followed.is_done())
    return followed;
  if (GPtrArray* labels = frame.on_device->info.labels; labels && frame.awaited)
    frame.kept_labels.reset(g_ptr_array_ref(labels));
  // The metadata may hold the last reference to the memory, which is unmapped by now.
  frame.source->adapter->remove(buffer);
  frame.on_device->memory = nullptr;
  return report;
}

FrameReport CudaNms::cluster(GstBuffer* buffer, Frame& frame) {
  const meta::DeviceCandidates& candidates = *frame.on_device;
  if (std::string lacking = problem_of_arrays(frame.config.params, candidates.arrays); !lacking.empty())
    return {Outcome::broken, std::move(lacking)};
  const MappedBoxes map(candidates.memory, candidates.shape(), GST_MAP_READ | map_on_device);
  if (!map)
    return {Outcome::broken,
            "its device memory is too small for its capacity and arrays, or cannot be mapped; allocate it with "
            "gst_crowd_cuda_boxes_memory_new() or _new_with() and unmap it before the buffer is pushed"};
  FrameReport report = DeviceWork::check_alive(map->boxes);
  return report.is_done() ? cluster_mapped(buffer, frame, *map) : std::move(report);
}

FrameReport CudaNms::cluster_mapped(GstBuffer* buffer, const Frame& frame, const GstCrowdBoxesMap& candidates) {
  const DeviceWork::Call call = call_of(frame);
  if (FrameReport report = work_.prepare(call); !report.is_done())
    return report;
  if (frame.left_on_device)
    return leave_on_device(buffer, frame, candidates, call);
  return work_.submit(call, candidates, {.device = nullptr, .host = frame.awaited, .count = false},
                      stream_of(frame.on_device->memory));
}

FrameReport CudaNms::leave_on_device(GstBuffer* buffer, const Frame& frame, const GstCrowdBoxesMap& candidates,
                                     const DeviceWork::Call& call) {
  survivors_capacity_ = std::max(survivors_capacity_, room_for(call.room));
  MemoryRef memory = survivors_.acquire(survivors_capacity_, frame.on_device->memory);
  if (!memory)
    return frame_report(report_of_no_memory("no device memory for survivors"));
  {
    const MappedBoxes survivors(memory.get(), survivors_capacity_, GST_MAP_WRITE | map_on_device);
    if (!survivors)
      return {Outcome::gpu_failed, "the memory of survivors cannot be mapped"};
    // What the host waits for it counts itself.
    FrameReport report =
        work_.submit(call, candidates, {.device = &*survivors, .host = frame.awaited, .count = !frame.awaited},
                     stream_of(frame.on_device->memory));
    if (!report.is_done())
      return report;
  }
  frame.source->adapter->write_on_device(buffer, frame.on_device->info, std::move(memory), survivors_capacity_);
  return {};
}

FrameReport CudaNms::finish(GstBuffer* buffer, Frame& frame) {
  if (!frame.awaited)
    return {};
  const CudaDevice::Current current(&device_);
  if (!current)
    return {Outcome::gpu_failed, no_context};
  DeviceWork::HostSurvivors survivors;
  if (FrameReport report = work_.wait(survivors); !report.is_done())
    return report;
  survivors.boxes.info = frame.on_device->info;
  if (!metadata_.write_awaited(buffer, frame, survivors.boxes, survivors.verdict))
    return {Outcome::no_memory, {}};
  Backends::Result& result = frame.result.emplace();
  result.report = survivors.report;
  result.backend = CROWD_NMS_BACKEND_CUDA;
  return {};
}

}  // namespace

std::unique_ptr<DeviceNms> DeviceNms::make(CudaDevice& device, const Metadata& metadata) {
  return std::make_unique<CudaNms>(device, metadata);
}

}  // namespace crowd
