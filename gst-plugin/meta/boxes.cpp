// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Candidates from the first GstCrowdBoxesMeta of a buffer, read where they lie.

#include <algorithm>
#include <cstdint>

#include "adapter.hpp"
#include "gst/crowd/gstcrowdboxesmeta.h"

namespace crowd::meta {

namespace {

static_assert(sizeof(GstCrowdBox) == sizeof(CrowdNmsBox) && offsetof(GstCrowdBox, y2) == offsetof(CrowdNmsBox, y2));

class BoxesAdapter final : public Adapter {
 public:
  ~BoxesAdapter() override {
    BoxesAdapter::release();
  }

  bool probe(GstBuffer* buffer) const override {
    return gst_buffer_get_crowd_boxes_meta(buffer) != nullptr;
  }

  bool read(GstBuffer* buffer, FrameSize, std::uint32_t limit, Candidates& candidates, const char*& problem) override {
    const GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_boxes_meta(buffer);
    problem = map(*meta);
    if (problem)
      return false;
    const std::uint32_t n = std::min({*map_.count, meta->capacity, limit});
    candidates.boxes = {reinterpret_cast<const CrowdNmsBox*>(map_.boxes), n};
    candidates.scores = {map_.scores, n};
    candidates.classes = {map_.classes, n};
    candidates.count = *map_.count;
    candidates.frame = {meta->frame_width, meta->frame_height};
    candidates.labels = meta->labels;
    return true;
  }

  void remove(GstBuffer* buffer) override {
    gst_buffer_remove_meta(buffer, &gst_buffer_get_crowd_boxes_meta(buffer)->meta);
  }

  void release() override {
    if (!memory_)
      return;
    gst_crowd_boxes_unmap(&map_);
    g_clear_pointer(&memory_, gst_memory_unref);
  }

 private:
  // Null, or what is wrong. The reference keeps the memory mapped past remove().
  const char* map(const GstCrowdBoxesMeta& meta) {
    GstCrowdBoxesLayout layout;
    if (!meta.memory || !gst_crowd_boxes_layout_init(&layout, meta.capacity))
      return "its capacity is more than a GstCrowdBoxesMeta can have; mend the detector that attached it";
    if (gst_memory_get_sizes(meta.memory, nullptr, nullptr) < layout.size)
      return "its memory is too small for its capacity; allocate it with gst_crowd_boxes_memory_new()";
    if (!gst_crowd_boxes_map_memory(&map_, meta.memory, meta.capacity, GST_MAP_READ))
      return "its memory cannot be mapped for reading or is not aligned; allocate it with gst_crowd_boxes_memory_new() "
             "and "
             "unmap it before the buffer is pushed";
    memory_ = gst_memory_ref(meta.memory);
    if (*map_.count > GST_CROWD_BOXES_MAX_CAPACITY) {
      release();
      return "its count is beyond any capacity: was it ever written?";
    }
    return nullptr;
  }

  GstMemory* memory_ = nullptr;
  GstCrowdBoxesMap map_{};
};

}  // namespace

GType boxes_api() {
  return GST_CROWD_BOXES_META_API_TYPE;
}

std::unique_ptr<Adapter> make_boxes_adapter() {
  return std::make_unique<BoxesAdapter>();
}

}  // namespace crowd::meta
