// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Candidates from the first GstCrowdBoxesMeta of a buffer, read where they lie; survivors as another one.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/negotiation.hpp"
#include "gpu/device.hpp"
#include "gst/crowd/gstcrowdboxesarrays.h"
#include "meta/adapter.hpp"

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

  bool read(GstBuffer* buffer, FrameSize size, std::uint32_t limit, Candidates& candidates,
            const char*& problem) override {
    const GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_boxes_meta(buffer);
    const auto info = info_of(*meta, buffer, size);
    problem = info ? map(*meta) : other_frame;
    if (problem)
      return false;
    const std::uint32_t n = std::min({*map_.count, meta->capacity, limit});
    candidates.boxes = {reinterpret_cast<const CrowdNmsBox*>(map_.boxes), n};
    candidates.scores = {map_.scores, n};
    candidates.classes = {map_.classes, n};
    candidates.densities = part(map_.densities, n);
    candidates.proposals = part(map_.proposals, n);
    candidates.visible = part(reinterpret_cast<const CrowdNmsBox*>(map_.visible), n);
    candidates.features = part(map_.features, std::size_t{n} * map_.feature_length);
    candidates.models = part(map_.models, n);
    candidates.arrays = meta->arrays;
    candidates.feature_length = map_.feature_length;
    candidates.count = *map_.count;
    candidates.info = *info;
    labels_ = info->labels ? g_ptr_array_ref(info->labels) : nullptr;
    return true;
  }

  void remove(GstBuffer* buffer) override {
    gst_buffer_remove_crowd_boxes_meta(buffer, gst_buffer_get_crowd_boxes_meta(buffer));
  }

  std::optional<DeviceCandidates> on_device(GstBuffer* buffer, FrameSize size) const override {
    const GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_boxes_meta(buffer);
    if (!meta || !is_on_device(meta->memory))
      return std::nullopt;
    GstCrowdBoxesLayout layout;
    const auto info = info_of(*meta, buffer, size);
    if (!info || !gst_crowd_boxes_layout_init_with(&layout, meta->capacity, meta->arrays, meta->feature_length))
      return std::nullopt;
    return DeviceCandidates{meta->memory, meta->capacity, *info, meta->arrays, meta->feature_length};
  }

  bool lost(GstBuffer* buffer) const override {
    return gst_crowd_boxes_lost(buffer, GST_CROWD_BOXES_CANDIDATES);
  }

  bool write(GstBuffer* buffer, FrameSize size, const Candidates& candidates, const Verdict& verdict, Mode,
             ObjectIds&) override {
    const guint n = static_cast<guint>(verdict.survivors.size());
    capacity_ = std::max(capacity_, room_for(n));
    MemoryRef memory = pool_.acquire(capacity_);
    if (!memory || !fill(memory.get(), candidates, verdict))
      return false;
    BoxesInfo info = candidates.info;
    if (!info.frame.known())
      info.frame = size;
    attach(buffer, std::move(memory), capacity_, info);
    return true;
  }

  void write_on_device(GstBuffer* buffer, const BoxesInfo& info, MemoryRef survivors, guint capacity) override {
    attach(buffer, std::move(survivors), capacity, info);
  }

  void release() override {
    if (!memory_)
      return;
    gst_crowd_boxes_unmap(&map_);
    g_clear_pointer(&memory_, gst_memory_unref);
    g_clear_pointer(&labels_, g_ptr_array_unref);
  }

 private:
  static constexpr char other_frame[] =
      "they are of a frame of another size or shape, or of another part of the picture; put crowdnms before the "
      "element "
      "that crops, pads, flips or scales it, and set add-borders of all scalers alike";

  /// Nothing if the boxes are of another frame.
  static std::optional<BoxesInfo> info_of(const GstCrowdBoxesMeta& meta, GstBuffer* buffer, FrameSize size) {
    BoxesInfo info;
    if (!gst_crowd_boxes_meta_get_placement(&meta, buffer, size.width, size.height, size.borders, &info.placement))
      return std::nullopt;
    info.frame = size.known() ? size : FrameSize{.width = meta.frame_width, .height = meta.frame_height};
    info.calibration = {meta.confidence_slope, meta.confidence_offset};
    info.labels = meta.labels;
    info.labels_are_all = meta.labels != nullptr;
    return info;
  }

  /// Nothing of an array that there is not.
  template <typename T>
  static std::span<const T> part(const T* array, std::size_t n) {
    return {array, array ? n : 0};
  }

  static void attach(GstBuffer* buffer, MemoryRef memory, guint capacity, const BoxesInfo& info) {
    GstCrowdBoxesMeta* meta = gst_buffer_add_crowd_survivors_meta(buffer, memory.release(), capacity, info.frame.width,
                                                                  info.frame.height, info.labels);
    meta->placement = info.placement;
    meta->confidence_slope = info.calibration.slope;
    meta->confidence_offset = info.calibration.offset;
  }

  bool fill(GstMemory* memory, const Candidates& candidates, const Verdict& verdict) const {
    const MappedBoxes map(memory, capacity_, GST_MAP_WRITE);
    if (!map)
      return false;
    for (std::size_t rank = 0; rank < verdict.survivors.size(); ++rank) {
      const std::uint32_t i = verdict.survivors[rank];
      const CrowdNmsBox& box = candidates.boxes[i];
      map->boxes[rank] = {box.x1, box.y1, box.x2, box.y2};
      map->scores[rank] = candidates.scores[i];
      map->classes[rank] = candidates.classes.empty() ? 0 : candidates.classes[i];
      map->members[rank] = verdict.members[rank];
    }
    *map->count = static_cast<guint32>(verdict.survivors.size());
    *map->candidates = candidates.count;
    return true;
  }

  // Null, or what is wrong. The reference keeps the memory mapped past remove(), as that of the labels keeps them.
  const char* map(const GstCrowdBoxesMeta& meta) {
    GstCrowdBoxesLayout layout;
    if (!meta.memory || !gst_crowd_boxes_layout_init(&layout, meta.capacity))
      return "its capacity is more than a GstCrowdBoxesMeta can have; mend the detector that attached it";
    if (!gst_crowd_boxes_layout_init_with(&layout, meta.capacity, meta.arrays, meta.feature_length))
      return "its arrays are unknown, or its feature_length is not from 1 to 4096 where they have features and 0 where "
             "not; mend the detector that attached it, see gstcrowdboxesarrays.h";
    if (gst_memory_get_sizes(meta.memory, nullptr, nullptr) < layout.size)
      return meta.arrays ? "its memory is too small for its capacity and arrays; allocate it with "
                           "gst_crowd_boxes_memory_new_with()"
                         : "its memory is too small for its capacity; allocate it with gst_crowd_boxes_memory_new()";
    if (!gst_crowd_boxes_map_memory_with(&map_, meta.memory, meta.capacity, meta.arrays, meta.feature_length,
                                         GST_MAP_READ))
      return "its memory cannot be mapped for reading or is not aligned; allocate it with gst_crowd_boxes_memory_new() "
             "and "
             "unmap it before the buffer is pushed";
    memory_ = gst_memory_ref(meta.memory);
    if (*map_.count > GST_CROWD_BOXES_MAX_CAPACITY) {
      release();
      return "its count is beyond any capacity; mend the element that attached it, which may never have written it";
    }
    return nullptr;
  }

  GstMemory* memory_ = nullptr;
  GPtrArray* labels_ = nullptr;
  GstCrowdBoxesMap map_{};
  MemoryPool pool_{new_host_boxes};
  guint capacity_ = 0;
};

}  // namespace

GType boxes_api() {
  return GST_CROWD_BOXES_META_API_TYPE;
}

void advertise_boxes_read(GstQuery* query, bool on_device) {
  if (on_device)
    advertise_boxes(query, {candidates_on_device});
  else
    advertise_boxes(query, {});
}

std::unique_ptr<Adapter> make_boxes_adapter() {
  return std::make_unique<BoxesAdapter>();
}

}  // namespace crowd::meta
