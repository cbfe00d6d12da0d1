// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A picture as a frame in system memory, which tests upload.
#pragma once

#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "../../element/pictures.hpp"
#include "support.hpp"

namespace crowd::test {

/// The picture, which has the frame's size, in grey.
inline Ref<GstBuffer> grey_frame(const cv::Mat& picture, const GstVideoInfo& info) {
  Ref<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr));
  gst_buffer_memset(buffer.get(), 0, 128, GST_VIDEO_INFO_SIZE(&info));
  GstVideoFrame frame;
  EXPECT_TRUE(gst_video_frame_map(&frame, &info, buffer.get(), GST_MAP_WRITE));
  const guint components = GST_VIDEO_INFO_IS_RGB(&info) ? 3 : 1;
  for (guint c = 0; c < components; c++)
    for (int y = 0; y < picture.rows; y++)
      for (int x = 0; x < picture.cols; x++)
        *(GST_VIDEO_FRAME_COMP_DATA(&frame, c) + y * GST_VIDEO_FRAME_COMP_STRIDE(&frame, c) +
          x * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c)) = picture.at<std::uint8_t>(y, x);
  gst_video_frame_unmap(&frame);
  GST_BUFFER_PTS(buffer.get()) = 0;
  return buffer;
}

}  // namespace crowd::test
