// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detections.hpp"

#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/video/gstvideometa.h>

#include <algorithm>
#include <limits>

namespace crowd::draw {

namespace {

constexpr float no_score = std::numeric_limits<float>::quiet_NaN();

bool get_number(const GstStructure* structure, const char* field, double& number) {
  const GValue* value = gst_structure_get_value(structure, field);
  if (!value)
    return false;
  if (G_VALUE_HOLDS_DOUBLE(value))
    number = g_value_get_double(value);
  else if (G_VALUE_HOLDS_FLOAT(value))
    number = g_value_get_float(value);
  else
    return false;
  return true;
}

/** What the parameters of a region say of it. */
struct Parameters {
  bool detection = false;
  bool kept = true;
  float score = no_score;
  int class_id = -1;
  unsigned members = 0;
};

Parameters read_parameters(const GstVideoRegionOfInterestMeta& roi) {
  Parameters all;
  all.detection = roi.params == nullptr;
  for (const GList* link = roi.params; link; link = link->next) {
    const auto* structure = static_cast<const GstStructure*>(link->data);
    double score;
    if (get_number(structure, "confidence", score) || get_number(structure, "score", score)) {
      all.detection = true;
      all.score = static_cast<float>(score);
    }
    gst_structure_get_int(structure, "label_id", &all.class_id);
    if (!gst_structure_has_name(structure, "nms"))
      continue;
    gboolean kept = TRUE;
    gst_structure_get_boolean(structure, "kept", &kept);
    all.kept = kept;
    gst_structure_get_uint(structure, "members", &all.members);
  }
  return all;
}

void read_regions(GstBuffer* buffer, Detections& found) {
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    const auto& roi = *reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    const Parameters parameters = read_parameters(roi);
    if (!parameters.detection)
      continue;
    const auto x = static_cast<float>(roi.x);
    const auto y = static_cast<float>(roi.y);
    auto& list = parameters.kept ? found.survivors : found.candidates;
    list.push_back({x, y, x + static_cast<float>(roi.w), y + static_cast<float>(roi.h), parameters.score,
                    parameters.class_id, parameters.members, g_quark_to_string(roi.roi_type)});
  }
}

const char* label_of(const GPtrArray* labels, int class_id) {
  const bool named = labels && class_id >= 0 && static_cast<guint>(class_id) < labels->len;
  return named ? static_cast<const char*>(g_ptr_array_index(labels, static_cast<guint>(class_id))) : nullptr;
}

void read_boxes(const GstCrowdBoxesMeta& meta, int width, int height, Detections& found) {
  GstCrowdBoxesMap map;
  if (!meta.memory || !gst_crowd_boxes_map_memory(&map, meta.memory, meta.capacity, GST_MAP_READ)) {
    found.problem =
        "the memory of its GstCrowdBoxesMeta is too small for its capacity, is not aligned or cannot be mapped";
    return;
  }
  const bool scaled = meta.frame_width > 0 && meta.frame_height > 0;
  const float sx = scaled ? static_cast<float>(width) / static_cast<float>(meta.frame_width) : 1;
  const float sy = scaled ? static_cast<float>(height) / static_cast<float>(meta.frame_height) : 1;
  const guint n = std::min(*map.count, map.capacity);
  for (guint i = 0; i < n; i++) {
    const GstCrowdBox& box = map.boxes[i];
    found.candidates.push_back({box.x1 * sx, box.y1 * sy, box.x2 * sx, box.y2 * sy, map.scores[i], map.classes[i], 0,
                                label_of(meta.labels, map.classes[i])});
  }
  found.summary.candidates = *map.count;
  gst_crowd_boxes_unmap(&map);
}

}  // namespace

void Detections::read(GstBuffer* buffer, int width, int height) {
  survivors.clear();
  candidates.clear();
  summary = {};
  problem = nullptr;
  read_regions(buffer, *this);
  // What crowdnms tells of the candidates that it took away; the candidates themselves, where they are, know better.
  for (const Detection& survivor : survivors)
    summary.candidates += std::max(survivor.members, 1U);
  summary.survivors = static_cast<unsigned>(survivors.size());
  if (const GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_boxes_meta(buffer))
    read_boxes(*meta, width, height, *this);
}

}  // namespace crowd::draw
