// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/crowd/gstcrowdboxesmeta.h"

#include <gst/crowd/gstcrowdboxesarrays.h>
#include <gst/video/gstvideometa.h>

#include <climits>
#include <cstring>
#include <utility>

#include "lib/gstcrowdboxesplacement.hpp"
#include "lib/gstcrowdtrail.h"

namespace {

constexpr guint64 section_alignment = 256;

constexpr guint64 aligned(guint64 bytes) {
  return (bytes + section_alignment - 1) & ~(section_alignment - 1);
}

constexpr guint known_arrays = GST_CROWD_BOXES_DENSITIES | GST_CROWD_BOXES_PROPOSALS | GST_CROWD_BOXES_VISIBLE |
                               GST_CROWD_BOXES_FEATURES | GST_CROWD_BOXES_MODELS;

/// Null where a layout has none.
template <typename T>
T* array_at(guint8* base, gsize offset) {
  return offset ? reinterpret_cast<T*>(base + offset) : nullptr;
}

/// GStreamer's allocator ends the process where there is no memory.
bool can_be_had(gsize bytes) {
  constexpr gsize always = 64 << 20;
  if (bytes <= always)
    return true;
  gpointer probe = g_try_malloc(bytes);
  g_free(probe);
  return probe != nullptr;
}

gboolean boxes_meta_init(GstMeta* meta, gpointer, GstBuffer*) {
  auto* self = reinterpret_cast<GstCrowdBoxesMeta*>(meta);
  std::memset(&self->meta + 1, 0, sizeof *self - sizeof self->meta);
  self->kind = GST_CROWD_BOXES_CANDIDATES;
  self->placement = self->placement_with_borders = crowd::meta::identity_placement;
  return TRUE;
}

void boxes_meta_free(GstMeta* meta, GstBuffer*) {
  auto* self = reinterpret_cast<GstCrowdBoxesMeta*>(meta);
  g_clear_pointer(&self->memory, gst_memory_unref);
  g_clear_pointer(&self->labels, g_ptr_array_unref);
}

/// In GstCrowdTrail.boxes; 0 for kinds that have none.
constexpr guint bit_of(guint kind) {
  return kind < CHAR_BIT * sizeof(guint) ? 1u << kind : 0;
}

void leave_trail(GstBuffer* buffer, guint kind) {
  const GstCrowdTrail* before = gst_crowd_trail_get(buffer);
  GstCrowdTrail trail = before ? *before : GstCrowdTrail{};
  trail.boxes |= bit_of(kind);
  gst_crowd_trail_set(buffer, &trail);
}

GstCrowdBoxesMeta* new_meta(GstBuffer* buffer) {
  return reinterpret_cast<GstCrowdBoxesMeta*>(gst_buffer_add_meta(buffer, GST_CROWD_BOXES_META_INFO, nullptr));
}

GstCrowdBoxesMeta* add_boxes(GstBuffer* buffer, GstMemory* memory, guint capacity, guint frame_width,
                             guint frame_height, GPtrArray* labels, GstCrowdBoxesKind kind) {
  GstCrowdBoxesMeta* self = new_meta(buffer);
  g_return_val_if_fail(self != nullptr, nullptr);
  const auto frame = crowd::meta::frame_of(buffer, frame_width, frame_height);
  self->memory = memory;
  self->capacity = capacity;
  self->frame_width = frame.width;
  self->frame_height = frame.height;
  self->frame_x = frame.x;
  self->frame_y = frame.y;
  self->picture_width = frame.picture_width;
  self->picture_height = frame.picture_height;
  self->labels = labels ? g_ptr_array_ref(labels) : nullptr;
  self->kind = kind;
  leave_trail(buffer, kind);
  return self;
}

// Copies by reference.
gboolean boxes_meta_transform(GstBuffer* destination, GstMeta* meta, GstBuffer* source, GQuark type, gpointer data) {
  GstCrowdBoxesMeta moved = *reinterpret_cast<GstCrowdBoxesMeta*>(meta);
  if (!moved.memory || !crowd::meta::transform_placement(moved, source, type, data))
    return FALSE;
  GstCrowdBoxesMeta* copy = new_meta(destination);
  if (!copy)
    return FALSE;
  moved.meta = copy->meta;
  *copy = moved;
  gst_memory_ref(copy->memory);
  if (copy->labels)
    g_ptr_array_ref(copy->labels);
  return TRUE;
}

GstCrowdBoxesMeta* first_of(GstBuffer* buffer, guint kind) {
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_CROWD_BOXES_META_API_TYPE)) {
    auto* boxes = reinterpret_cast<GstCrowdBoxesMeta*>(meta);
    if (boxes->kind == kind)
      return boxes;
  }
  return nullptr;
}

}  // namespace

GType gst_crowd_boxes_meta_api_get_type(void) {
  static GType type = 0;
  if (g_once_init_enter(&type)) {
    static const gchar* tags[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_ORIENTATION_STR,
                                  GST_META_TAG_VIDEO_SIZE_STR, nullptr};
    g_once_init_leave(&type, gst_meta_api_type_register("GstCrowdBoxesMetaAPI", tags));
  }
  return type;
}

const GstMetaInfo* gst_crowd_boxes_meta_get_info(void) {
  static const GstMetaInfo* info = nullptr;
  if (g_once_init_enter(&info)) {
    g_once_init_leave(&info,
                      gst_meta_register(GST_CROWD_BOXES_META_API_TYPE, "GstCrowdBoxesMeta", sizeof(GstCrowdBoxesMeta),
                                        boxes_meta_init, boxes_meta_free, boxes_meta_transform));
  }
  return info;
}

gboolean gst_crowd_boxes_layout_init(GstCrowdBoxesLayout* layout, guint capacity) {
  return gst_crowd_boxes_layout_init_with(layout, capacity, GST_CROWD_BOXES_NO_ARRAYS, 0);
}

gboolean gst_crowd_boxes_layout_init_with(GstCrowdBoxesLayout* layout, guint capacity, guint arrays,
                                          guint feature_length) {
  g_return_val_if_fail(layout != nullptr, FALSE);
  const bool with_features = arrays & GST_CROWD_BOXES_FEATURES;
  if (capacity > GST_CROWD_BOXES_MAX_CAPACITY || (arrays & ~known_arrays) ||
      feature_length > GST_CROWD_BOXES_MAX_FEATURE_LENGTH || with_features != (feature_length > 0))
    return FALSE;
  guint64 end = section_alignment;
  const auto place = [&end](guint64 bytes) { return static_cast<gsize>(std::exchange(end, end + aligned(bytes))); };
  const auto place_if = [&](guint array, guint64 bytes) { return arrays & array ? place(bytes) : 0; };
  layout->count = 0;
  layout->candidates = sizeof(guint32);
  layout->boxes = place(guint64{sizeof(GstCrowdBox)} * capacity);
  layout->scores = place(guint64{sizeof(gfloat)} * capacity);
  layout->classes = place(guint64{sizeof(gint32)} * capacity);
  layout->members = place(guint64{sizeof(guint32)} * capacity);
  layout->densities = place_if(GST_CROWD_BOXES_DENSITIES, guint64{sizeof(gfloat)} * capacity);
  layout->proposals = place_if(GST_CROWD_BOXES_PROPOSALS, guint64{sizeof(guint32)} * capacity);
  layout->visible = place_if(GST_CROWD_BOXES_VISIBLE, guint64{sizeof(GstCrowdBox)} * capacity);
  layout->models = place_if(GST_CROWD_BOXES_MODELS, guint64{sizeof(guint32)} * capacity);
  // Last: an upload ends with the features of the candidates that there are.
  layout->features = place_if(GST_CROWD_BOXES_FEATURES, guint64{sizeof(gfloat)} * feature_length * capacity);
  layout->size = static_cast<gsize>(end);
  return layout->size == end;
}

GstMemory* gst_crowd_boxes_memory_new(guint capacity) {
  return gst_crowd_boxes_memory_new_with(capacity, GST_CROWD_BOXES_NO_ARRAYS, 0);
}

GstMemory* gst_crowd_boxes_memory_new_with(guint capacity, guint arrays, guint feature_length) {
  GstCrowdBoxesLayout layout;
  if (!gst_crowd_boxes_layout_init_with(&layout, capacity, arrays, feature_length) || !can_be_had(layout.size))
    return nullptr;
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = section_alignment - 1;
  GstMemory* memory = gst_allocator_alloc(nullptr, layout.size, &params);
  GstCrowdBoxesMap map;
  if (!memory || !gst_crowd_boxes_map_memory(&map, memory, capacity, GST_MAP_WRITE)) {
    g_clear_pointer(&memory, gst_memory_unref);
    return nullptr;
  }
  *map.count = 0;
  *map.candidates = 0;
  gst_crowd_boxes_unmap(&map);
  return memory;
}

gboolean gst_crowd_boxes_map_at(GstCrowdBoxesMap* map, gpointer memory, guint capacity) {
  return gst_crowd_boxes_map_at_with(map, memory, capacity, GST_CROWD_BOXES_NO_ARRAYS, 0);
}

gboolean gst_crowd_boxes_map_at_with(GstCrowdBoxesMap* map, gpointer memory, guint capacity, guint arrays,
                                     guint feature_length) {
  g_return_val_if_fail(map != nullptr, FALSE);
  GstCrowdBoxesLayout layout;
  if (!gst_crowd_boxes_layout_init_with(&layout, capacity, arrays, feature_length))
    return FALSE;
  auto* base = static_cast<guint8*>(memory);
  map->count = reinterpret_cast<guint32*>(base + layout.count);
  map->candidates = reinterpret_cast<guint32*>(base + layout.candidates);
  map->boxes = reinterpret_cast<GstCrowdBox*>(base + layout.boxes);
  map->scores = reinterpret_cast<gfloat*>(base + layout.scores);
  map->classes = reinterpret_cast<gint32*>(base + layout.classes);
  map->members = reinterpret_cast<guint32*>(base + layout.members);
  map->densities = array_at<gfloat>(base, layout.densities);
  map->proposals = array_at<guint32>(base, layout.proposals);
  map->visible = array_at<GstCrowdBox>(base, layout.visible);
  map->features = array_at<gfloat>(base, layout.features);
  map->models = array_at<guint32>(base, layout.models);
  map->feature_length = feature_length;
  map->capacity = capacity;
  map->memory = nullptr;
  return TRUE;
}

gboolean gst_crowd_boxes_map_memory(GstCrowdBoxesMap* map, GstMemory* memory, guint capacity, GstMapFlags flags) {
  return gst_crowd_boxes_map_memory_with(map, memory, capacity, GST_CROWD_BOXES_NO_ARRAYS, 0, flags);
}

gboolean gst_crowd_boxes_map_memory_with(GstCrowdBoxesMap* map, GstMemory* memory, guint capacity, guint arrays,
                                         guint feature_length, GstMapFlags flags) {
  g_return_val_if_fail(map != nullptr && memory != nullptr, FALSE);
  GstCrowdBoxesLayout layout;
  if (!gst_crowd_boxes_layout_init_with(&layout, capacity, arrays, feature_length) ||
      gst_memory_get_sizes(memory, nullptr, nullptr) < layout.size)
    return FALSE;
  if (!gst_memory_map(memory, &map->info, flags))
    return FALSE;
  if (reinterpret_cast<guintptr>(map->info.data) % alignof(GstCrowdBox) != 0) {
    gst_memory_unmap(memory, &map->info);
    return FALSE;
  }
  gst_crowd_boxes_map_at_with(map, map->info.data, capacity, arrays, feature_length);
  map->memory = memory;
  return TRUE;
}

void gst_crowd_boxes_unmap(GstCrowdBoxesMap* map) {
  g_return_if_fail(map != nullptr && map->memory != nullptr);
  gst_memory_unmap(map->memory, &map->info);
  map->memory = nullptr;
}

GstCrowdBoxesMeta* gst_buffer_add_crowd_boxes_meta(GstBuffer* buffer, GstMemory* memory, guint capacity,
                                                   guint frame_width, guint frame_height, GPtrArray* labels) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer) && memory != nullptr, nullptr);
  return add_boxes(buffer, memory, capacity, frame_width, frame_height, labels, GST_CROWD_BOXES_CANDIDATES);
}

GstCrowdBoxesMeta* gst_buffer_add_crowd_survivors_meta(GstBuffer* buffer, GstMemory* memory, guint capacity,
                                                       guint frame_width, guint frame_height, GPtrArray* labels) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer) && memory != nullptr, nullptr);
  return add_boxes(buffer, memory, capacity, frame_width, frame_height, labels, GST_CROWD_BOXES_SURVIVORS);
}

gboolean gst_buffer_remove_crowd_boxes_meta(GstBuffer* buffer, GstCrowdBoxesMeta* meta) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer) && meta != nullptr, FALSE);
  const guint kind = meta->kind;
  if (!gst_buffer_remove_meta(buffer, &meta->meta))
    return FALSE;
  if (GstCrowdTrail* trail = gst_crowd_trail_get(buffer); trail && !first_of(buffer, kind))
    trail->boxes &= ~bit_of(kind);
  return TRUE;
}

gboolean gst_crowd_boxes_lost(GstBuffer* buffer, GstCrowdBoxesKind kind) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), FALSE);
  const GstCrowdTrail* trail = gst_crowd_trail_get(buffer);
  return trail && (trail->boxes & bit_of(kind)) && !first_of(buffer, kind);
}

GstCrowdBoxesMeta* gst_buffer_get_crowd_boxes_meta(GstBuffer* buffer) {
  return first_of(buffer, GST_CROWD_BOXES_CANDIDATES);
}

GstCrowdBoxesMeta* gst_buffer_get_crowd_survivors_meta(GstBuffer* buffer) {
  return first_of(buffer, GST_CROWD_BOXES_SURVIVORS);
}
