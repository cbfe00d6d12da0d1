// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gpu/boxesupload.hpp"

#include "gpu/cudareport.hpp"
#include "gpu/uploadring.hpp"

namespace crowd {

/// Belongs to the context of `memory`, which keeps it alive.
struct BoxesUpload::State {
  MemoryRef memory;
  cuda::UploadRing ring;

  ~State() {
    const bool current = memory && push_context_of(memory.get());
    ring.clear();
    if (current)
      pop_context();
  }
};

BoxesUpload::BoxesUpload() = default;

BoxesUpload::~BoxesUpload() = default;

DeviceReport BoxesUpload::send(const GstCrowdBoxesMap& to, guint capacity, CUstream_st* stream,
                               const std::function<void(const GstCrowdBoxesMap&)>& fill) {
  GstCrowdBoxesLayout layout;
  gst_crowd_boxes_layout_init(&layout, capacity);
  cudaError_t error = state_->ring.take(layout.members);
  if (error == cudaSuccess) {
    GstCrowdBoxesMap host;
    gst_crowd_boxes_map_at(&host, state_->ring.data(), capacity);
    fill(host);
    error = state_->ring.send(to.count, layout.members, stream);
  }
  return error == cudaSuccess ? DeviceReport() : report_of("sending candidates to the GPU", error);
}

MemoryRef BoxesUpload::upload(GstMemory* beside, guint capacity,
                              const std::function<void(const GstCrowdBoxesMap&)>& fill) {
  report_ = {};
  if (!push_context_of(beside)) {
    report_ = {DeviceOutcome::failed, "the CUDA context of the frame cannot be made current"};
    return nullptr;
  }
  MemoryRef memory = pool_.acquire(capacity, beside);
  if (!memory)
    report_ = report_of_no_memory("no device memory for candidates");
  if (memory && (!state_ || context_of(state_->memory.get()) != context_of(memory.get()))) {
    state_ = std::make_unique<State>();
    state_->memory.reset(gst_memory_ref(memory.get()));
  }
  if (memory) {
    const MappedBoxes map(memory.get(), capacity, GST_MAP_WRITE | map_on_device);
    report_ = map ? send(*map, capacity, stream_of(memory.get()), fill)
                  : DeviceReport{DeviceOutcome::failed, "the memory of candidates cannot be mapped"};
    if (report_.outcome != DeviceOutcome::done)
      memory.reset();
  }
  pop_context();
  return memory;
}

}  // namespace crowd
