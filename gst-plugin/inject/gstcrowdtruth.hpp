// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * The true objects of a synthetic frame, beside the candidates: a #GstCustomMeta named "GstCrowdTruth", which no reader
 * of detections takes for one and which anyone can read without our headers. Its structure:
 *
 *     objects  GstMemory  `count` records of GstCrowdTruthObject, one after the other, 24 bytes each
 *     count    guint      number of objects
 *     width    guint      of the frame that the coordinates refer to, pixels
 *     height   guint
 *
 * The meta is copied by reference. It has the tags video, orientation and size: elements that change the picture drop
 * it. Converters and scalers keep it where the shape of the frame stays; coordinates still refer to `width` and
 * `height` then. From Python:
 *
 *     truth = buffer.get_custom_meta("GstCrowdTruth").get_structure()
 *     ok, info = truth.get_value("objects").map(Gst.MapFlags.READ)
 *     for id, object_class, x1, y1, x2, y2 in struct.iter_unpack("=Ii4f", info.data[:24 * truth.get_value("count")]):
 * ...
 */

#pragma once

#include <gst/gst.h>
#include <gst/video/gstvideometa.h>
#include <gst/video/video.h>

#include <optional>
#include <vector>

inline constexpr char gst_crowd_truth_meta_name[] = "GstCrowdTruth";

/** A true object: pixels, half-open. The id stays the object's own from frame to frame, and starts at 1. */
struct GstCrowdTruthObject {
  guint32 id;
  gint32 object_class;
  gfloat x1, y1, x2, y2;
};
static_assert(sizeof(GstCrowdTruthObject) == 24);

/** A GstCustomMetaTransformFunction: copies where coordinates keep their meaning. */
inline gboolean gst_crowd_truth_transform(GstBuffer* destination, GstCustomMeta* meta, GstBuffer*, GQuark type,
                                          gpointer data, gpointer) {
  if (GST_VIDEO_META_TRANSFORM_IS_SCALE(type)) {
    const auto* scale = static_cast<const GstVideoMetaTransform*>(data);
    const auto wide = [](const GstVideoInfo& info) { return static_cast<double>(info.width) * info.par_n; };
    const auto high = [](const GstVideoInfo& info) { return static_cast<double>(info.height) * info.par_d; };
    if (wide(*scale->in_info) * high(*scale->out_info) != wide(*scale->out_info) * high(*scale->in_info))
      return FALSE;
  } else if (!GST_META_TRANSFORM_IS_COPY(type)) {
    return FALSE;
  }
  GstStructure* copy =
      gst_custom_meta_get_structure(gst_buffer_add_custom_meta(destination, gst_crowd_truth_meta_name));
  gst_structure_foreach(
      gst_custom_meta_get_structure(meta),
      [](GQuark field, const GValue* value, gpointer to) -> gboolean {
        gst_structure_id_set_value(static_cast<GstStructure*>(to), field, value);
        return TRUE;
      },
      copy);
  return TRUE;
}

/** Makes the meta known to the process; any number of times. */
inline void gst_crowd_truth_register() {
  static const gchar* tags[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_ORIENTATION_STR, GST_META_TAG_VIDEO_SIZE_STR,
                                nullptr};
  if (!gst_meta_get_info(gst_crowd_truth_meta_name))
    gst_meta_register_custom(gst_crowd_truth_meta_name, tags, gst_crowd_truth_transform, nullptr, nullptr);
}

/** The objects of a buffer; nothing if it carries no truth, or one that does not hold what it says. */
inline std::optional<std::vector<GstCrowdTruthObject>> gst_crowd_truth_get(GstBuffer* buffer) {
  gst_crowd_truth_register();
  GstCustomMeta* meta = gst_buffer_get_custom_meta(buffer, gst_crowd_truth_meta_name);
  if (!meta)
    return std::nullopt;
  GstMemory* memory = nullptr;
  guint count = 0;
  if (!gst_structure_get(gst_custom_meta_get_structure(meta), "objects", GST_TYPE_MEMORY, &memory, "count", G_TYPE_UINT,
                         &count, nullptr))
    return std::nullopt;
  std::optional<std::vector<GstCrowdTruthObject>> objects;
  GstMapInfo map;
  if (gst_memory_map(memory, &map, GST_MAP_READ)) {
    if (map.size / sizeof(GstCrowdTruthObject) >= count) {
      const auto* first = reinterpret_cast<const GstCrowdTruthObject*>(map.data);
      objects.emplace(first, first + count);
    }
    gst_memory_unmap(memory, &map);
  }
  gst_memory_unref(memory);
  return objects;
}
