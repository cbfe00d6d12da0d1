// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowdoverlay on frames of noise, and what it should paint there.
#pragma once

#include <gst/video/gstvideometa.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "painted.hpp"
#include "support.hpp"

namespace crowd::test {

inline constexpr unsigned width = 75;
inline constexpr unsigned height = 51;

struct Overlay {
  Ref<GstHarness> harness;

  explicit Overlay(const std::string& properties, const char* format = "I420", unsigned w = width, unsigned h = height)
      : harness(gst_harness_new_parse(("crowdoverlay " + properties).c_str())) {
    GstVideoInfo info = video_info(format, w, h);
    gst_harness_set_src_caps(harness.get(), gst_video_info_to_caps(&info));
  }

  Ref<GstBuffer> pass(Ref<GstBuffer> buffer) const {
    return Ref<GstBuffer>(gst_harness_push_and_pull(harness.get(), buffer.release()));
  }

  Ref<GstElement> element() const {
    return Ref<GstElement>(gst_harness_find_element(harness.get(), "crowdoverlay"));
  }

  guint64 stat(const char* field) const {
    GstStructure* stats = nullptr;
    g_object_get(element().get(), "stats", &stats, nullptr);
    const Ref<GstStructure> owned(stats);
    guint64 value = G_MAXUINT64;
    EXPECT_TRUE(gst_structure_get_uint64(stats, field, &value)) << field;
    return value;
  }
};

inline Ref<GstBuffer> noise(const char* format = "I420", unsigned w = width, unsigned h = height) {
  return padded_frame(video_info(format, w, h));
}

inline GstVideoRegionOfInterestMeta* add_region(GstBuffer* buffer, guint x, guint y, guint w, guint h) {
  return gst_buffer_add_video_region_of_interest_meta(buffer, "person", x, y, w, h);
}

inline std::vector<draw::Primitive> outline(int x1, int y1, int x2, int y2, std::uint32_t rgb) {
  return {{draw::Primitive::fill, x1, y1, x2, y1 + 1, 0, 0, rgb},
          {draw::Primitive::fill, x1, y2 - 1, x2, y2, 0, 0, rgb},
          {draw::Primitive::fill, x1, y1, x1 + 1, y2, 0, 0, rgb},
          {draw::Primitive::fill, x2 - 1, y1, x2, y2, 0, 0, rgb}};
}

inline constexpr std::uint32_t red = 0xff0000;
inline constexpr std::uint32_t blue = 0x0000ff;

/// The noise with outlines, painted the plain way.
inline std::vector<std::uint8_t> noise_with(const std::vector<std::vector<draw::Primitive>>& outlines,
                                            const char* format = "I420", unsigned w = width, unsigned h = height) {
  GstVideoInfo info = video_info(format, w, h);
  const auto buffer = noise(format, w, h);
  GstVideoFrame frame;
  EXPECT_TRUE(gst_video_frame_map(&frame, &info, buffer.get(), GST_MAP_READWRITE));
  // A small frame is BT.601 in GStreamer's defaults, and grey is full range.
  const draw::ColourSpace colours = {GST_VIDEO_INFO_IS_RGB(&info) != 0, std::string(format) == "GRAY8", 2990, 1140,
                                     static_cast<int>(GST_VIDEO_INFO_COMP_DEPTH(&info, 0))};
  for (const auto& primitives : outlines)
    paint_plainly(frame, primitives, colours);
  gst_video_frame_unmap(&frame);
  return bytes_of(buffer.get());
}

}  // namespace crowd::test
