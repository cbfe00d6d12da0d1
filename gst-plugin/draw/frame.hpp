// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** frame.hpp: a GStreamer frame as a canvas. */
#pragma once

#include <gst/video/video.h>

#include "canvas.hpp"

namespace crowd::draw {

/** Formats that canvas_of() knows, in the syntax of caps: all those of 8-bit components here. */
#define CROWD_DRAW_FORMATS                                                                                       \
  "{ NV12, NV21, I420, YV12, Y42B, Y444, YUY2, UYVY, RGB, BGR, RGBA, BGRA, ARGB, ABGR, RGBx, BGRx, xRGB, xBGR, " \
  "GRAY8 }"

/** A view of `frame`, mapped for writing, with the colours of its colorimetry. */
Canvas canvas_of(const GstVideoFrame& frame);

}  // namespace crowd::draw
