// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "overlay/draw/detections.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "gpu/device.hpp"
#include "overlay/draw/text.hpp"

namespace crowd::draw {

namespace {

constexpr char other_frame[] =
    "boxes are of a frame of another size or shape, or of another part of the picture; put crowdoverlay before the "
    "element that crops, pads, flips or scales it, and set add-borders of all scalers alike";
constexpr char lost[] =
    "boxes were attached to the frame and dropped on the way to here, by an element that copies the picture; put "
    "crowdoverlay before the element that crops, flips, pads or filters it";

const char* label_of(const GPtrArray* labels, int class_id) {
  const bool named = labels && class_id >= 0 && static_cast<guint>(class_id) < labels->len;
  return named ? static_cast<const char*>(g_ptr_array_index(labels, static_cast<guint>(class_id))) : nullptr;
}

std::optional<Placement> placement_of(const GstCrowdBoxesMeta& meta, GstBuffer* buffer, const ShownFrame& frame) {
  GstCrowdBoxesPlacement p;
  if (!gst_crowd_boxes_meta_get_placement(&meta, buffer, frame.width, frame.height, frame.borders, &p))
    return std::nullopt;
  return Placement{float(p.xx), float(p.xy), float(p.x0), float(p.yx), float(p.yy), float(p.y0)};
}

struct BoxCounts {
  guint boxes, candidates;
};

/** Fills `found` and returns the number that the memory names; nothing and `problem` if it cannot be read. */
std::optional<BoxCounts> read_boxes(const GstCrowdBoxesMeta& meta, const Placement& placement,
                                    std::vector<Detection>& found, const char*& problem) {
  const MappedBoxes map(meta.memory, meta.capacity, GST_MAP_READ);
  if (!map) {
    problem =
        "the memory of its GstCrowdBoxesMeta is too small for its capacity, is not aligned or cannot be mapped; "
        "allocate "
        "it with gst_crowd_boxes_memory_new() and unmap it before the buffer is pushed";
    return std::nullopt;
  }
  if (*map->count > GST_CROWD_BOXES_MAX_CAPACITY) {
    problem =
        "the count of its GstCrowdBoxesMeta is beyond any capacity; mend the element that attached it, which may never "
        "have written it";
    return std::nullopt;
  }
  const bool survivors = meta.kind == GST_CROWD_BOXES_SURVIVORS;
  const Calibration calibration = {meta.confidence_slope, meta.confidence_offset};
  const guint n = std::min(*map->count, map->capacity);
  found.clear();
  found.reserve(n);
  for (guint i = 0; i < n; i++) {
    const GstCrowdBox& box = map->boxes[i];
    const PlacedBox at = place(placement, box.x1, box.y1, box.x2, box.y2);
    found.push_back({at.x1, at.y1, at.x2, at.y2, shown_score(map->scores[i], calibration), map->classes[i],
                     survivors ? map->members[i] : 0, label_of(meta.labels, map->classes[i])});
  }
  return BoxCounts{*map->count, survivors ? *map->candidates : *map->count};
}

}  // namespace

void Detections::read_objects(GstBuffer* buffer, const ShownFrame& frame) {
  readers_.read(buffer, frame, objects_);
  problem = objects_.problem;
  std::swap(survivors, objects_.survivors);
  std::swap(candidates, objects_.candidates);
  // The candidates that the survivors represent. Where candidates are still there, their number replaces this one.
  for (const Detection& survivor : survivors)
    summary.candidates += std::max(survivor.members, 1U);
  summary.survivors = static_cast<unsigned>(survivors.size());
}

void Detections::read_survivors(GstBuffer* buffer, const ShownFrame& frame, bool leave_on_device) {
  const GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_survivors_meta(buffer);
  if (!meta) {
    if (gst_crowd_boxes_lost(buffer, GST_CROWD_BOXES_SURVIVORS))
      problem = lost;
    return;
  }
  // Other objects, if there are any, are the same survivors once more.
  problem = nullptr;
  survivors.clear();
  summary = {0, 0U};
  const auto placement = placement_of(*meta, buffer, frame);
  if (!placement) {
    problem = other_frame;
  } else if (leave_on_device && is_on_device(meta->memory)) {
    device_survivors = device_counted = meta;
    survivors_placement = *placement;
  } else if (const auto counts = read_boxes(*meta, *placement, survivors, problem)) {
    summary = {counts->candidates, static_cast<unsigned>(survivors.size())};
  }
}

void Detections::read_candidates(GstBuffer* buffer, const ShownFrame& frame, bool leave_on_device, bool needed) {
  const GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_boxes_meta(buffer);
  if (!meta) {
    if (needed && gst_crowd_boxes_lost(buffer, GST_CROWD_BOXES_CANDIDATES))
      problem = lost;
    return;
  }
  const auto placement = placement_of(*meta, buffer, frame);
  if (!placement) {
    problem = other_frame;
  } else if (leave_on_device && is_on_device(meta->memory)) {
    device_candidates = device_counted = meta;
    candidates_placement = *placement;
    candidates.clear();
  } else if (const auto counts = read_boxes(*meta, *placement, candidates, problem)) {
    summary.candidates = counts->boxes;
    device_counted = nullptr;
  }
}

void Detections::read(GstBuffer* buffer, const ShownFrame& frame, bool leave_on_device, bool candidates_needed) {
  survivors.clear();
  candidates.clear();
  summary = {};
  device_survivors = device_candidates = device_counted = nullptr;
  read_objects(buffer, frame);
  read_survivors(buffer, frame, leave_on_device);
  read_candidates(buffer, frame, leave_on_device, candidates_needed);
}

}  // namespace crowd::draw
