// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/crowd/gstcrowdboxesarrays.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "gst/crowd/gstcrowdboxesbytes.h"

namespace {

/// Candidates of a meta, mapped while it lives; an error where they cannot be.
class MappedCandidates {
 public:
  MappedCandidates(const GstCrowdBoxesMeta& meta, GError** error)
      : memory_(meta.memory ? gst_memory_ref(meta.memory) : nullptr) {
    mapped_ = memory_ && gst_crowd_boxes_map_memory_with(&map_, memory_, meta.capacity, meta.arrays,
                                                         meta.feature_length, GST_MAP_READ);
    if (!mapped_) {
      g_set_error_literal(error, GST_CROWD_ERROR, GST_CROWD_ERROR_MEMORY,
                          "the memory of the boxes is too small for its capacity and arrays, or cannot be mapped for "
                          "reading");
    } else if (*map_.count > GST_CROWD_BOXES_MAX_CAPACITY) {
      unmap();
      g_set_error_literal(error, GST_CROWD_ERROR, GST_CROWD_ERROR_MEMORY,
                          "the number of boxes was never written into their memory");
    }
  }
  ~MappedCandidates() {
    unmap();
  }
  MappedCandidates(const MappedCandidates&) = delete;
  MappedCandidates& operator=(const MappedCandidates&) = delete;

  explicit operator bool() const {
    return mapped_;
  }
  const GstCrowdBoxesMap* operator->() const {
    return &map_;
  }
  const GstCrowdBoxesMap& operator*() const {
    return map_;
  }
  guint count() const {
    return std::min(*map_.count, map_.capacity);
  }

 private:
  void unmap() {
    if (mapped_)
      gst_crowd_boxes_unmap(&map_);
    g_clear_pointer(&memory_, gst_memory_unref);
    mapped_ = false;
  }

  GstMemory* memory_;  // outlives its place in the meta
  GstCrowdBoxesMap map_;
  bool mapped_;
};

/// An array that is given as bytes.
struct Given {
  GBytes* bytes;
  guint array;
  gsize size;  ///< bytes of a candidate's entry
  const char* what;
};

bool has_length(const Given& given, guint n, GError** error) {
  if (!given.bytes || g_bytes_get_size(given.bytes) == n * given.size)
    return true;
  g_set_error(error, GST_CROWD_ERROR, GST_CROWD_ERROR_LENGTH,
              "%u boxes need %" G_GSIZE_FORMAT " bytes of %s, %" G_GSIZE_FORMAT
              " of each, but there are %" G_GSIZE_FORMAT,
              n, n * given.size, given.what, given.size, g_bytes_get_size(given.bytes));
  return false;
}

/// Numbers of a candidate in `features`, 0 for none; nothing if they are no whole number of each.
bool feature_length_of(GBytes* features, guint n, guint& length, GError** error) {
  length = 0;
  const gsize size = features ? g_bytes_get_size(features) : 0;
  if (!features || (n == 0 && size == 0))
    return true;
  const gsize of_each = n ? size / n / sizeof(gfloat) : 0;
  if (of_each >= 1 && of_each <= GST_CROWD_BOXES_MAX_FEATURE_LENGTH && of_each * n * sizeof(gfloat) == size) {
    length = static_cast<guint>(of_each);
    return true;
  }
  g_set_error(error, GST_CROWD_ERROR, GST_CROWD_ERROR_LENGTH,
              "%" G_GSIZE_FORMAT
              " bytes of features are not the same number of float32 for each of %u boxes, from 1 to %u",
              size, n, GST_CROWD_BOXES_MAX_FEATURE_LENGTH);
  return false;
}

// Of no bytes there may be no pointer, which memcpy() must not get.
void copy(void* to, GBytes* from) {
  gsize size = 0;
  const void* data = from ? g_bytes_get_data(from, &size) : nullptr;
  if (size > 0)
    std::memcpy(to, data, size);
}

void copy_boxes(const GstCrowdBoxesMap& to, const GstCrowdBoxesMap& from, guint n) {
  std::copy_n(from.boxes, n, to.boxes);
  std::copy_n(from.scores, n, to.scores);
  std::copy_n(from.classes, n, to.classes);
  *to.count = *from.count;
}

void give(GBytes** to, const void* from, gsize size) {
  if (to)
    *to = from ? g_bytes_new(from, size) : nullptr;
}

}  // namespace

gboolean gst_crowd_boxes_meta_set_array_bytes(GstCrowdBoxesMeta* meta, GBytes* densities, GBytes* proposals,
                                              GBytes* visible, GBytes* features, GBytes* models, GError** error) {
  g_return_val_if_fail(meta != nullptr && meta->kind == GST_CROWD_BOXES_CANDIDATES, FALSE);
  const MappedCandidates from(*meta, error);
  if (!from)
    return FALSE;
  const guint n = from.count();
  guint arrays = 0, feature_length = 0;
  for (const Given& given : {Given{densities, GST_CROWD_BOXES_DENSITIES, sizeof(gfloat), "densities"},
                             Given{proposals, GST_CROWD_BOXES_PROPOSALS, sizeof(guint32), "proposals"},
                             Given{visible, GST_CROWD_BOXES_VISIBLE, sizeof(GstCrowdBox), "visible boxes"},
                             Given{models, GST_CROWD_BOXES_MODELS, sizeof(guint32), "models"}}) {
    if (!has_length(given, n, error))
      return FALSE;
    arrays |= given.bytes ? given.array : 0;
  }
  if (!feature_length_of(features, n, feature_length, error))
    return FALSE;
  arrays |= feature_length ? GST_CROWD_BOXES_FEATURES : 0;

  // Where the count is above the capacity, n is the capacity: the overflow stays what it is.
  GstMemory* memory = gst_crowd_boxes_memory_new_with(n, arrays, feature_length);
  GstCrowdBoxesMap to;
  if (!memory || !gst_crowd_boxes_map_memory_with(&to, memory, n, arrays, feature_length, GST_MAP_WRITE)) {
    g_clear_pointer(&memory, gst_memory_unref);
    g_set_error_literal(error, GST_CROWD_ERROR, GST_CROWD_ERROR_MEMORY, "there is no memory for the arrays");
    return FALSE;
  }
  copy_boxes(to, *from, n);
  copy(to.densities, densities);
  copy(to.proposals, proposals);
  copy(to.visible, visible);
  copy(to.features, features);
  copy(to.models, models);
  gst_crowd_boxes_unmap(&to);
  gst_memory_unref(std::exchange(meta->memory, memory));
  meta->capacity = n;
  meta->arrays = arrays;
  meta->feature_length = feature_length;
  return TRUE;
}

gboolean gst_crowd_boxes_meta_get_array_bytes(const GstCrowdBoxesMeta* meta, GBytes** densities, GBytes** proposals,
                                              GBytes** visible, GBytes** features, GBytes** models, GError** error) {
  g_return_val_if_fail(meta != nullptr, FALSE);
  const MappedCandidates map(*meta, error);
  if (!map)
    return FALSE;
  const gsize n = map.count();
  give(densities, map->densities, n * sizeof(gfloat));
  give(proposals, map->proposals, n * sizeof(guint32));
  give(visible, map->visible, n * sizeof(GstCrowdBox));
  give(features, map->features, n * map->feature_length * sizeof(gfloat));
  give(models, map->models, n * sizeof(guint32));
  return TRUE;
}
