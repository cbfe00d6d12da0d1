// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// As what survivors leave crowdnms, and when: meta-output and output-delay, without a GPU.

#include <gst/crowd/gstcrowdboxesmeta.h>

#include <vector>

#include "nms_harness.hpp"

namespace {

using namespace crowd::test;

struct Survivors {
  guint32 count = 0, candidates = 0;
  std::vector<float> scores;
  std::vector<guint32> members;
};

Survivors survivors_of(GstBuffer* buffer) {
  const GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_survivors_meta(buffer);
  GstCrowdBoxesMap map;
  Survivors all;
  if (!meta || !gst_crowd_boxes_map_memory(&map, meta->memory, meta->capacity, GST_MAP_READ)) {
    ADD_FAILURE() << "no survivors on the buffer";
    return all;
  }
  all.count = *map.count;
  all.candidates = *map.candidates;
  all.scores.assign(map.scores, map.scores + all.count);
  all.members.assign(map.members, map.members + all.count);
  EXPECT_EQ(map.boxes[0].x1, 100);
  EXPECT_EQ(meta->frame_width, 640u);
  gst_crowd_boxes_unmap(&map);
  return all;
}

Ref<GstBuffer> frame_at(GstClockTime pts) {
  Ref<GstBuffer> buffer = make_frame(640, 480, pts);
  add_boxes(buffer.get(), row_of_three, {.frame_width = 640, .frame_height = 480});
  return buffer;
}

TEST(crowdnms_outputs, boxes_hold_the_survivors_with_their_members) {
  NmsHarness nms("meta-output=boxes");
  const Ref<GstBuffer> out = nms.pass(row_of_three);
  EXPECT_TRUE(rois(out.get()).empty());
  EXPECT_EQ(gst_buffer_get_crowd_boxes_meta(out.get()), nullptr) << "candidates are gone";
  const Survivors survivors = survivors_of(out.get());
  EXPECT_EQ(survivors.candidates, 3u);
  EXPECT_EQ(survivors.scores, (std::vector<float>{.9f, .7f}));
  EXPECT_EQ(survivors.members, (std::vector<guint32>{2, 1}));
}

TEST(crowdnms_outputs, all_are_boxes_and_regions) {
  NmsHarness nms("meta-output=all");
  const Ref<GstBuffer> out = nms.pass(row_of_three);
  EXPECT_EQ(rois(out.get()).size(), 2u);
  EXPECT_EQ(survivors_of(out.get()).count, 2u);
}

TEST(crowdnms_outputs, candidates_stay_beside_boxes_in_mode_annotate) {
  NmsHarness nms("meta-output=boxes mode=annotate");
  const Ref<GstBuffer> out = nms.pass(row_of_three);
  EXPECT_NE(gst_buffer_get_crowd_boxes_meta(out.get()), nullptr);
  EXPECT_EQ(survivors_of(out.get()).count, 2u);
}

TEST(crowdnms_outputs, regions_that_were_candidates_become_boxes) {
  NmsHarness regions("mode=annotate"), nms("meta-source=roi meta-output=boxes");
  Ref<GstBuffer> buffer = regions.pass(row_of_three);
  const GstCrowdBoxesMeta* candidates = gst_buffer_get_crowd_boxes_meta(buffer.get());
  gst_buffer_remove_meta(buffer.get(), const_cast<GstMeta*>(&candidates->meta));
  const Ref<GstBuffer> out = nms.pass(std::move(buffer));
  EXPECT_TRUE(rois(out.get()).empty());
  EXPECT_EQ(survivors_of(out.get()).count, 2u);
}

TEST(crowdnms_outputs, automatic_is_regions_unless_downstream_asks) {
  NmsHarness nms;
  const Ref<GstBuffer> out = nms.pass(row_of_three);
  EXPECT_EQ(rois(out.get()).size(), 2u);
  EXPECT_EQ(gst_buffer_get_crowd_survivors_meta(out.get()), nullptr);
}

TEST(crowdnms_outputs, says_in_the_allocation_query_that_it_reads_boxes) {
  NmsHarness nms("backend=cpu");
  const Ref<GstCaps> caps(gst_caps_from_string(video_caps(640, 480).c_str()));
  const Ref<GstQuery> query(gst_query_new_allocation(caps.get(), FALSE));
  ASSERT_TRUE(gst_pad_peer_query(nms.harness()->srcpad, query.get()));
  guint index = 0;
  ASSERT_TRUE(gst_query_find_allocation_meta(query.get(), GST_CROWD_BOXES_META_API_TYPE, &index));
  const GstStructure* params = nullptr;
  gst_query_parse_nth_allocation_meta(query.get(), index, &params);
  EXPECT_FALSE(params && gst_structure_has_field(params, "candidates-on-device")) << "not on the CPU";
}

class Delayed : public testing::Test {
 protected:
  static constexpr GstClockTime frame_time = GST_SECOND / 25;

  void push(unsigned number) {
    EXPECT_EQ(gst_harness_push(nms.harness(), frame_at(number * frame_time).release()), GST_FLOW_OK);
  }
  /// The next frame that came out has this number, and its own survivors.
  void expect_frame(unsigned number) {
    const Ref<GstBuffer> out(gst_harness_try_pull(nms.harness()));
    ASSERT_NE(out, nullptr) << number;
    EXPECT_EQ(GST_BUFFER_PTS(out.get()), number * frame_time);
    EXPECT_EQ(rois(out.get()).size(), 2u);
  }
  void expect_nothing() {
    const Ref<GstBuffer> out(gst_harness_try_pull(nms.harness()));
    EXPECT_EQ(out, nullptr);
  }

  NmsHarness nms{"output-delay=1 post-messages=true"};
};

TEST_F(Delayed, frames_come_one_later_and_the_last_with_the_end) {
  push(0);
  expect_nothing();
  for (unsigned i = 1; i < 5; i++) {
    push(i);
    expect_frame(i - 1);
  }
  EXPECT_EQ(nms.stat("frames"), 4u) << "one is held";
  EXPECT_TRUE(gst_harness_push_event(nms.harness(), gst_event_new_eos()));
  expect_frame(4);
  EXPECT_EQ(nms.stat("survivors"), 10u);
  for (int i = 0; i < 5; i++) {
    const Ref<GstMessage> message = pop_message(nms.bus(), GST_MESSAGE_ELEMENT);
    ASSERT_NE(message, nullptr) << i;
    guint64 timestamp = 0;
    gst_structure_get_uint64(gst_message_get_structure(message.get()), "timestamp", &timestamp);
    EXPECT_EQ(timestamp, static_cast<guint64>(i) * frame_time);
  }
}

TEST_F(Delayed, a_frame_is_counted_under_the_method_it_was_clustered_with) {
  for (unsigned i = 0; i < 3; i++) {
    gst_util_set_object_arg(G_OBJECT(nms.element()), "method", i == 1 ? "map-reduce" : "greedy");
    push(i);
  }
  for (const auto& [method, survivors] : {std::pair{"greedy", 2u}, std::pair{"map-reduce", 1u}}) {
    const Ref<GstBuffer> out(gst_harness_try_pull(nms.harness()));
    EXPECT_EQ(rois(out.get()).size(), survivors);
    const Ref<GstMessage> message = pop_message(nms.bus(), GST_MESSAGE_ELEMENT);
    ASSERT_NE(message, nullptr);
    EXPECT_STREQ(gst_structure_get_string(gst_message_get_structure(message.get()), "method"), method);
  }
  EXPECT_EQ(nms.stat_text("method"), "map-reduce") << "greedy is held";
}

TEST_F(Delayed, what_comes_after_a_frame_stays_after_it) {
  push(0);
  EXPECT_TRUE(gst_harness_push_event(nms.harness(), gst_event_new_gap(frame_time, frame_time)));
  expect_frame(0);
  push(1);
  nms.set_caps(video_caps(320, 240));
  expect_frame(1);
  expect_nothing();
}

TEST_F(Delayed, a_flush_drops_the_frame_that_is_held) {
  push(0);
  EXPECT_TRUE(gst_harness_push_event(nms.harness(), gst_event_new_flush_start()));
  EXPECT_TRUE(gst_harness_push_event(nms.harness(), gst_event_new_flush_stop(TRUE)));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  EXPECT_TRUE(gst_harness_push_event(nms.harness(), gst_event_new_segment(&segment)));
  expect_nothing();
  push(7);
  push(8);
  expect_frame(7);
}

TEST_F(Delayed, it_is_told_as_latency) {
  push(0);
  gst_harness_set_upstream_latency(nms.harness(), 5 * GST_MSECOND);
  EXPECT_EQ(gst_harness_query_latency(nms.harness()), 5 * GST_MSECOND + frame_time);
  NmsHarness straight;
  gst_harness_set_upstream_latency(straight.harness(), 5 * GST_MSECOND);
  EXPECT_EQ(gst_harness_query_latency(straight.harness()), 5 * GST_MSECOND);
}

TEST_F(Delayed, it_is_told_as_latency_of_any_framerate) {
  const std::string frames = "video/x-raw,format=NV12,width=640,height=480";
  for (const auto& [rate, latency] : {std::pair{",framerate=50/1", 20 * GST_MSECOND},
                                      {",framerate=0/1", 40 * GST_MSECOND},
                                      {",framerate=10/1", 100 * GST_MSECOND},
                                      {"", 40 * GST_MSECOND}}) {
    nms.set_caps(frames + rate);
    push(0);
    EXPECT_EQ(gst_harness_query_latency(nms.harness()), latency) << rate;
    EXPECT_NE(pop_message(nms.bus(), GST_MESSAGE_LATENCY), nullptr) << rate;
  }
}

TEST_F(Delayed, stops_with_a_frame_that_is_held) {
  for (unsigned i = 0; i < 20; i++) {
    push(0);
    gst_element_set_state(nms.element(), GST_STATE_NULL);
    gst_element_set_state(nms.element(), GST_STATE_PLAYING);
    nms.set_caps(video_caps(640, 480));
  }
  expect_nothing();
}

}  // namespace
