// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** luma.hpp: the grey image that OpenCV's detectors search, out of a GStreamer frame. */
#pragma once

#include <gst/video/video.h>

#include <opencv2/core.hpp>

namespace crowd {

/** Formats that luma_of() reads, in the syntax of caps. */
#define CROWD_LUMA_FORMATS                                                                                      \
  "{ GRAY8, NV12, NV21, NV16, I420, YV12, Y42B, Y444, YUY2, UYVY, P010_10LE, I420_10LE, BGR, RGB, BGRx, RGBx, " \
  "BGRA, RGBA, xBGR, xRGB, ABGR, ARGB }"

/**
 * The luma of `frame`, mapped for reading: the plane itself, without a copy, where the format has one; otherwise a
 * conversion in `scratch`, BT.601 for RGB, 10 bits rounded to 8. The values keep the frame's range, limited or full.
 */
cv::Mat luma_of(const GstVideoFrame& frame, cv::Mat& scratch);

}  // namespace crowd
