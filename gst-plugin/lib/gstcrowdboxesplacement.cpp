// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Where boxes lie in a frame, through scalers and other elements that pass on to metadata what they do to the picture.

#include "lib/gstcrowdboxesplacement.hpp"

#include <gst/video/gstvideometa.h>
#include <gst/video/video.h>

namespace crowd::meta {

namespace {

using Placement = GstCrowdBoxesPlacement;

/// `second` after `first`.
Placement chained(const Placement& first, const Placement& second) {
  return {
      .xx = second.xx * first.xx + second.xy * first.yx,
      .xy = second.xx * first.xy + second.xy * first.yy,
      .x0 = second.xx * first.x0 + second.xy * first.y0 + second.x0,
      .yx = second.yx * first.xx + second.yy * first.yx,
      .yy = second.yx * first.xy + second.yy * first.yy,
      .y0 = second.yx * first.x0 + second.yy * first.y0 + second.y0,
  };
}

Placement scaling(double x, double y, double x0 = 0, double y0 = 0) {
  return {.xx = x, .xy = 0, .x0 = x0, .yx = 0, .yy = y, .y0 = y0};
}

Placement stretched(const GstVideoInfo& in, const GstVideoInfo& out) {
  return scaling(double(out.width) / in.width, double(out.height) / in.height);
}

// Numerators of aspect ratios, whose products have up to 124 bits.
using Wide = unsigned __int128;

constexpr Wide wide(gint value) {
  return static_cast<Wide>(static_cast<guint>(value));
}

/// The pixels of `out` that a picture of the display aspect ratio of `in` fills, as GStreamer's scalers have it.
Placement bordered(const GstVideoInfo& in, const GstVideoInfo& out) {
  // Width over height of the picture in pixels of `out`.
  const Wide n = wide(in.width) * wide(in.par_n) * wide(out.par_d);
  const Wide d = wide(in.height) * wide(in.par_d) * wide(out.par_n);
  const Wide full_height = wide(out.width) * d / n;
  const bool at_full_width = full_height <= wide(out.height);
  const auto width = static_cast<gint>(at_full_width ? wide(out.width) : wide(out.height) * n / d);
  const auto height = static_cast<gint>(at_full_width ? full_height : wide(out.height));
  return scaling(double(width) / in.width, double(height) / in.height, (out.width - width) / 2,
                 (out.height - height) / 2);
}

bool has_size(const GstVideoInfo& info) {
  return info.width > 0 && info.height > 0 && info.par_n > 0 && info.par_d > 0;
}

bool same_aspect(const GstVideoInfo& a, const GstVideoInfo& b) {
  return wide(a.width) * wide(a.par_n) * (wide(b.height) * wide(b.par_d)) ==
         wide(b.width) * wide(b.par_n) * (wide(a.height) * wide(a.par_d));
}

/// Makes both placements ones to pixels of the frame that `buffer` shows, of the size in `info`. False if the boxes are
/// of another frame.
bool place_on_frame(GstCrowdBoxesMeta& meta, GstBuffer* buffer, const GstVideoInfo& info) {
  const auto width = static_cast<guint>(info.width), height = static_cast<guint>(info.height);
  return gst_crowd_boxes_meta_get_placement(&meta, buffer, width, height, GST_CROWD_BOXES_BORDERS_ADDED,
                                            &meta.placement_with_borders) &&
         gst_crowd_boxes_meta_get_placement(&meta, buffer, width, height, GST_CROWD_BOXES_BORDERS_NONE,
                                            &meta.placement);
}

void move_to(GstCrowdBoxesMeta& meta, const GstVideoInfo& info) {
  meta.frame_width = static_cast<guint>(info.width);
  meta.frame_height = static_cast<guint>(info.height);
  meta.frame_x = meta.frame_y = 0;
  meta.picture_width = meta.frame_width;
  meta.picture_height = meta.frame_height;
}

bool scale(GstCrowdBoxesMeta& meta, GstBuffer* source, const GstVideoMetaTransform& transform) {
  const GstVideoInfo &in = *transform.in_info, &out = *transform.out_info;
  if (!has_size(in) || !has_size(out) || !place_on_frame(meta, source, in))
    return false;
  meta.borders_matter |= !same_aspect(in, out);
  meta.placement = chained(meta.placement, stretched(in, out));
  meta.placement_with_borders = chained(meta.placement_with_borders, bordered(in, out));
  move_to(meta, out);
  return true;
}

#if GST_CHECK_VERSION(1, 27, 0)
bool keeps_edges_parallel(const gfloat (&m)[3][3]) {
  const bool affine = m[2][0] == 0 && m[2][1] == 0 && m[2][2] == 1;
  const bool upright = m[0][1] == 0 && m[1][0] == 0 && m[0][0] != 0 && m[1][1] != 0;
  const bool turned = m[0][0] == 0 && m[1][1] == 0 && m[0][1] != 0 && m[1][0] != 0;
  return affine && (upright || turned);
}

/// What flips an axis of `size` pixels. GStreamer 1.28's videoflip means numbers of pixels, from 0 to size - 1, where
/// scalers mean edges, from 0 to size.
double edge_offset(double factor, double offset, int size) {
  return factor < 0 && offset == size - 1 ? size : offset;
}

bool follow_matrix(GstCrowdBoxesMeta& meta, GstBuffer* source, const GstVideoMetaTransformMatrix& transform) {
  const auto& m = transform.matrix;
  if (!has_size(*transform.in_info) || !has_size(*transform.out_info) || !keeps_edges_parallel(m) ||
      !place_on_frame(meta, source, *transform.in_info))
    return false;
  const GstVideoRectangle &from = transform.in_rectangle, &to = transform.out_rectangle;
  const Placement inside = {
      .xx = m[0][0],
      .xy = m[0][1],
      .x0 = edge_offset(m[0][0] + m[0][1], m[0][2], to.w),
      .yx = m[1][0],
      .yy = m[1][1],
      .y0 = edge_offset(m[1][0] + m[1][1], m[1][2], to.h),
  };
  const Placement whole = chained(chained(scaling(1, 1, -from.x, -from.y), inside), scaling(1, 1, to.x, to.y));
  meta.placement = chained(meta.placement, whole);
  meta.placement_with_borders = chained(meta.placement_with_borders, whole);
  move_to(meta, *transform.out_info);
  return true;
}
#endif

}  // namespace

bool transform_placement(GstCrowdBoxesMeta& meta, GstBuffer* source, GQuark type, gpointer data) {
  if (GST_META_TRANSFORM_IS_COPY(type)) {
    const auto* copy = static_cast<const GstMetaTransformCopy*>(data);
    return !copy || !copy->region;
  }
  if (GST_VIDEO_META_TRANSFORM_IS_SCALE(type))
    return scale(meta, source, *static_cast<const GstVideoMetaTransform*>(data));
#if GST_CHECK_VERSION(1, 27, 0)
  if (GST_VIDEO_META_TRANSFORM_IS_MATRIX(type))
    return follow_matrix(meta, source, *static_cast<const GstVideoMetaTransformMatrix*>(data));
#endif
  return false;
}

PictureFrame frame_of(GstBuffer* buffer, guint width, guint height) {
  const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer);
  const GstVideoMeta* whole = gst_buffer_get_video_meta(buffer);
  if (!crop || !whole || crop->width != width || crop->height != height)
    return {width, height, 0, 0, width, height};
  return {width, height, crop->x, crop->y, whole->width, whole->height};
}

std::optional<Shift> shift_to_shown(const PictureFrame& frame, GstBuffer* buffer, guint width, guint height) {
  if (frame.width == 0 || frame.height == 0 || width == 0 || height == 0)
    return Shift{0, 0};
  const PictureFrame shown = frame_of(buffer, width, height);
  if (shown.picture_width != frame.picture_width || shown.picture_height != frame.picture_height)
    return std::nullopt;
  return Shift{double(frame.x) - double(shown.x), double(frame.y) - double(shown.y)};
}

}  // namespace crowd::meta

gboolean gst_crowd_boxes_meta_get_placement(const GstCrowdBoxesMeta* meta, GstBuffer* buffer, guint width, guint height,
                                            GstCrowdBoxesBorders borders, GstCrowdBoxesPlacement* placement) {
  g_return_val_if_fail(meta != nullptr && GST_IS_BUFFER(buffer) && placement != nullptr, FALSE);
  if (meta->borders_matter && borders == GST_CROWD_BOXES_BORDERS_UNKNOWN)
    return FALSE;
  GstCrowdBoxesPlacement found =
      meta->borders_matter && borders == GST_CROWD_BOXES_BORDERS_ADDED ? meta->placement_with_borders : meta->placement;
  const crowd::meta::PictureFrame frame = {meta->frame_width, meta->frame_height,  meta->frame_x,
                                           meta->frame_y,     meta->picture_width, meta->picture_height};
  const auto shift = crowd::meta::shift_to_shown(frame, buffer, width, height);
  if (!shift)
    return FALSE;
  found.x0 += shift->x;
  found.y0 += shift->y;
  *placement = found;
  return TRUE;
}
