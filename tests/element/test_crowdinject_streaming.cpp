// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowdinject in a stream: numbers of frames, caps, states.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "crowdinject_support.hpp"

namespace {

using namespace crowd::test;
using crowd::scene::SceneKind;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(crowdinject, frames_are_counted_anew_after_a_segment_a_flush_and_a_start) {
  const Inject inject;
  EXPECT_EQ(number_of(inject.pass().get()), 0);
  EXPECT_EQ(number_of(inject.pass().get()), 1);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  ASSERT_TRUE(gst_harness_push_event(inject.harness(), gst_event_new_segment(&segment)));
  EXPECT_EQ(number_of(inject.pass().get()), 0);
  EXPECT_EQ(number_of(inject.pass().get()), 1);
  ASSERT_TRUE(gst_harness_push_event(inject.harness(), gst_event_new_flush_start()));
  ASSERT_TRUE(gst_harness_push_event(inject.harness(), gst_event_new_flush_stop(TRUE)));
  ASSERT_TRUE(gst_harness_push_event(inject.harness(), gst_event_new_segment(&segment)));
  EXPECT_EQ(number_of(inject.pass().get()), 0);
  EXPECT_EQ(inject.stat("frames"), 5u);
  ASSERT_EQ(gst_element_set_state(inject.element(), GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  gst_harness_play(inject.harness());
  ASSERT_EQ(gst_element_set_state(inject.element(), GST_STATE_PLAYING), GST_STATE_CHANGE_SUCCESS);
  gst_harness_set_src_caps_str(inject.harness(), video_caps(640, 360).c_str());
  EXPECT_EQ(number_of(inject.pass().get()), 0);
  EXPECT_EQ(inject.stat("frames"), 1u);
}

TEST(crowdinject, timestamps_number_frames_if_asked_to) {
  const Inject inject("numbering=timestamp");
  for (const unsigned number : {0u, 1u, 5u, 3u, 130u})
    EXPECT_EQ(number_of(inject.pass_frame(number).get()), static_cast<int>(number));
  EXPECT_EQ(number_of(inject.pass(make_frame(640, 360, 2 * GST_SECOND + 19 * GST_MSECOND)).get()), 50);
  EXPECT_EQ(number_of(inject.pass(make_frame(640, 360, 2 * GST_SECOND - 19 * GST_MSECOND)).get()), 50);

  // After a seek to 4 s the buffers' timestamps may begin anywhere; the stream time decides.
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = 10 * GST_SECOND;
  segment.time = 4 * GST_SECOND;
  ASSERT_TRUE(gst_harness_push_event(inject.harness(), gst_event_new_segment(&segment)));
  EXPECT_EQ(number_of(inject.pass(make_frame(640, 360, 11 * GST_SECOND)).get()), 125);
  EXPECT_THAT(take_warnings(inject.bus()), IsEmpty());
  EXPECT_EQ(inject.stat("failures"), 0u);

  for (int number = 1; number < 4; number++)
    EXPECT_EQ(number_of(inject.pass(make_frame(640, 360, GST_CLOCK_TIME_NONE)).get()), number);
  EXPECT_THAT(take_warnings(inject.bus()), ElementsAre(AllOf(HasSubstr("no timestamp"), HasSubstr("videorate"))));
  EXPECT_EQ(inject.stat("failures"), 3u);
}

TEST(crowdinject, without_a_framerate_timestamps_fall_back_to_counting) {
  for (const char* framerate : {"", ",framerate=0/1"}) {
    const Inject inject("numbering=timestamp", std::string("video/x-raw,format=NV12,width=640,height=360") + framerate);
    for (int number = 0; number < 3; number++)
      EXPECT_EQ(number_of(inject.pass_frame(77).get()), number);
    EXPECT_THAT(take_warnings(inject.bus()), ElementsAre(AllOf(HasSubstr("no framerate"), HasSubstr("videorate"))));
    EXPECT_EQ(inject.stat("failures"), 3u);
  }
}

TEST(crowdinject, follows_a_change_of_caps) {
  const Inject inject("scene=uniform");
  EXPECT_EQ(attached(inject.pass().get()).width, 640u);
  const Ref<GstCaps> caps(gst_caps_from_string(video_caps(64, 32).c_str()));
  ASSERT_TRUE(gst_harness_push_event(inject.harness(), gst_event_new_caps(caps.get())));
  const Attached got = attached(inject.pass(make_frame(64, 32)).get());
  EXPECT_EQ(got.width, 64u);
  EXPECT_EQ(got.height, 32u);
  EXPECT_TRUE(got.candidates.boxes == expected({.kind = SceneKind::uniform}, 1, 64, 32).candidates.boxes);
}

TEST(crowdinject, caps_without_a_size_are_an_error_that_says_so) {
  for (const char* caps : {"video/x-raw,format=NV12", "video/x-raw,format=NV12,width=640", "video/x-raw,height=360",
                           "video/x-raw,width=0,height=360", "video/x-raw,width=640,height=-1"}) {
    const Inject inject("", caps);
    EXPECT_EQ(gst_harness_push(inject.harness(), make_frame(640, 360).release()), GST_FLOW_NOT_NEGOTIATED) << caps;
    const std::string text = inject.next_message(GST_MESSAGE_ERROR);
    EXPECT_THAT(text, HasSubstr("The frame's width and height are not known")) << caps;
    EXPECT_THAT(text, HasSubstr("put a capsfilter with width and height before")) << caps;
  }
}

TEST(crowdinject, is_quiet_in_the_steady_state) {
  const Inject inject;
  inject.pass();
  const LogCounter debug("crowdinject", GST_LEVEL_DEBUG), info("crowdinject", GST_LEVEL_INFO),
      warning("crowdinject", GST_LEVEL_WARNING), log("crowdinject", GST_LEVEL_LOG);
  for (int i = 0; i < 10; i++)
    inject.pass();
  EXPECT_EQ(debug.count() + info.count() + warning.count(), 0u);
  EXPECT_EQ(log.count(), 10u);
  EXPECT_EQ(inject.next_message(GST_MESSAGE_WARNING), "");
  EXPECT_EQ(inject.next_message(GST_MESSAGE_ERROR), "");
}

TEST(crowdinject, changes_state_a_hundred_times) {
  const TemporaryFile file;
  const Ref<GstElement> element = make_element("truth-location=" + file.path);
  for (int i = 0; i < 100; i++)
    for (const GstState state : {GST_STATE_PAUSED, GST_STATE_PLAYING, GST_STATE_READY, GST_STATE_NULL})
      ASSERT_NE(gst_element_set_state(element.get(), state), GST_STATE_CHANGE_FAILURE) << i;
}

TEST(crowdinject, survives_properties_changing_under_its_feet) {
  const Inject inject;
  GstHarnessThread* changing = gst_harness_stress_custom_start(
      inject.harness(), nullptr,
      [](gpointer, gpointer element) {
        static gint n = 0;
        g_object_set(element, "candidates", g_atomic_int_add(&n, 1) % 1000, "max-candidates",
                     static_cast<guint>(n % 500), "labels", n % 2 ? "a" : "b,c", "location", n % 3 ? "x" : nullptr,
                     "truth", n % 2, nullptr);
        GstStructure* stats = nullptr;
        g_object_get(element, "stats", &stats, nullptr);
        gst_structure_free(stats);
      },
      inject.element(), 50);
  for (int i = 0; i < 2000; i++) {
    const Attached got = attached(inject.pass().get());
    ASSERT_LT(got.count, 1000u);
    ASSERT_THAT(got.labels, ElementsAre("face"));
  }
  gst_harness_stress_thread_stop(changing);
}

TEST(crowdinject, runs_in_a_pipeline_to_its_end) {
  GError* error = nullptr;
  const Ref<GstElement> pipeline(gst_parse_launch(
      "videotestsrc num-buffers=30 ! video/x-raw,width=1920,height=1080 ! crowdinject name=inject scene=crowd-run ! "
      "fakesink",
      &error));
  ASSERT_EQ(error, nullptr);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const Ref<GstBus> bus(gst_element_get_bus(pipeline.get()));
  const Ref<GstMessage> message(gst_bus_timed_pop_filtered(
      bus.get(), 20 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(GST_MESSAGE_TYPE(message.get()), GST_MESSAGE_EOS);
  const Ref<GstElement> inject(gst_bin_get_by_name(GST_BIN(pipeline.get()), "inject"));
  EXPECT_EQ(stat_of(inject.get(), "frames"), 30u);
  EXPECT_GE(stat_of(inject.get(), "candidates"), 30u * 360);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}

}  // namespace
