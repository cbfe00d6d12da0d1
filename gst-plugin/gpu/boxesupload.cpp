// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gpu/boxesupload.hpp"

#include <algorithm>
#include <optional>

#include "gpu/cudareport.hpp"
#include "gpu/device.hpp"
#include "gpu/framestream.hpp"
#include "gpu/uploadring.hpp"

namespace crowd {

namespace {

using Fill = std::function<void(const GstCrowdBoxesMap&)>;

/// An upload ring in the context of a memory, which keeps that alive.
class RingInContext {
 public:
  explicit RingInContext(GstMemory* memory) : memory_(gst_memory_ref(memory)) {}
  ~RingInContext() {
    const bool current = push_context_of(memory_.get());
    ring_.clear();
    if (current)
      pop_context();
  }
  RingInContext(const RingInContext&) = delete;
  RingInContext& operator=(const RingInContext&) = delete;

  bool is_in_context_of(GstMemory* memory) const {
    return context_of(memory_.get()) == context_of(memory);
  }
  cuda::UploadRing& ring() {
    return ring_;
  }

 private:
  MemoryRef memory_;
  cuda::UploadRing ring_;
};

/// All that fill() may write for `n` boxes.
std::size_t filled_bytes(const GstCrowdBoxesLayout& layout, const BoxesShape& shape, std::size_t n) {
  if (shape.arrays & GST_CROWD_BOXES_FEATURES)
    return layout.features + n * shape.feature_length * sizeof(gfloat);
  // Members, which candidates have none of, are the last but for more arrays.
  return shape.arrays ? layout.size : layout.members;
}

DeviceReport send(cuda::UploadRing& ring, const GstCrowdBoxesMap& to, const BoxesShape& shape, CUstream_st* stream,
                  const Fill& fill) {
  GstCrowdBoxesLayout layout;
  gst_crowd_boxes_layout_init_with(&layout, shape.capacity, shape.arrays, shape.feature_length);
  cudaError_t error = ring.take(filled_bytes(layout, shape, shape.capacity));
  if (error == cudaSuccess) {
    GstCrowdBoxesMap host;
    gst_crowd_boxes_map_at_with(&host, ring.data(), shape.capacity, shape.arrays, shape.feature_length);
    fill(host);
    error = ring.send(to.count, filled_bytes(layout, shape, std::min(*host.count, shape.capacity)), stream);
  }
  return error == cudaSuccess ? DeviceReport() : report_of("sending candidates to the GPU", error);
}

class CudaBoxesUpload final : public BoxesUpload {
 public:
  MemoryRef upload(GstMemory* beside, const BoxesShape& shape, const Fill& fill, DeviceReport& report) override {
    report = {};
    if (!push_context_of(beside)) {
      report = {DeviceOutcome::failed, "the CUDA context of the frame cannot be made current"};
      return nullptr;
    }
    report = given_.give(beside);
    MemoryRef memory = report.outcome == DeviceOutcome::done ? pool_.acquire(shape, beside) : nullptr;
    if (memory)
      report = fill_memory(memory.get(), shape, fill);
    else if (report.outcome == DeviceOutcome::done)
      report = report_of_no_memory("no device memory for candidates");
    if (report.outcome != DeviceOutcome::done)
      memory.reset();
    pop_context();
    return memory;
  }

 private:
  DeviceReport fill_memory(GstMemory* memory, const BoxesShape& shape, const Fill& fill) {
    if (!ring_ || !ring_->is_in_context_of(memory))
      ring_.emplace(memory);
    const MappedBoxes map(memory, shape, GST_MAP_WRITE | map_on_device);
    if (!map)
      return {DeviceOutcome::failed, "the memory of candidates cannot be mapped"};
    return let_default_stream_follow(memory, send(ring_->ring(), *map, shape, stream_of(memory), fill));
  }

  DeviceBoxesPool pool_;
  FrameStream given_;
  std::optional<RingInContext> ring_;
};

}  // namespace

std::unique_ptr<BoxesUpload> BoxesUpload::make() {
  return std::make_unique<CudaBoxesUpload>();
}

}  // namespace crowd
