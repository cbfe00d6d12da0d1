// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The grey image of frames with more than 8 bits a sample.

#include "detect/luma.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support.hpp"

namespace {

using namespace crowd::test;

constexpr guint samples = 1024, rows = 2;

/// The luma of a frame that holds every 10-bit sample, rising in the first row and falling in the second.
cv::Mat luma_of_all(GstVideoFormat format, guint shift) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, format, samples, rows);
  const Ref<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, info.size, nullptr));
  GstVideoFrame frame;
  EXPECT_TRUE(gst_video_frame_map(&frame, &info, buffer.get(), GST_MAP_READWRITE));
  auto* luma = static_cast<std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0));
  for (guint x = 0; x < samples; x++) {
    GST_WRITE_UINT16_LE(luma + 2 * x, x << shift);
    GST_WRITE_UINT16_LE(luma + GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0) + 2 * x, (samples - 1 - x) << shift);
  }
  cv::Mat scratch;
  const cv::Mat grey = crowd::luma_of(frame, scratch).clone();
  gst_video_frame_unmap(&frame);
  return grey;
}

void expect_eight_bits(const cv::Mat& grey) {
  ASSERT_EQ(grey.type(), CV_8UC1);
  ASSERT_EQ(grey.size(), cv::Size(samples, rows));
  for (int x = 0; x < static_cast<int>(samples); x++) {
    const double exact = std::min(x / 4.0, 255.0);
    EXPECT_LE(std::abs(grey.at<std::uint8_t>(0, x) - exact), 0.5) << x;
    EXPECT_EQ(grey.at<std::uint8_t>(1, static_cast<int>(samples) - 1 - x), grey.at<std::uint8_t>(0, x)) << x;
  }
}

TEST(luma, of_ten_bits_at_the_top_is_rounded_to_eight) {
  expect_eight_bits(luma_of_all(GST_VIDEO_FORMAT_P010_10LE, 6));
}

TEST(luma, of_ten_bits_at_the_bottom_is_rounded_to_eight) {
  expect_eight_bits(luma_of_all(GST_VIDEO_FORMAT_I420_10LE, 0));
}

}  // namespace
