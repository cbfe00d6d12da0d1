// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "lib/gstcrowdtrail.h"

#include <gst/video/gstvideometa.h>

namespace {

constexpr char cuda_memory_type[] = "gst.cuda.memory";

struct TrailMeta {
  GstMeta meta;
  GstCrowdTrail trail;
};

gboolean trail_init(GstMeta* meta, gpointer, GstBuffer*) {
  reinterpret_cast<TrailMeta*>(meta)->trail = {};
  return TRUE;
}

GType trail_api_type() {
  static GType type = 0;
  if (g_once_init_enter(&type)) {
    static const gchar* tags[] = {nullptr};
    g_once_init_leave(&type, gst_meta_api_type_register("GstCrowdTrailMetaAPI", tags));
  }
  return type;
}

bool is_in_cuda_memory(GstBuffer* buffer) {
  return gst_buffer_n_memory(buffer) > 0 && gst_memory_is_type(gst_buffer_peek_memory(buffer, 0), cuda_memory_type);
}

// What goes from one to the other, uploads, downloads and coders, shows the same picture.
bool is_upload_or_download(GstBuffer* from, GstBuffer* to) {
  return gst_buffer_n_memory(from) > 0 && gst_buffer_n_memory(to) > 0 &&
         is_in_cuda_memory(from) != is_in_cuda_memory(to) && !gst_buffer_get_video_crop_meta(from);
}

bool has_meta(GstBuffer* buffer, GType api) {
  return gst_buffer_get_n_meta(buffer, api) > 0;
}

// Base classes drop every meta with more tags than "video".
void keep_what_uploads_drop(GstBuffer* from, GstBuffer* to, const GstCrowdTrail& trail) {
  const bool boxes = trail.boxes && !has_meta(to, GST_CROWD_BOXES_META_API_TYPE);
  const bool regions = trail.regions && !has_meta(to, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  const GType objects_api = trail.objects ? g_type_from_name("GstAnalyticsRelationMetaAPI") : 0;
  const bool objects = objects_api && !has_meta(to, objects_api);
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta(from, &state)) {
    const GType api = meta->info->api;
    GstMetaTransformCopy whole = {FALSE, 0, static_cast<gsize>(-1)};
    if ((objects && api == objects_api) || (boxes && api == GST_CROWD_BOXES_META_API_TYPE) ||
        (regions && api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
      meta->info->transform_func(to, meta, from, _gst_meta_transform_copy, &whole);
  }
}

gboolean trail_transform(GstBuffer* destination, GstMeta* meta, GstBuffer* source, GQuark type, gpointer) {
  if (!GST_META_TRANSFORM_IS_COPY(type))
    return FALSE;
  const GstCrowdTrail& trail = reinterpret_cast<TrailMeta*>(meta)->trail;
  if (is_upload_or_download(source, destination))
    keep_what_uploads_drop(source, destination, trail);
  gst_crowd_trail_set(destination, &trail);
  return TRUE;
}

const GstMetaInfo* trail_info() {
  static const GstMetaInfo* info = nullptr;
  if (g_once_init_enter(&info)) {
    g_once_init_leave(&info, gst_meta_register(trail_api_type(), "GstCrowdTrailMeta", sizeof(TrailMeta), trail_init,
                                               nullptr, trail_transform));
  }
  return info;
}

TrailMeta* trail_meta_of(GstBuffer* buffer) {
  return reinterpret_cast<TrailMeta*>(gst_buffer_get_meta(buffer, trail_api_type()));
}

}  // namespace

GstCrowdTrail* gst_crowd_trail_get(GstBuffer* buffer) {
  TrailMeta* meta = trail_meta_of(buffer);
  return meta ? &meta->trail : nullptr;
}

gboolean gst_crowd_trail_is(const GstMeta* meta) {
  return meta->info->api == trail_api_type();
}

void gst_crowd_trail_set(GstBuffer* buffer, const GstCrowdTrail* trail) {
  const GstCrowdTrail copy = *trail;  // which may be the buffer's own
  if (TrailMeta* before = trail_meta_of(buffer))
    gst_buffer_remove_meta(buffer, &before->meta);
  reinterpret_cast<TrailMeta*>(gst_buffer_add_meta(buffer, trail_info(), nullptr))->trail = copy;
}
