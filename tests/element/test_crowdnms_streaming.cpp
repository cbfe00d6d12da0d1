// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowdnms as a citizen of a pipeline: caps, events, queries, states.

#include <gmock/gmock.h>
#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/video/gstvideometa.h>

#include "count_allocations.hpp"
#include "nms_harness.hpp"

namespace {

using namespace crowd::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Frame memory that must not be mapped.
struct Untouchable {
  GstAllocator parent;
  unsigned maps;
};
struct UntouchableClass {
  GstAllocatorClass parent;
};
GType untouchable_get_type();
G_DEFINE_TYPE(Untouchable, untouchable, GST_TYPE_ALLOCATOR)

void untouchable_class_init(UntouchableClass* klass) {
  GST_ALLOCATOR_CLASS(klass)->free = [](GstAllocator*, GstMemory* memory) { g_free(memory); };
}

void untouchable_init(Untouchable* self) {
  auto* allocator = GST_ALLOCATOR(self);
  allocator->mem_type = "Untouchable";
  allocator->mem_map = [](GstMemory* memory, gsize, GstMapFlags) -> gpointer {
    reinterpret_cast<Untouchable*>(memory->allocator)->maps++;
    return nullptr;
  };
  allocator->mem_unmap = [](GstMemory*) {};
  GST_OBJECT_FLAG_SET(allocator, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

class crowdnms_caps : public testing::TestWithParam<const char*> {};

TEST_P(crowdnms_caps, clusters_without_mapping_the_frame) {
  auto* allocator = static_cast<Untouchable*>(g_object_new(untouchable_get_type(), nullptr));
  gst_object_ref_sink(allocator);
  NmsHarness nms("", video_caps(640, 480, GetParam()));
  auto* memory = g_new0(GstMemory, 1);
  gst_memory_init(memory, GST_MEMORY_FLAG_NO_SHARE, GST_ALLOCATOR(allocator), nullptr, 460800, 0, 0, 460800);
  Ref<GstBuffer> buffer(gst_buffer_new());
  gst_buffer_append_memory(buffer.get(), memory);
  add_boxes(buffer.get(), row_of_three, {});
  auto out = nms.pass(std::move(buffer));
  ASSERT_NE(out, nullptr);
  EXPECT_THAT(rois(out.get()), SizeIs(2));
  EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), memory);
  EXPECT_EQ(allocator->maps, 0u);
  const Ref<GstCaps> caps(gst_pad_get_current_caps(nms.harness()->sinkpad));
  const Ref<GstCaps> expected(gst_caps_from_string(video_caps(640, 480, GetParam()).c_str()));
  EXPECT_TRUE(gst_caps_is_equal(caps.get(), expected.get()));
  out.reset();
  gst_object_unref(allocator);
}

INSTANTIATE_TEST_SUITE_P(any_feature, crowdnms_caps,
                         testing::Values("", "memory:CUDAMemory", "memory:DMABuf", "memory:NVMM", "memory:GLMemory",
                                         "memory:SystemMemory, meta:GstVideoOverlayComposition"));

TEST(crowdnms_caps, everything_but_raw_video_is_refused) {
  NmsHarness nms("", "");
  const Ref<GstCaps> caps(gst_pad_query_caps(nms.harness()->srcpad, nullptr));
  const Ref<GstElement> element(GST_ELEMENT(gst_object_ref(nms.element())));
  GstPad* sink = gst_element_get_static_pad(element.get(), "sink");
  for (const char* other : {"audio/x-raw", "video/x-h264", "video/x-raw2"}) {
    const Ref<GstCaps> wrong(gst_caps_from_string(other));
    EXPECT_FALSE(gst_pad_query_accept_caps(sink, wrong.get())) << other;
  }
  gst_object_unref(sink);
}

TEST(crowdnms_caps, renegotiation_changes_the_frame_size) {
  NmsHarness nms;
  const std::vector<Candidate> wide = {{10, 20, 630, 400, 1}};
  const auto frame = [&] {
    auto buffer = make_frame(640, 480);
    add_boxes(buffer.get(), wide, {});
    return buffer;
  };
  EXPECT_THAT(rectangles(nms.pass(frame()).get()), ElementsAre("object@10,20,620,380"));
  nms.set_caps(video_caps(100, 50));
  EXPECT_THAT(rectangles(nms.pass(frame()).get()), ElementsAre("object@10,20,90,30"));
  nms.set_caps(video_caps(640, 480, "memory:CUDAMemory"));
  EXPECT_THAT(rectangles(nms.pass(frame()).get()), ElementsAre("object@10,20,620,380"));
}

TEST(crowdnms_caps, without_a_size_boxes_pass_and_one_warning_says_what_to_do) {
  NmsHarness nms("", "video/x-raw(memory:CUDAMemory)");
  const auto frame = [](unsigned width, unsigned height) {
    auto buffer = make_frame(640, 480);
    add_boxes(buffer.get(), std::vector<Candidate>{{-10, 20, 630, 4000, .5f}},
              {.frame_width = width, .frame_height = height});
    return buffer;
  };
  const auto unknown = nms.pass(frame(0, 0));
  EXPECT_THAT(rectangles(unknown.get()), ElementsAre("object@0,20,630,3980"));
  EXPECT_FALSE(rois(unknown.get())[0].x_min);
  EXPECT_EQ(rois(unknown.get())[0].confidence, .5);
  const auto known = nms.pass(frame(320, 240));  // the meta's size serves
  EXPECT_THAT(rectangles(known.get()), ElementsAre("object@0,20,320,220"));
  EXPECT_EQ(rois(known.get())[0].x_min, -10.0 / 320);
  const auto warning = pop_message(nms.bus(), GST_MESSAGE_WARNING);
  ASSERT_NE(warning, nullptr);
  EXPECT_THAT(message_text(warning.get()), HasSubstr("capsfilter"));
  EXPECT_EQ(pop_message(nms.bus(), GST_MESSAGE_WARNING), nullptr);
}

TEST(crowdnms_caps, without_a_size_normalised_regions_fall_back_to_their_rectangles) {
  NmsHarness nms("", "video/x-raw");
  auto buffer = make_frame(640, 480);
  for (const guint x : {10u, 12u, 200u}) {
    auto* roi = gst_buffer_add_video_region_of_interest_meta(buffer.get(), "face", x, 10, 40, 40);
    gst_video_region_of_interest_meta_add_param(
        roi, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, 1.0 / x, "x_min", G_TYPE_DOUBLE, .1, "x_max",
                               G_TYPE_DOUBLE, .2, "y_min", G_TYPE_DOUBLE, .1, "y_max", G_TYPE_DOUBLE, .2, nullptr));
  }
  EXPECT_THAT(rectangles(nms.pass(std::move(buffer)).get()), ElementsAre("face@10,10,40,40", "face@200,10,40,40"));
}

TEST(crowdnms_events, flush_and_eos_pass) {
  NmsHarness nms;
  nms.pass(row_of_three);
  gst_harness_push_event(nms.harness(), gst_event_new_flush_start());
  gst_harness_push_event(nms.harness(), gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(nms.harness(), gst_event_new_segment(&segment));
  EXPECT_THAT(rois(nms.pass(row_of_three).get()), SizeIs(2));
  EXPECT_TRUE(gst_harness_push_event(nms.harness(), gst_event_new_eos()));
  auto late = make_frame(640, 480);
  EXPECT_EQ(gst_harness_push(nms.harness(), late.release()), GST_FLOW_EOS);
  std::vector<GstEventType> types;
  while (GstEvent* event = gst_harness_try_pull_event(nms.harness())) {
    types.push_back(GST_EVENT_TYPE(event));
    gst_event_unref(event);
  }
  EXPECT_EQ(types.back(), GST_EVENT_EOS);
  EXPECT_THAT(types, testing::Contains(GST_EVENT_FLUSH_STOP));
}

TEST(crowdnms_events, frames_of_any_segment_and_without_timestamps_pass) {
  NmsHarness nms("post-messages=true");
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_BYTES);
  gst_harness_push_event(nms.harness(), gst_event_new_segment(&segment));
  auto buffer = make_frame(640, 480, GST_CLOCK_TIME_NONE);
  add_boxes(buffer.get(), row_of_three, {});
  EXPECT_THAT(rois(nms.pass(std::move(buffer)).get()), SizeIs(2));
  EXPECT_NE(pop_message(nms.bus(), GST_MESSAGE_ELEMENT), nullptr);
}

TEST(crowdnms_events, does_not_drop_late_frames) {
  NmsHarness nms;
  gboolean qos = TRUE;
  g_object_get(nms.element(), "qos", &qos, nullptr);
  EXPECT_FALSE(qos);
  EXPECT_FALSE(gst_base_transform_is_passthrough(GST_BASE_TRANSFORM(nms.element())));
  gst_harness_push_upstream_event(nms.harness(),
                                  gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 0.1, GST_SECOND, 10 * GST_SECOND));
  EXPECT_THAT(rois(nms.pass(row_of_three).get()), SizeIs(2));
}

TEST(crowdnms_allocation, advertises_what_it_reads_and_forwards_downstream) {
  NmsHarness nms;
  gst_harness_add_propose_allocation_meta(nms.harness(), GST_VIDEO_CROP_META_API_TYPE, nullptr);
  GstAllocator* allocator = gst_allocator_find(nullptr);
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = 63;
  gst_harness_set_propose_allocator(nms.harness(), GST_ALLOCATOR(gst_object_ref(allocator)), &params);
  const Ref<GstCaps> caps(gst_pad_get_current_caps(nms.harness()->srcpad));
  const Ref<GstQuery> query(gst_query_new_allocation(caps.get(), FALSE));
  ASSERT_TRUE(gst_pad_peer_query(nms.harness()->srcpad, query.get()));
  EXPECT_TRUE(gst_query_find_allocation_meta(query.get(), GST_CROWD_BOXES_META_API_TYPE, nullptr));
  EXPECT_TRUE(gst_query_find_allocation_meta(query.get(), GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE, nullptr));
  EXPECT_TRUE(gst_query_find_allocation_meta(query.get(), GST_VIDEO_CROP_META_API_TYPE, nullptr));
  ASSERT_EQ(gst_query_get_n_allocation_params(query.get()), 1u);
  GstAllocationParams proposed;
  gst_query_parse_nth_allocation_param(query.get(), 0, nullptr, &proposed);
  EXPECT_EQ(proposed.align, 63u);
  gst_object_unref(allocator);
}

TEST(crowdnms_steady_state, allocates_nothing_and_is_silent) {
  for (const char* properties : {"mode=replace", "mode=annotate", "method=map-reduce", "method=paper"}) {
    NmsHarness nms(properties);
    const auto frame = [] {
      auto buffer = make_frame(640, 480);
      add_boxes(buffer.get(), row_of_three, {});
      return buffer;
    };
    const auto region_frame = [] {
      auto buffer = make_frame(640, 480);
      for (guint i = 0; i < 3; i++)
        gst_video_region_of_interest_meta_add_param(
            gst_buffer_add_video_region_of_interest_meta(buffer.get(), "face", 10 + i, 10, 40, 40),
            gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, .5, nullptr));
      return buffer;
    };
    nms.pass(frame());
    nms.pass(region_frame());
    const LogCounter warnings("crowdnms", GST_LEVEL_WARNING), infos("crowdnms", GST_LEVEL_INFO),
        debugs("crowdnms", GST_LEVEL_DEBUG);
    for (int i = 0; i < 10; i++) {
      auto boxes = frame();
      auto regions = region_frame();
      const unsigned before = allocations();
      const auto out = nms.pass(std::move(boxes));
      const auto out_regions = nms.pass(std::move(regions));
      EXPECT_EQ(allocations(), before) << properties;
    }
    EXPECT_EQ(warnings.count() + infos.count() + debugs.count(), 0u) << properties;
  }
}

TEST(crowdnms_states, survive_a_hundred_changes) {
  const Ref<GstElement> pipeline(
      gst_parse_launch("videotestsrc num-buffers=2 ! video/x-raw,width=64,height=48 ! "
                       "crowdnms ! fakesink",
                       nullptr));
  gst_object_ref_sink(pipeline.get());
  constexpr GstState states[] = {GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING, GST_STATE_NULL,
                                 GST_STATE_PAUSED};
  for (int i = 0; i < 100; i++) {
    const GstState state = states[i % 5];
    ASSERT_NE(gst_element_set_state(pipeline.get(), state), GST_STATE_CHANGE_FAILURE) << i;
    if (i % 3 == 0) {
      ASSERT_NE(gst_element_get_state(pipeline.get(), nullptr, nullptr, 10 * GST_SECOND), GST_STATE_CHANGE_FAILURE);
    }
  }
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}

TEST(crowdnms_states, clusters_again_after_a_hundred_restarts) {
  NmsHarness nms;
  for (int i = 0; i < 100; i++) {
    ASSERT_EQ(gst_element_set_state(nms.element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
    ASSERT_EQ(gst_element_set_state(nms.element(), GST_STATE_PLAYING), GST_STATE_CHANGE_SUCCESS);
  }
  gst_harness_push_event(nms.harness(), gst_event_new_stream_start("again"));
  nms.set_caps(video_caps(640, 480));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(nms.harness(), gst_event_new_segment(&segment));
  EXPECT_THAT(rois(nms.pass(row_of_three).get()), SizeIs(2));
}

}  // namespace
