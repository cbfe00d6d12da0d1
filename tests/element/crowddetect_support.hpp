// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A crowddetect in a harness, for its tests.
#pragma once

#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "pictures.hpp"
#include "support.hpp"

namespace crowd::test {

constexpr unsigned width = 640;
constexpr unsigned height = 480;

inline std::string caps_of(const char* format, unsigned w = width, unsigned h = height) {
  return std::string("video/x-raw,format=") + format + ",width=" + std::to_string(w) + ",height=" + std::to_string(h) +
         ",framerate=25/1";
}

/// 8 bits into a sample of as many as the format has.
inline void put_sample(GstVideoFrame& frame, int component, int x, int y, std::uint8_t value) {
  auto* at = static_cast<std::uint8_t*>(GST_VIDEO_FRAME_COMP_DATA(&frame, component)) +
             y * GST_VIDEO_FRAME_COMP_STRIDE(&frame, component) + x * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, component);
  const guint depth = GST_VIDEO_FRAME_COMP_DEPTH(&frame, component);
  if (depth > 8)
    GST_WRITE_UINT16_LE(at, value << (depth - 8) << GST_VIDEO_FORMAT_INFO_SHIFT(frame.info.finfo, component));
  else
    *at = value;
}

/// The picture as a frame of the format: grey, since luma is all that is searched.
inline Ref<GstBuffer> frame_of(const cv::Mat& picture, const char* format) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, gst_video_format_from_string(format), static_cast<guint>(picture.cols),
                            static_cast<guint>(picture.rows));
  Ref<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, info.size, nullptr));
  gst_buffer_memset(buffer.get(), 0, 128, info.size);
  GstVideoFrame frame;
  EXPECT_TRUE(gst_video_frame_map(&frame, &info, buffer.get(), GST_MAP_WRITE));
  const int components = GST_VIDEO_INFO_IS_RGB(&info) ? 3 : 1;
  for (int c = 0; c < components; c++)
    for (int y = 0; y < picture.rows; y++)
      for (int x = 0; x < picture.cols; x++)
        put_sample(frame, c, x, y, picture.at<std::uint8_t>(y, x));
  gst_video_frame_unmap(&frame);
  return buffer;
}

struct Found {
  std::vector<Candidate> candidates;
  std::uint32_t count = 0;
  unsigned capacity = 0, frame_width = 0, frame_height = 0;
  std::string label;
};

inline Found read(GstBuffer* buffer) {
  EXPECT_EQ(count_metas(buffer, GST_CROWD_BOXES_META_API_TYPE), 1u);
  Found found;
  const GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_boxes_meta(buffer);
  GstCrowdBoxesMap map;
  if (!meta || !gst_crowd_boxes_map_memory(&map, meta->memory, meta->capacity, GST_MAP_READ)) {
    ADD_FAILURE() << "no candidates";
    return found;
  }
  found.count = *map.count;
  found.capacity = meta->capacity;
  found.frame_width = meta->frame_width;
  found.frame_height = meta->frame_height;
  if (meta->labels)
    found.label = static_cast<const char*>(g_ptr_array_index(meta->labels, 0));
  for (guint i = 0; i < std::min(found.count, found.capacity); i++)
    found.candidates.push_back(
        {map.boxes[i].x1, map.boxes[i].y1, map.boxes[i].x2, map.boxes[i].y2, map.scores[i], map.classes[i]});
  gst_crowd_boxes_unmap(&map);
  return found;
}

inline bool equal(const std::vector<Candidate>& a, const std::vector<Candidate>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Candidate& p, const Candidate& q) {
    return std::tie(p.x1, p.y1, p.x2, p.y2, p.score, p.class_id) ==
           std::tie(q.x1, q.y1, q.x2, q.y2, q.score, q.class_id);
  });
}

inline Ref<GstHarness> harness_of(const std::string& properties, const std::string& caps = caps_of("GRAY8")) {
  Ref<GstHarness> harness(gst_harness_new_parse(("crowddetect " + properties).c_str()));
  gst_harness_set_src_caps_str(harness.get(), caps.c_str());
  return harness;
}

inline Ref<GstBuffer> pass(const Ref<GstHarness>& harness, Ref<GstBuffer> buffer) {
  return Ref<GstBuffer>(gst_harness_push_and_pull(harness.get(), buffer.release()));
}

inline Ref<GstElement> element_of(const Ref<GstHarness>& harness) {
  return Ref<GstElement>(gst_harness_find_element(harness.get(), "crowddetect"));
}

inline guint64 stat(const Ref<GstHarness>& harness, const char* field) {
  GstStructure* stats = nullptr;
  g_object_get(element_of(harness).get(), "stats", &stats, nullptr);
  const Ref<GstStructure> owned(stats);
  guint64 value = G_MAXUINT64;
  EXPECT_TRUE(gst_structure_get_uint64(stats, field, &value)) << field;
  return value;
}

/// Wide steps, for tests of the element and not of the detector.
inline const std::string quick = "scale-factor=1.2 min-size=128 ";

}  // namespace crowd::test
