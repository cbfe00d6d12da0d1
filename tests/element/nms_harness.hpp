// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A crowdnms in a harness, for the tests of crowdnms.
#pragma once

#include <gst/video/gstvideometa.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support.hpp"

namespace crowd::test {

class NmsHarness {
 public:
  /// `properties` as in a launch line; `caps` is what the source pad announces, "" to leave that to the test.
  explicit NmsHarness(const std::string& properties = "", const std::string& caps = video_caps(640, 480))
      : harness_(gst_harness_new_empty()), bus_(gst_bus_new()) {
    gst_harness_add_parse(harness_.get(), ("crowdnms name=nms " + properties).c_str());
    element_.reset(gst_harness_find_element(harness_.get(), "crowdnms"));
    gst_element_set_bus(element_.get(), bus_.get());
    if (!caps.empty())
      set_caps(caps);
  }
  ~NmsHarness() {
    gst_element_set_bus(element_.get(), nullptr);
  }

  void set_caps(const std::string& caps) {
    gst_harness_set_src_caps_str(harness_.get(), caps.c_str());
  }

  /// Pushes and pulls one buffer.
  Ref<GstBuffer> pass(Ref<GstBuffer> buffer) {
    EXPECT_EQ(gst_harness_push(harness_.get(), buffer.release()), GST_FLOW_OK);
    return Ref<GstBuffer>(gst_harness_try_pull(harness_.get()));
  }

  /// Stops it and starts it anew, for frames of 640 x 480.
  void restart() {
    gst_element_set_state(element(), GST_STATE_READY);
    gst_element_set_state(element(), GST_STATE_PLAYING);
    set_caps(video_caps(640, 480));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_harness_push_event(harness(), gst_event_new_segment(&segment));
  }

  /// A frame of 640 x 480 with these candidates as boxes.
  Ref<GstBuffer> pass(std::span<const Candidate> candidates, BoxesOptions options = {}) {
    Ref<GstBuffer> buffer = make_frame(640, 480);
    if (!options.frame_width)
      options.frame_width = 640, options.frame_height = 480;
    add_boxes(buffer.get(), candidates, options);
    return pass(std::move(buffer));
  }

  Ref<GstStructure> stats() const {
    GstStructure* structure = nullptr;
    g_object_get(element(), "stats", &structure, nullptr);
    return Ref<GstStructure>(structure);
  }

  /// A counter of stats, of either width.
  guint64 stat(const char* field) const {
    const Ref<GstStructure> all = stats();
    guint64 wide = 0;
    guint narrow = 0;
    if (gst_structure_get_uint64(all.get(), field, &wide))
      return wide;
    EXPECT_TRUE(gst_structure_get_uint(all.get(), field, &narrow)) << field;
    return narrow;
  }

  std::string stat_text(const char* field) const {
    const Ref<GstStructure> all = stats();
    const char* text = gst_structure_get_string(all.get(), field);
    return text ? text : "";
  }

  GstElement* element() const {
    return element_.get();
  }
  GstHarness* harness() const {
    return harness_.get();
  }
  GstBus* bus() const {
    return bus_.get();
  }

 private:
  Ref<GstHarness> harness_;
  Ref<GstBus> bus_;
  Ref<GstElement> element_;
};

/// Expects sane rectangles and gives "type@x,y,w,h" of each region.
inline std::vector<std::string> rectangles(GstBuffer* buffer) {
  std::vector<std::string> all;
  for (const Roi& roi : rois(buffer))
    all.push_back(roi.type + "@" + std::to_string(roi.x) + "," + std::to_string(roi.y) + "," + std::to_string(roi.w) +
                  "," + std::to_string(roi.h));
  return all;
}

/// A > B > C in a row: A and B overlap, B and C overlap (IoU 0.6 each), A and C do not (0.33).
inline const std::vector<Candidate> row_of_three = {
    {100, 50, 180, 90, .9f}, {120, 50, 200, 90, .8f}, {140, 50, 220, 90, .7f}};

/// A frame with one region of interest that a detector found.
inline Ref<GstBuffer> frame_with_region() {
  Ref<GstBuffer> buffer = make_frame(640, 480);
  auto* roi = gst_buffer_add_video_region_of_interest_meta(buffer.get(), "person", 10, 10, 20, 20);
  gst_video_region_of_interest_meta_add_param(roi,
                                              gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, .5, nullptr));
  return buffer;
}

}  // namespace crowd::test
