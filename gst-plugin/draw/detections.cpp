// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detections.hpp"

#include <gst/crowd/gstcrowdboxesmeta.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "device.hpp"
#include "meta/detection.hpp"

namespace crowd::draw {

namespace {

constexpr float no_score = std::numeric_limits<float>::quiet_NaN();

/** What crowdnms says of a region. */
struct NmsVerdict {
  gboolean kept = TRUE;
  guint members = 0;
};

NmsVerdict read_verdict(const GstVideoRegionOfInterestMeta& roi) {
  NmsVerdict verdict;
  if (const GstStructure* structure = meta::find_param(roi, meta::quarks().nms)) {
    gst_structure_get_boolean(structure, "kept", &verdict.kept);
    gst_structure_get_uint(structure, "members", &verdict.members);
  }
  return verdict;
}

void read_regions(GstBuffer* buffer, Detections& found) {
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    const auto& roi = *reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    auto detection = meta::read_detection(roi);
    if (!detection && !roi.params)
      detection = meta::RegionDetection{nullptr, std::nullopt, std::nullopt, roi.roi_type};
    if (!detection)
      continue;
    const NmsVerdict verdict = read_verdict(roi);
    const auto x = static_cast<float>(roi.x);
    const auto y = static_cast<float>(roi.y);
    const float score = detection->score ? static_cast<float>(*detection->score) : no_score;
    auto& list = verdict.kept ? found.survivors : found.candidates;
    list.push_back({x, y, x + static_cast<float>(roi.w), y + static_cast<float>(roi.h), score,
                    detection->label_id.value_or(-1), verdict.members, g_quark_to_string(detection->label)});
  }
}

const char* label_of(const GPtrArray* labels, int class_id) {
  const bool named = labels && class_id >= 0 && static_cast<guint>(class_id) < labels->len;
  return named ? static_cast<const char*>(g_ptr_array_index(labels, static_cast<guint>(class_id))) : nullptr;
}

struct BoxCounts {
  guint boxes, candidates;
};

/** Fills `found` and returns the number that the memory names; nothing and `problem` if it cannot be read. */
std::optional<BoxCounts> read_boxes(const GstCrowdBoxesMeta& meta, int width, int height, std::vector<Detection>& found,
                                    const char*& problem) {
  const MappedBoxes map(meta.memory, meta.capacity, GST_MAP_READ);
  if (!map) {
    problem = "the memory of its GstCrowdBoxesMeta is too small for its capacity, is not aligned or cannot be mapped";
    return std::nullopt;
  }
  if (*map->count > GST_CROWD_BOXES_MAX_CAPACITY) {
    problem = "the count of its GstCrowdBoxesMeta is beyond any capacity: was it ever written?";
    return std::nullopt;
  }
  const bool survivors = meta.kind == GST_CROWD_BOXES_SURVIVORS;
  const Scale scale = scale_of(meta, width, height);
  const guint n = std::min(*map->count, map->capacity);
  found.clear();
  found.reserve(n);
  for (guint i = 0; i < n; i++) {
    const GstCrowdBox& box = map->boxes[i];
    found.push_back({box.x1 * scale.x, box.y1 * scale.y, box.x2 * scale.x, box.y2 * scale.y, map->scores[i],
                     map->classes[i], survivors ? map->members[i] : 0, label_of(meta.labels, map->classes[i])});
  }
  return BoxCounts{*map->count, survivors ? *map->candidates : *map->count};
}

}  // namespace

Scale scale_of(const GstCrowdBoxesMeta& meta, int width, int height) {
  if (meta.frame_width == 0 || meta.frame_height == 0)
    return {1, 1};
  return {static_cast<float>(width) / static_cast<float>(meta.frame_width),
          static_cast<float>(height) / static_cast<float>(meta.frame_height)};
}

void Detections::read(GstBuffer* buffer, int width, int height, bool leave_on_device) {
  survivors.clear();
  candidates.clear();
  summary = {};
  problem = nullptr;
  device_survivors = device_candidates = device_counted = nullptr;
  read_regions(buffer, *this);
  // What crowdnms tells of the candidates that it took away; the candidates themselves, where they are, know better.
  for (const Detection& survivor : survivors)
    summary.candidates += std::max(survivor.members, 1U);
  summary.survivors = static_cast<unsigned>(survivors.size());
  if (const GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_survivors_meta(buffer)) {
    if (leave_on_device && is_on_device(meta->memory)) {
      device_survivors = device_counted = meta;
      survivors.clear();
    } else if (const auto counts = read_boxes(*meta, width, height, survivors, problem)) {
      summary = {counts->candidates, static_cast<unsigned>(survivors.size())};
    }
  }
  if (const GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_boxes_meta(buffer)) {
    if (leave_on_device && is_on_device(meta->memory)) {
      device_candidates = device_counted = meta;
      candidates.clear();
    } else if (const auto counts = read_boxes(*meta, width, height, candidates, problem)) {
      summary.candidates = counts->boxes;
      device_counted = nullptr;
    }
  }
}

}  // namespace crowd::draw
