// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/luma.hpp"

#include <opencv2/imgproc.hpp>

namespace crowd {

namespace {

static_assert(G_BYTE_ORDER == G_LITTLE_ENDIAN, "samples of 16 bits are read as they lie");

// The three colour channels of a format that begins with the unused one.
cv::Mat without_first(const cv::Mat& pixels) {
  cv::Mat colours(pixels.size(), CV_8UC3);
  cv::mixChannels({pixels}, {colours}, {1, 0, 2, 1, 3, 2});
  return colours;
}

}  // namespace

cv::Mat luma_of(const GstVideoFrame& frame, cv::Mat& scratch) {
  const auto view = [&frame](int type) {
    return cv::Mat(GST_VIDEO_FRAME_HEIGHT(&frame), GST_VIDEO_FRAME_WIDTH(&frame), type,
                   GST_VIDEO_FRAME_PLANE_DATA(&frame, 0), static_cast<size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0)));
  };
  switch (GST_VIDEO_FRAME_FORMAT(&frame)) {
    case GST_VIDEO_FORMAT_BGR:
      cv::cvtColor(view(CV_8UC3), scratch, cv::COLOR_BGR2GRAY);
      return scratch;
    case GST_VIDEO_FORMAT_RGB:
      cv::cvtColor(view(CV_8UC3), scratch, cv::COLOR_RGB2GRAY);
      return scratch;
    case GST_VIDEO_FORMAT_BGRx:
    case GST_VIDEO_FORMAT_BGRA:
      cv::cvtColor(view(CV_8UC4), scratch, cv::COLOR_BGRA2GRAY);
      return scratch;
    case GST_VIDEO_FORMAT_RGBx:
    case GST_VIDEO_FORMAT_RGBA:
      cv::cvtColor(view(CV_8UC4), scratch, cv::COLOR_RGBA2GRAY);
      return scratch;
    case GST_VIDEO_FORMAT_xBGR:
    case GST_VIDEO_FORMAT_ABGR:
      cv::cvtColor(without_first(view(CV_8UC4)), scratch, cv::COLOR_BGR2GRAY);
      return scratch;
    case GST_VIDEO_FORMAT_xRGB:
    case GST_VIDEO_FORMAT_ARGB:
      cv::cvtColor(without_first(view(CV_8UC4)), scratch, cv::COLOR_RGB2GRAY);
      return scratch;
    case GST_VIDEO_FORMAT_YUY2:
      cv::extractChannel(view(CV_8UC2), scratch, 0);
      return scratch;
    case GST_VIDEO_FORMAT_UYVY:
      cv::extractChannel(view(CV_8UC2), scratch, 1);
      return scratch;
    case GST_VIDEO_FORMAT_P010_10LE:
      view(CV_16UC1).convertTo(scratch, CV_8U, 1.0 / 256);
      return scratch;
    case GST_VIDEO_FORMAT_I420_10LE:
      view(CV_16UC1).convertTo(scratch, CV_8U, 1.0 / 4);
      return scratch;
    default:
      return view(CV_8UC1);
  }
}

}  // namespace crowd
