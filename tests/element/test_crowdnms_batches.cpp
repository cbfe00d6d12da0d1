// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowdnms on the batches of GStreamer 1.28: each frame in one is clustered as if its stream went through a crowdnms of
// its own, and all else in it stays what it is.

#include <gmock/gmock.h>

#include <algorithm>

#include "analytics_support.hpp"
#include "batch_support.hpp"
#include "described.hpp"
#include "nms_harness.hpp"

namespace {

using namespace crowd::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::vector<Candidate> two = {{10, 10, 50, 50, .9f}, {12, 10, 52, 50, .8f}};

Ref<GstBuffer> frame_of(std::span<const Candidate> candidates, unsigned width = 640, unsigned height = 480) {
  Ref<GstBuffer> buffer = make_frame(width, height);
  add_boxes(buffer.get(), candidates, {.frame_width = width, .frame_height = height});
  return buffer;
}

void attach_regions(GstBuffer* buffer, std::span<const Candidate> candidates) {
  for (const Candidate& c : candidates) {
    const auto x = guint(std::max(c.x1, 0.f)), y = guint(std::max(c.y1, 0.f));
    GstVideoRegionOfInterestMeta* roi = gst_buffer_add_video_region_of_interest_meta(
        buffer, "person", x, y, guint(c.x2 - c.x1) + 1, guint(c.y2 - c.y1) + 1);
    gst_video_region_of_interest_meta_add_param(
        roi, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, double(c.score), "label_id", G_TYPE_INT,
                               c.class_id, nullptr));
  }
}

void attach_objects(GstBuffer* buffer, std::span<const Candidate> candidates) {
  constexpr const char* names[] = {"person", "face", "bag"};
  GstAnalyticsRelationMeta* meta = add_relations(buffer, 2 * candidates.size() + 1);
  for (const Candidate& c : candidates)
    add_classified(meta, names[c.class_id], int(c.x1), int(c.y1), int(c.x2 - c.x1) + 1, int(c.y2 - c.y1) + 1, c.score);
}

/// Objects, and all that is in the relation meta.
std::string described_with_objects(GstBuffer* buffer) {
  std::string all = described(buffer);
  for (const Od& od : ods(buffer))
    all += od.type + "@" + std::to_string(od.x) + "," + std::to_string(od.y) + "," + std::to_string(od.w) + "," +
           std::to_string(od.h) + " " + std::to_string(od.confidence) + "\n";
  for (const std::string& name : mtd_names(buffer))
    all += name + " ";
  return all;
}

enum class Kind { boxes, regions, objects };

Ref<GstBuffer> random_frame(std::mt19937& random, Kind kind, unsigned width, unsigned height) {
  const std::vector<Candidate> candidates = random_candidates(random, random() % 120);
  if (kind == Kind::boxes)
    return frame_of(candidates, width, height);
  Ref<GstBuffer> buffer = make_frame(width, height);
  if (kind == Kind::regions)
    attach_regions(buffer.get(), candidates);
  else
    attach_objects(buffer.get(), candidates);
  return buffer;
}

/// The batch and copies of its frames through crowdnms, and what differs.
void compare(NmsHarness& batches, std::vector<std::unique_ptr<NmsHarness>>& alone, std::vector<BatchStream> streams) {
  const Ref<GstBuffer> before = make_batch(streams);
  std::vector<std::vector<Ref<GstBuffer>>> copies(streams.size());
  for (guint s = 0; s < streams.size(); s++)
    for (GstBuffer* frame : frames_of(before.get(), s))
      copies[s].emplace_back(gst_buffer_copy(frame));
  const Ref<GstBuffer> after = batches.pass(Ref<GstBuffer>(gst_buffer_ref(before.get())));
  ASSERT_NE(after, nullptr);
  for (guint s = 0; s < streams.size(); s++) {
    const auto frames = frames_of(after.get(), s);
    ASSERT_EQ(frames.size(), copies[s].size());
    for (std::size_t i = 0; i < frames.size(); i++) {
      const auto expected = alone[s]->pass(std::move(copies[s][i]));
      ASSERT_EQ(described_with_objects(frames[i]), described_with_objects(expected.get()))
          << "stream " << s << " " << i;
    }
  }
}

class crowdnms_batches : public testing::TestWithParam<const char*> {};

TEST_P(crowdnms_batches, are_clustered_as_each_stream_alone) {
  constexpr unsigned seed = 20261124;
  std::mt19937 random(seed);
  const std::string properties = std::string(GetParam()) + " max-candidates=100";
  NmsHarness batches(properties, batch_caps);
  std::vector<std::unique_ptr<NmsHarness>> alone;
  alone.push_back(std::make_unique<NmsHarness>(properties, video_caps(640, 480)));
  alone.push_back(std::make_unique<NmsHarness>(properties, video_caps(320, 240)));
  for (unsigned round = 0; round < 30; round++) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << " round " << round);
    std::vector<BatchStream> streams = {stream_of(640, 480), stream_of(320, 240)};
    for (unsigned s = 0; s < 2; s++)
      for (unsigned left = random() % 4; left > 0; left--)
        streams[s].add(random_frame(random, Kind(random() % 3), s ? 320 : 640, s ? 240 : 480));
    compare(batches, alone, streams);
  }
  for (const char* field : {"frames", "candidates", "survivors", "suppressed", "invalid", "below-threshold", "overflow",
                            "clipped", "failures"})
    EXPECT_EQ(batches.stat(field), alone[0]->stat(field) + alone[1]->stat(field)) << field;
  EXPECT_GT(batches.stat("suppressed"), 100u);
  EXPECT_GT(batches.stat("overflow"), 0u);
}

INSTANTIATE_TEST_SUITE_P(settings, crowdnms_batches,
                         testing::Values("", "mode=annotate", "meta-output=all",
                                         "meta-output=boxes class-agnostic=true", "method=map-reduce max-detections=3",
                                         "output-delay=0 score-threshold=0.2"));

TEST(crowdnms_batch_caps, are_taken_and_passed_on) {
  NmsHarness nms("", batch_caps);
  const Ref<GstCaps> caps(gst_pad_get_current_caps(nms.harness()->sinkpad));
  const Ref<GstCaps> expected(gst_caps_from_string(batch_caps));
  EXPECT_TRUE(gst_caps_is_equal(caps.get(), expected.get()));
  GstPad* sink = gst_element_get_static_pad(nms.element(), "sink");
  for (const char* wrong : {"multistream/x-analytics-batch", "multistream/x-other(meta:GstAnalyticsBatchMeta)"}) {
    const Ref<GstCaps> refused(gst_caps_from_string(wrong));
    EXPECT_FALSE(gst_pad_query_accept_caps(sink, refused.get())) << wrong;
  }
  gst_object_unref(sink);
}

TEST(crowdnms_batch, follows_caps_within_a_stream) {
  std::vector<BatchStream> streams = {stream_of(640, 480)};
  streams[0].add(frame_of(two));
  streams[0].add(caps_event(video_caps(320, 240)));
  streams[0].add(frame_of(two, 320, 240));
  NmsHarness nms("", batch_caps);
  const auto out = nms.pass(make_batch(streams));
  const auto frames = frames_of(out.get(), 0);
  ASSERT_THAT(frames, SizeIs(2));
  EXPECT_THAT(rectangles(frames[0]), ElementsAre("object@10,10,40,40"));
  EXPECT_THAT(rectangles(frames[1]), ElementsAre("object@10,10,40,40"));
  EXPECT_EQ(nms.stat("failures"), 0u) << "boxes of 320x240 are on no frame of 640x480";
}

TEST(crowdnms_batch, lists_are_walked_and_events_stay) {
  std::vector<BatchStream> streams = {stream_of(640, 480)};
  std::vector<Ref<GstBuffer>> list;
  list.push_back(frame_of(two));
  list.push_back(make_frame(640, 480));
  list.push_back(frame_of(two));
  GstBuffer* plain = list[1].get();
  GstEvent* gap = gst_event_new_gap(0, GST_SECOND);
  streams[0].add(std::move(list));
  streams[0].add(gap);
  NmsHarness nms("", batch_caps);
  const auto out = nms.pass(make_batch(streams));
  const auto frames = frames_of(out.get(), 0);
  ASSERT_THAT(frames, SizeIs(3));
  EXPECT_THAT(rois(frames[0]), SizeIs(1));
  EXPECT_EQ(frames[1], plain);
  EXPECT_THAT(rois(frames[2]), SizeIs(1));
  EXPECT_EQ(gst_buffer_get_analytics_batch_meta(out.get())->streams[0].objects[1], GST_MINI_OBJECT_CAST(gap));
  EXPECT_EQ(nms.stat("frames"), 3u);
}

TEST(crowdnms_batch, what_is_shared_is_not_written_to) {
  std::vector<Ref<GstBuffer>> list;
  list.push_back(frame_of(two));
  std::vector<BatchStream> streams = {stream_of(640, 480)};
  streams[0].add(frame_of(two));
  streams[0].add(std::move(list));
  const Ref<GstBuffer> batch = make_batch(streams);
  NmsHarness nms("", batch_caps);
  const auto out = nms.pass(Ref<GstBuffer>(gst_buffer_ref(batch.get())));
  ASSERT_NE(out.get(), batch.get());
  for (GstBuffer* frame : frames_of(batch.get(), 0))
    EXPECT_EQ(described(frame), "candidates\n");
  for (GstBuffer* frame : frames_of(out.get(), 0))
    EXPECT_THAT(rois(frame), SizeIs(1));
}

TEST(crowdnms_batch, of_nothing_passes) {
  NmsHarness nms("", batch_caps);
  EXPECT_NE(nms.pass(Ref<GstBuffer>(gst_buffer_new())), nullptr) << "without metadata";
  EXPECT_NE(nms.pass(make_batch({})), nullptr) << "without streams";
  EXPECT_NE(nms.pass(make_batch({BatchStream{}})), nullptr) << "without events and objects";
  Ref<GstBuffer> numbers_alone = make_batch({});
  gst_buffer_get_analytics_batch_meta(numbers_alone.get())->n_streams = 3;
  const auto out = nms.pass(std::move(numbers_alone));
  ASSERT_NE(out, nullptr) << "with streams that are not there";
  gst_buffer_get_analytics_batch_meta(out.get())->n_streams = 0;
  EXPECT_EQ(nms.stat("frames"), 0u);
  EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
}

TEST(crowdnms_batch, a_stream_without_caps_is_of_unknown_size) {
  std::vector<BatchStream> streams = {{}, stream_of(640, 480)};
  streams[0].add(frame_of(two));
  streams[1].add(frame_of(two));
  NmsHarness nms("", batch_caps);
  const auto out = nms.pass(make_batch(streams));
  for (guint s = 0; s < 2; s++)
    EXPECT_THAT(rois(frames_of(out.get(), s)[0]), SizeIs(1));
  EXPECT_THAT(take_warnings(nms.bus()), ElementsAre(HasSubstr("no width and height")));
}

TEST(crowdnms_batch, other_media_are_left_alone) {
  std::vector<BatchStream> streams = {{.sticky_events = {caps_event("audio/x-raw")}}, stream_of(640, 480)};
  streams[0].add(frame_of(two));
  streams[1].add(frame_of(two));
  NmsHarness nms("", batch_caps);
  const auto out = nms.pass(make_batch(streams));
  EXPECT_EQ(described(frames_of(out.get(), 0)[0]), "candidates\n");
  EXPECT_THAT(rois(frames_of(out.get(), 1)[0]), SizeIs(1));
  EXPECT_EQ(nms.stat("frames"), 1u);
}

TEST(crowdnms_batch, a_broken_frame_is_counted_and_the_others_go_on) {
  std::vector<BatchStream> streams = {stream_of(640, 480), stream_of(640, 480)};
  Ref<GstBuffer> broken = make_frame(640, 480);
  add_boxes(broken.get(), two, {.frame_width = 640, .frame_height = 480, .count = 0xffffffff});
  streams[0].add(std::move(broken));
  streams[0].add(frame_of(two));
  streams[1].add(frame_of(two));
  NmsHarness nms("", batch_caps);
  const auto out = nms.pass(make_batch(streams));
  EXPECT_EQ(described(frames_of(out.get(), 0)[0]), "");
  EXPECT_THAT(rois(frames_of(out.get(), 0)[1]), SizeIs(1));
  EXPECT_THAT(rois(frames_of(out.get(), 1)[0]), SizeIs(1));
  EXPECT_EQ(nms.stat("failures"), 1u);
  EXPECT_EQ(nms.stat("frames"), 3u);
  EXPECT_THAT(take_warnings(nms.bus()), ElementsAre(HasSubstr("cannot be read")));
}

TEST(crowdnms_batch, each_stream_numbers_its_classes) {
  NmsHarness nms("", batch_caps);
  for (int round = 0; round < 2; round++) {
    std::vector<BatchStream> streams = {stream_of(640, 480), stream_of(640, 480)};
    for (guint s = 0; s < 2; s++) {
      Ref<GstBuffer> frame = make_frame(640, 480);
      GstAnalyticsRelationMeta* meta = add_relations(frame.get());
      if (s == 0)
        add_classified(meta, "person", 10, 10, 40, 40, .5f);
      add_classified(meta, "face", 100, 10, 40, 40, .25f);
      streams[s].add(std::move(frame));
    }
    const auto out = nms.pass(make_batch(streams));
    EXPECT_EQ(rois(frames_of(out.get(), 0)[0]).back().label_id, 1);
    EXPECT_EQ(rois(frames_of(out.get(), 1)[0]).back().label_id, 0);
  }
}

TEST(crowdnms_batch, messages_name_the_stream_and_its_time) {
  std::vector<BatchStream> streams = {stream_of(640, 480), stream_of(640, 480, 5 * GST_SECOND)};
  for (BatchStream& stream : streams) {
    Ref<GstBuffer> frame = frame_of(two);
    GST_BUFFER_PTS(frame.get()) = 7 * GST_SECOND;
    stream.add(std::move(frame));
  }
  NmsHarness nms("post-messages=true", batch_caps);
  nms.pass(make_batch(streams));
  for (guint s = 0; s < 2; s++) {
    const Ref<GstMessage> message = pop_message(nms.bus(), GST_MESSAGE_ELEMENT);
    ASSERT_NE(message, nullptr);
    guint stream = 9, survivors = 0;
    guint64 running = 0;
    ASSERT_TRUE(gst_structure_get(gst_message_get_structure(message.get()), "stream", G_TYPE_UINT, &stream, "survivors",
                                  G_TYPE_UINT, &survivors, "running-time", G_TYPE_UINT64, &running, nullptr));
    EXPECT_EQ(stream, s);
    EXPECT_EQ(survivors, 1u);
    EXPECT_EQ(running, (s ? 2 : 7) * GST_SECOND);
  }
}

TEST(crowdnms_batch, is_not_held_back) {
  NmsHarness nms("output-delay=1", batch_caps);
  for (int i = 0; i < 3; i++) {
    std::vector<BatchStream> streams = {stream_of(640, 480)};
    streams[0].add(frame_of(two));
    const auto out = nms.pass(make_batch(streams));
    ASSERT_NE(out, nullptr);
    EXPECT_THAT(rois(frames_of(out.get(), 0)[0]), SizeIs(1));
  }
  gst_harness_set_upstream_latency(nms.harness(), GST_SECOND);
  EXPECT_EQ(gst_harness_query_latency(nms.harness()), GST_SECOND);
  nms.set_caps(video_caps(640, 480));
  EXPECT_EQ(nms.pass(frame_of(two)), nullptr) << "a frame is";
  EXPECT_GT(gst_harness_query_latency(nms.harness()), GST_SECOND);
}

// As DL Streamer's multiplexer counts its sources on plain frames.
TEST(crowdnms_batch, metadata_without_objects_is_no_batch) {
  Ref<GstBuffer> frame = frame_of(two);
  add_batch(frame.get(), {{}, {}, {}});
  NmsHarness nms;
  const auto out = nms.pass(std::move(frame));
  EXPECT_THAT(rois(out.get()), SizeIs(1));
  EXPECT_EQ(nms.stat("frames"), 1u);
}

}  // namespace
