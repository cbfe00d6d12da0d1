// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The part of NmsWorker that clusters candidates in device memory.

#include "nms/nmsworker.hpp"

#include <algorithm>
#include <utility>

#include "base/transform.hpp"

GST_DEBUG_CATEGORY_EXTERN(gst_crowd_nms_debug);
#define GST_CAT_DEFAULT gst_crowd_nms_debug

namespace crowd {

// What was made in one context is of no use in another.
bool NmsWorker::follow_context(GstMemory* memory, int device_id, std::string& problem) {
  if (device_.owns(memory))
    return true;
  // Nothing else of a frame between begin() and finish() depends on the context.
  if (begun_ != finished_ && frames_[finished_ % frames_.size()].awaited) {
    problem = "its CUDA context is another one than that of the frame before, which is still on its way";
    return false;
  }
  engine_.close();
  release_device();
  return device_.adopt(memory, device_id, problem);
}

void NmsWorker::release_device() {
  const CudaDevice::Current current(device_);
  survivors_.clear();
  device_nms_.release();
}

GstFlowReturn NmsWorker::fail_device(CrowdNmsStatus status) {
  const char* problem = device_nms_.problem().c_str();
  if (status == CROWD_NMS_UNSUPPORTED || status == CROWD_NMS_INVALID_ARGUMENT) {
    GST_ELEMENT_ERROR(element_, LIBRARY, SETTINGS,
                      ("The GPU cannot cluster candidates in device memory with these properties: %s.", problem),
                      (NULL));
    return GST_FLOW_ERROR;
  }
  const bool full = status == CROWD_NMS_OUT_OF_MEMORY;
  return fail_for_gpu(element_, full ? DeviceOutcome::out_of_memory : DeviceOutcome::failed, problem);
}

GstFlowReturn NmsWorker::cluster_on_device(GstBuffer* buffer, const NmsSettings& settings, int source_row,
                                           const meta::DeviceCandidates& candidates, Frame& frame) {
  meta::Adapter& source = *adapters_[static_cast<std::size_t>(source_row)];
  std::string problem;
  if (!follow_context(candidates.memory, settings.cuda_device_id, problem)) {
    drop_broken(buffer, settings, source, problem.c_str(), frame);
    return GST_FLOW_OK;
  }
  const CudaDevice::Current current(device_);
  if (!current) {
    device_nms_.set_problem("the CUDA context cannot be made current");
    return fail_device(CROWD_NMS_CUDA_ERROR);
  }
  CrowdNmsStatus status = CROWD_NMS_OK;
  const char* broken = nullptr;
  {
    // Unmapped before the metadata goes, which may hold the last reference.
    const MappedBoxes map(candidates.memory, candidates.capacity, GST_MAP_READ | map_on_device);
    const std::optional<bool> alive = map ? device_nms_.is_alive(map->boxes) : false;
    if (!alive)
      return fail_device(CROWD_NMS_CUDA_ERROR);
    if (*alive)
      status = enqueue(buffer, settings, source_row, candidates, *map, frame);
    else
      broken = map ? "its device memory has been freed, or is not of this device; keep it until the frame is gone"
                   : "its device memory is too small for its capacity, or cannot be mapped; allocate it with "
                     "gst_crowd_cuda_boxes_memory_new() and unmap it before the buffer is pushed";
  }
  if (broken) {
    drop_broken(buffer, settings, source, broken, frame);
    return GST_FLOW_OK;
  }
  if (status != CROWD_NMS_OK)
    return fail_device(status);
  source.remove(buffer);
  return GST_FLOW_OK;
}

CrowdNmsStatus NmsWorker::enqueue(GstBuffer* buffer, const NmsSettings& settings, int source_row,
                                  const meta::DeviceCandidates& candidates, const GstCrowdBoxesMap& map, Frame& frame) {
  const guint capacity = std::min(candidates.capacity, config_.capacity);
  const guint room = settings.max_detections ? std::min(settings.max_detections, capacity) : capacity;
  const DeviceNms::Call call = {config_.params, capacity, room};
  CrowdNmsStatus status = device_nms_.prepare(call);
  if (status != CROWD_NMS_OK)
    return status;
  frame.on_device = true;
  frame.left_on_device = leaves_on_device(settings, source_row);
  frame.awaited = settings.post_messages;
  for (int row = 0; row < static_cast<int>(adapters_.size()); row++)
    frame.awaited |= writes_awaited(frame, row);
  if (frame.awaited) {
    frame.info = candidates.info;
    frame.labels.reset(candidates.info.labels ? g_ptr_array_ref(candidates.info.labels) : nullptr);
  }
  if (frame.left_on_device)
    return leave_on_device(buffer, *adapters_[static_cast<std::size_t>(source_row)], candidates, map, call,
                           frame.awaited);
  return device_nms_.enqueue(call, map, {nullptr, frame.awaited, false}, stream_of(candidates.memory));
}

CrowdNmsStatus NmsWorker::leave_on_device(GstBuffer* buffer, meta::Adapter& output,
                                          const meta::DeviceCandidates& candidates, const GstCrowdBoxesMap& map,
                                          const DeviceNms::Call& call, bool awaited) {
  survivors_capacity_ = std::max(survivors_capacity_, room_for(call.room));
  MemoryRef memory = survivors_.acquire(survivors_capacity_, candidates.memory);
  if (!memory)
    return device_nms_.set_no_memory("no device memory for survivors");
  CrowdNmsStatus status = CROWD_NMS_OK;
  {
    const MappedBoxes survivors(memory.get(), survivors_capacity_, GST_MAP_WRITE | map_on_device);
    if (!survivors) {
      device_nms_.set_problem("the memory of survivors cannot be mapped");
      return CROWD_NMS_CUDA_ERROR;
    }
    // What the host waits for it counts itself.
    status = device_nms_.enqueue(call, map, {&*survivors, awaited, !awaited}, stream_of(candidates.memory));
  }
  if (status == CROWD_NMS_OK)
    output.write_on_device(buffer, candidates.info, std::move(memory), survivors_capacity_);
  return status;
}

bool NmsWorker::write_awaited(GstBuffer* buffer, const Frame& frame, DeviceNms::HostSurvivors& survivors) {
  survivors.boxes.info = frame.info;
  bool written = true;
  for (int row = 0; row < static_cast<int>(adapters_.size()); row++) {
    if (writes_awaited(frame, row))
      written &= adapters_[static_cast<std::size_t>(row)]->write(buffer, frame_size_, survivors.boxes,
                                                                 survivors.verdict, meta::Mode::replace);
  }
  return written;
}

}  // namespace crowd
