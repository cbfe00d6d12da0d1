// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What is shown of a frame. Header only, for every plugin.
#pragma once

#include <gst/video/gstvideometa.h>
#include <gst/video/video.h>

#include <optional>

namespace crowd {

/// A part of a picture, pixels.
struct ShownPart {
  int x, y, width, height;
};

inline constexpr char part_is_missing[] =
    "its picture is smaller than its caps and its GstVideoCropMeta say; mend the element that attached them";

/// The part of a mapped frame that its caps, `info`, show: a GstVideoCropMeta of their size says where it begins.
/// Nothing if the picture does not hold it.
inline std::optional<ShownPart> shown_part(const GstVideoFrame& frame, const GstVideoInfo& info) {
  ShownPart part = {0, 0, info.width, info.height};
  const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(frame.buffer);
  if (crop && crop->width == guint(info.width) && crop->height == guint(info.height) && crop->x <= G_MAXINT32 / 2 &&
      crop->y <= G_MAXINT32 / 2) {
    part.x = int(crop->x);
    part.y = int(crop->y);
  }
  const bool held =
      part.width <= GST_VIDEO_FRAME_WIDTH(&frame) - part.x && part.height <= GST_VIDEO_FRAME_HEIGHT(&frame) - part.y;
  return held ? std::optional(part) : std::nullopt;
}

}  // namespace crowd
