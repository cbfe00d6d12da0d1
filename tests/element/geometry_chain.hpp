// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Elements under test between one that attaches a box and one that reads it, and where the box is then.
#pragma once

#include <gst/video/gstvideometa.h>
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "support.hpp"

namespace crowd::test {

inline constexpr unsigned width = 640, height = 480;
inline constexpr Candidate object = {380, 300, 430, 370, .9f};

struct Rect {
  int x, y, w, h;
  bool operator==(const Rect&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const Rect& r) {
  return out << r.x << ',' << r.y << ' ' << r.w << 'x' << r.h;
}

inline const std::string input_caps =
    "video/x-raw,format=I420,width=640,height=480,framerate=25/1,pixel-aspect-ratio=(fraction)1/1";

/// A bin under test, with its warnings.
class Chain {
 public:
  /// `takes_crops`: whether downstream takes GstVideoCropMeta, so that videocrop copies nothing.
  explicit Chain(const std::string& elements, bool takes_crops = false)
      : harness_(gst_harness_new_parse(elements.c_str())), bus_(gst_bus_new()) {
    gst_element_set_bus(harness_->element, bus_.get());
    for (const GType api : {GST_VIDEO_META_API_TYPE, GST_VIDEO_CROP_META_API_TYPE}) {
      if (takes_crops)
        gst_harness_add_propose_allocation_meta(harness_.get(), api, nullptr);
    }
    gst_harness_set_src_caps_str(harness_.get(), input_caps.c_str());
  }
  ~Chain() {
    gst_element_set_bus(harness_->element, nullptr);
  }

  Ref<GstBuffer> pass(bool with_object) {
    GstBuffer* buffer = gst_harness_create_buffer(harness_.get(), width * height * 3 / 2);
    gst_buffer_memset(buffer, 0, 96, gst_buffer_get_size(buffer));
    if (with_object)
      add_boxes(buffer, std::span(&object, 1), {.frame_width = width, .frame_height = height});
    Ref<GstBuffer> out(gst_harness_push_and_pull(harness_.get(), buffer));
    EXPECT_NE(out, nullptr);
    return out;
  }

  GstHarness* harness() {
    return harness_.get();
  }

  std::vector<std::string> warnings() {
    std::vector<std::string> all;
    while (const auto message = pop_message(bus_.get(), GST_MESSAGE_WARNING))
      all.push_back(message_text(message.get()));
    return all;
  }

  GstVideoInfo info() {
    const Ref<GstCaps> caps(gst_pad_get_current_caps(harness_->sinkpad));
    GstVideoInfo info;
    EXPECT_TRUE(gst_video_info_from_caps(&info, caps.get()));
    return info;
  }

 private:
  Ref<GstHarness> harness_;
  Ref<GstBus> bus_;
};

using Place = std::vector<Rect>;

/// The rectangle in which two frames of the same format differ in luma or in the first bytes of their pixels.
inline Place difference(GstBuffer* a, GstBuffer* b, const GstVideoInfo& info) {
  GstVideoFrame first, second;
  EXPECT_TRUE(gst_video_frame_map(&first, &info, a, GST_MAP_READ));
  EXPECT_TRUE(gst_video_frame_map(&second, &info, b, GST_MAP_READ));
  const int step = GST_VIDEO_FRAME_COMP_PSTRIDE(&first, 0);
  const int picture_width = GST_VIDEO_FRAME_WIDTH(&first), picture_height = GST_VIDEO_FRAME_HEIGHT(&first);
  int x1 = picture_width, y1 = picture_height, x2 = 0, y2 = 0;
  for (int y = 0; y < picture_height; y++) {
    const auto* p = GST_VIDEO_FRAME_COMP_DATA(&first, 0) + y * GST_VIDEO_FRAME_COMP_STRIDE(&first, 0);
    const auto* q = GST_VIDEO_FRAME_COMP_DATA(&second, 0) + y * GST_VIDEO_FRAME_COMP_STRIDE(&second, 0);
    for (int x = 0; x < picture_width; x++) {
      if (p[x * step] == q[x * step])
        continue;
      x1 = std::min(x1, x), x2 = std::max(x2, x + 1);
      y1 = std::min(y1, y), y2 = std::max(y2, y + 1);
    }
  }
  gst_video_frame_unmap(&first);
  gst_video_frame_unmap(&second);
  return x2 > x1 ? Place{{x1, y1, x2 - x1, y2 - y1}} : Place{};
}

inline constexpr char overlay[] = "crowdoverlay draw-labels=false draw-scores=false draw-counts=false";

}  // namespace crowd::test
