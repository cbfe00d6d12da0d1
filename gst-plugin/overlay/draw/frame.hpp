// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** frame.hpp: a GStreamer frame as a canvas. */
#pragma once

#include <gst/video/video.h>

#include "base/shownpart.hpp"
#include "overlay/draw/canvas.hpp"

namespace crowd::draw {

/** Formats that canvas_of() knows, in the syntax of caps. */
#define CROWD_DRAW_FORMATS                                                                                           \
  "{ NV12, NV21, I420, YV12, Y42B, NV16, Y444, YUY2, UYVY, P010_10LE, I420_10LE, RGB, BGR, RGBA, BGRA, ARGB, ABGR, " \
  "RGBx, BGRx, xRGB, xBGR, GRAY8 }"

/** A view of `frame`, mapped for writing, with the colours of its colorimetry. */
Canvas canvas_of(const GstVideoFrame& frame);

/** The same of a part, which lies in the frame. */
Canvas canvas_of(const GstVideoFrame& frame, const ShownPart& part);

}  // namespace crowd::draw
