// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How the placement of a GstCrowdBoxesMeta follows what elements do to the picture.
#pragma once

#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/gst.h>

#include <optional>

namespace crowd::meta {

constexpr GstCrowdBoxesPlacement identity_placement = {.xx = 1, .xy = 0, .x0 = 0, .yx = 0, .yy = 1, .y0 = 0};

/// A frame, pixels: what is shown of a buffer's picture, which is larger where the buffer has a GstVideoCropMeta.
struct PictureFrame {
  guint width, height;                  ///< 0 if unknown
  guint x, y;                           ///< its upper left corner in the picture
  guint picture_width, picture_height;  ///< those of the frame where nothing is cropped
};

/// The frame of a buffer whose caps say `width` and `height`.
GST_CROWD_API PictureFrame frame_of(GstBuffer* buffer, guint width, guint height);

/// What is added to pixels of `frame` to be pixels of the frame that the buffer shows now: nothing if both are not of
/// the same picture. 0 where a size is unknown.
struct Shift {
  double x, y;
};
GST_CROWD_API std::optional<Shift> shift_to_shown(const PictureFrame& frame, GstBuffer* buffer, guint width,
                                                  guint height);

/// `meta`, a copy of one on `source`, moves to the frame that a GstMetaTransformFunction's `type` and `data` describe.
/// False if they do not say where boxes are there: they are then to be dropped.
bool transform_placement(GstCrowdBoxesMeta& meta, GstBuffer* source, GQuark type, gpointer data);

}  // namespace crowd::meta
