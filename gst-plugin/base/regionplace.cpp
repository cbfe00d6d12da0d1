// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "base/regionplace.hpp"

#include <gst/video/gstvideometa.h>

namespace crowd::meta {

namespace {

bool same_shape(const GstCrowdTrail& trail, const ShownSize& shown) {
  const auto product = [](guint size, gint shape, guint other_size, gint other_shape) {
    return static_cast<double>(size) * shape * other_size * other_shape;
  };
  return product(trail.frame.width, trail.par_n, shown.height, shown.par_d) ==
         product(trail.frame.height, trail.par_d, shown.width, shown.par_n);
}

/// Scalers pass their borders on to regions from GStreamer 1.28 on.
bool scalers_tell_borders() {
  guint major, minor, micro, nano;
  gst_version(&major, &minor, &micro, &nano);
  return major > 1 || minor >= 28;
}

bool is_whole(const PictureFrame& frame) {
  return frame.x == 0 && frame.y == 0 && frame.width == frame.picture_width && frame.height == frame.picture_height;
}

/// Whether the buffer has such metadata that was there when its trail was left.
bool is_before_trail(GstBuffer* buffer, GType api) {
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta(buffer, &state)) {
    if (meta->info->api == api)
      return true;
    if (gst_crowd_trail_is(meta))
      return false;
  }
  return false;
}

const GstCrowdTrail* trail_of_objects(GstBuffer* buffer) {
  const GstCrowdTrail* trail = gst_crowd_trail_get(buffer);
  // By its name: base/ takes nothing of gstreamer-analytics.
  const bool left = trail && trail->objects && is_before_trail(buffer, g_type_from_name("GstAnalyticsRelationMetaAPI"));
  return left ? trail : nullptr;
}

}  // namespace

const char place_of_regions_unknown[] =
    "it is not known where regions lie behind a scaler that adds borders, up to GStreamer 1.26, or of which frame they "
    "are where a GstVideoCropMeta shows a part of the picture; put this element before the one that crops or scales, "
    "or "
    "hand boxes on instead (meta-output=all of crowdnms)";

const GstCrowdTrail* trail_of_regions(GstBuffer* buffer) {
  const GstCrowdTrail* trail = gst_crowd_trail_get(buffer);
  const bool left = trail && trail->regions > 0 && is_before_trail(buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  return left ? trail : nullptr;
}

std::optional<Shift> place_of_regions(GstBuffer* buffer, const ShownSize& shown) {
  if (shown.width == 0 || shown.height == 0)
    return Shift{0, 0};
  const GstCrowdTrail* trail = trail_of_regions(buffer);
  if (!trail)
    trail = trail_of_objects(buffer);
  if (!trail || trail->frame.width == 0)
    return is_whole(frame_of(buffer, shown.width, shown.height)) ? std::optional(Shift{0, 0}) : std::nullopt;
  const auto& f = trail->frame;
  const PictureFrame frame = {f.width, f.height, f.x, f.y, f.picture_width, f.picture_height};
  if (const auto shift = shift_to_shown(frame, buffer, shown.width, shown.height))
    return shift;
  // A scaler has moved them with the picture.
  const bool stretched = same_shape(*trail, shown) || shown.borders == GST_CROWD_BOXES_BORDERS_NONE;
  return stretched || scalers_tell_borders() ? std::optional(Shift{0, 0}) : std::nullopt;
}

}  // namespace crowd::meta
