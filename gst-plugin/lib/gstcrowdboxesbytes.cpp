// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/crowd/gstcrowdboxesbytes.h"

#include <algorithm>
#include <cstring>

namespace {

void fail(GError** error, GstCrowdError code, const char* text) {
  g_set_error_literal(error, GST_CROWD_ERROR, code, text);
}

/// An array of `n` numbers of 4 bytes.
bool has_length(GBytes* bytes, gsize n, const char* what, const char* type, GError** error) {
  if (g_bytes_get_size(bytes) == n * 4)
    return true;
  g_set_error(error, GST_CROWD_ERROR, GST_CROWD_ERROR_LENGTH,
              "%" G_GSIZE_FORMAT " boxes need %" G_GSIZE_FORMAT
              " bytes of %s, %s of each, but there are %" G_GSIZE_FORMAT,
              n, n * 4, what, type, g_bytes_get_size(bytes));
  return false;
}

bool have_matching_lengths(GBytes* boxes, GBytes* scores, GBytes* classes, GError** error) {
  const gsize size = g_bytes_get_size(boxes), n = size / sizeof(GstCrowdBox);
  if (size % sizeof(GstCrowdBox) != 0) {
    g_set_error(error, GST_CROWD_ERROR, GST_CROWD_ERROR_LENGTH,
                "%" G_GSIZE_FORMAT " bytes are no whole number of boxes, of 16 bytes each: x1 y1 x2 y2 as float32",
                size);
    return false;
  }
  if (n > GST_CROWD_BOXES_MAX_CAPACITY) {
    g_set_error(error, GST_CROWD_ERROR, GST_CROWD_ERROR_MEMORY,
                "%" G_GSIZE_FORMAT " boxes are more than the %u of a frame", n, GST_CROWD_BOXES_MAX_CAPACITY);
    return false;
  }
  return has_length(scores, n, "scores", "a float32", error) &&
         (!classes || has_length(classes, n, "classes", "an int32", error));
}

// Of no bytes there may be no pointer, which memcpy() must not get.
void copy(void* to, GBytes* from) {
  gsize size;
  if (const void* data = g_bytes_get_data(from, &size); size > 0)
    std::memcpy(to, data, size);
}

GstMemory* new_memory(GBytes* boxes, GBytes* scores, GBytes* classes, guint n) {
  GstMemory* memory = gst_crowd_boxes_memory_new(n);
  GstCrowdBoxesMap map;
  if (!memory || !gst_crowd_boxes_map_memory(&map, memory, n, GST_MAP_WRITE)) {
    g_clear_pointer(&memory, gst_memory_unref);
    return nullptr;
  }
  copy(map.boxes, boxes);
  copy(map.scores, scores);
  if (classes)
    copy(map.classes, classes);
  else
    std::fill_n(map.classes, n, 0);
  *map.count = n;
  gst_crowd_boxes_unmap(&map);
  return memory;
}

GPtrArray* new_labels(const gchar* const* names) {
  if (!names)
    return nullptr;
  GPtrArray* labels = g_ptr_array_new_with_free_func(g_free);
  for (; *names; names++)
    g_ptr_array_add(labels, g_strdup(*names));
  return labels;
}

template <typename T>
void give(GBytes** to, const T* from, guint n) {
  if (to)
    *to = g_bytes_new(from, n * sizeof(T));
}

}  // namespace

GQuark gst_crowd_error_quark(void) {
  return g_quark_from_static_string("gst-crowd-error-quark");
}

GstCrowdBoxesMeta* gst_buffer_add_crowd_boxes_meta_from_bytes(GstBuffer* buffer, GBytes* boxes, GBytes* scores,
                                                              GBytes* classes, const gchar* const* labels,
                                                              guint frame_width, guint frame_height, GError** error) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer) && boxes != nullptr && scores != nullptr, nullptr);
  if (!gst_buffer_is_writable(buffer)) {
    fail(
        error, GST_CROWD_ERROR_NOT_WRITABLE,
        "the buffer is not writable, because others refer to it: attach boxes in an element that transforms buffers in "
        "place, not in a pad probe, and keep no reference to earlier ones");
    return nullptr;
  }
  if (!have_matching_lengths(boxes, scores, classes, error))
    return nullptr;
  const auto n = static_cast<guint>(g_bytes_get_size(boxes) / sizeof(GstCrowdBox));
  GstMemory* memory = new_memory(boxes, scores, classes, n);
  if (!memory) {
    fail(error, GST_CROWD_ERROR_MEMORY, "there is no memory for the boxes");
    return nullptr;
  }
  GPtrArray* copied = new_labels(labels);
  GstCrowdBoxesMeta* meta = gst_buffer_add_crowd_boxes_meta(buffer, memory, n, frame_width, frame_height, copied);
  g_clear_pointer(&copied, g_ptr_array_unref);
  return meta;
}

gboolean gst_crowd_boxes_meta_get_bytes(const GstCrowdBoxesMeta* meta, GBytes** boxes, GBytes** scores,
                                        GBytes** classes, GBytes** members, guint* candidates, GError** error) {
  g_return_val_if_fail(meta != nullptr, FALSE);
  GstCrowdBoxesMap map;
  if (!meta->memory || !gst_crowd_boxes_map_memory(&map, meta->memory, meta->capacity, GST_MAP_READ)) {
    fail(error, GST_CROWD_ERROR_MEMORY,
         "the memory of the boxes is too small for its capacity or cannot be mapped for reading");
    return FALSE;
  }
  const guint count = *map.count, n = std::min(count, map.capacity);
  const bool written = count <= GST_CROWD_BOXES_MAX_CAPACITY;
  if (written) {
    const bool survivors = meta->kind == GST_CROWD_BOXES_SURVIVORS;
    give(boxes, map.boxes, n);
    give(scores, map.scores, n);
    give(classes, map.classes, n);
    if (members)
      *members = nullptr;
    if (survivors)
      give(members, map.members, n);
    if (candidates)
      *candidates = survivors ? *map.candidates : count;
  } else {
    fail(error, GST_CROWD_ERROR_MEMORY, "the number of boxes was never written into their memory");
  }
  gst_crowd_boxes_unmap(&map);
  return written;
}

const gchar* gst_crowd_boxes_meta_get_label(const GstCrowdBoxesMeta* meta, gint class_id) {
  g_return_val_if_fail(meta != nullptr, nullptr);
  if (!meta->labels || class_id < 0 || static_cast<guint>(class_id) >= meta->labels->len)
    return nullptr;
  return static_cast<const gchar*>(g_ptr_array_index(meta->labels, class_id));
}
