// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gmock/gmock.h>
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>
#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/video/gstvideometa.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "memory_limit.hpp"
#include "overlay_harness.hpp"

namespace {

using namespace crowd::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// Red outlines of a pixel, blue ones for candidates, no text.
const std::string plain =
    "color=0xffff0000 candidate-color=0xff0000ff thickness=1 draw-labels=false draw-scores=false draw-counts=false ";

void add_verdict(GstVideoRegionOfInterestMeta* region, bool kept, unsigned members = 1) {
  gst_video_region_of_interest_meta_add_param(
      region, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, 0.75, "label_id", G_TYPE_INT, 0, nullptr));
  gst_video_region_of_interest_meta_add_param(
      region,
      gst_structure_new("nms", "cluster-id", G_TYPE_INT, 0, "members", G_TYPE_UINT, members, "score", G_TYPE_DOUBLE,
                        0.75, "suppressed", G_TYPE_UINT, members - 1, "kept", G_TYPE_BOOLEAN, gboolean{kept}, nullptr));
}

TEST(crowdoverlay, writes_outlines_and_nothing_else_in_every_format) {
  for (const char* format : drawn_formats) {
    const Overlay overlay(plain, format);
    auto buffer = noise(format);
    add_region(buffer.get(), 10, 7, 31, 22);
    const auto out = overlay.pass(std::move(buffer));
    ASSERT_NE(out, nullptr) << format;
    EXPECT_EQ(bytes_of(out.get()), noise_with({outline(10, 7, 41, 29, red)}, format)) << format;
    EXPECT_NE(bytes_of(out.get()), noise_with({}, format)) << format;
  }
}

TEST(crowdoverlay, leaves_frames_without_detections_alone) {
  const Overlay overlay("show=both");
  auto buffer = noise();
  GstMemory* memory = gst_buffer_peek_memory(buffer.get(), 0);
  const Ref<GstBuffer> held(gst_buffer_ref(buffer.get()));
  const auto out = overlay.pass(std::move(buffer));
  EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), memory) << "copied for nothing";
  EXPECT_EQ(bytes_of(out.get()), noise_with({}));
}

TEST(crowdoverlay, draws_in_place_where_it_may) {
  const Overlay overlay(plain);
  auto buffer = noise();
  add_region(buffer.get(), 10, 7, 31, 22);
  GstMemory* memory = gst_buffer_peek_memory(buffer.get(), 0);
  const auto out = overlay.pass(std::move(buffer));
  EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), memory);
}

TEST(crowdoverlay, does_not_draw_on_the_frame_of_others) {
  const Overlay overlay(plain);
  auto buffer = noise();
  add_region(buffer.get(), 10, 7, 31, 22);
  const Ref<GstBuffer> held(gst_buffer_ref(buffer.get()));
  const auto out = overlay.pass(std::move(buffer));
  EXPECT_EQ(bytes_of(held.get()), noise_with({}));
  EXPECT_EQ(bytes_of(out.get()), noise_with({outline(10, 7, 41, 29, red)}));
}

/// A frame with a candidate that is suppressed and one that is kept.
Ref<GstBuffer> frame_with_regions() {
  auto buffer = noise();
  add_verdict(add_region(buffer.get(), 2, 2, 20, 20), false);
  add_verdict(add_region(buffer.get(), 5, 4, 22, 18), true, 3);
  return buffer;
}

/// As crowdnms mode=annotate leaves it: the boxes are still there, with one that is below the score threshold.
Ref<GstBuffer> frame_with_all() {
  auto buffer = frame_with_regions();
  const Candidate candidates[] = {{2, 2, 22, 22, 0.75F}, {5, 4, 27, 22, 0.75F}, {40, 10, 70, 48, 0.5F}};
  add_boxes(buffer.get(), candidates, {.frame_width = width, .frame_height = height});
  return buffer;
}

TEST(crowdoverlay, shows_survivors_candidates_or_both) {
  const auto suppressed = outline(2, 2, 22, 22, blue);
  const auto kept = outline(5, 4, 27, 22, red);
  const auto kept_box = outline(5, 4, 27, 22, blue);
  const auto candidate = outline(40, 10, 70, 48, blue);
  const auto shown = [](const std::string& show) {
    return bytes_of(Overlay(plain + "show=" + show).pass(frame_with_all()).get());
  };
  EXPECT_EQ(shown("survivors"), noise_with({kept}));
  EXPECT_EQ(shown("candidates"), noise_with({suppressed, kept_box, candidate}));
  EXPECT_EQ(shown("both"), noise_with({suppressed, kept_box, candidate, kept}));
  const Overlay overlay(plain + "show=both");
  EXPECT_EQ(bytes_of(overlay.pass(frame_with_regions()).get()), noise_with({suppressed, kept}));
}

TEST(crowdoverlay, counts_what_it_draws_once) {
  const Overlay overlay("show=both");
  overlay.pass(frame_with_all());
  overlay.pass(frame_with_regions());
  overlay.pass(noise());
  EXPECT_EQ(overlay.stat("frames"), 3u);
  EXPECT_EQ(overlay.stat("survivors"), 2u);
  EXPECT_EQ(overlay.stat("candidates"), 3u + 1);
  EXPECT_EQ(overlay.stat("failures"), 0u);
}

TEST(crowdoverlay, follows_the_placement_of_candidates) {
  auto buffer = noise();
  const Candidate candidate = {20, 10, 60, 30, 0.5F};
  add_boxes(buffer.get(), std::span(&candidate, 1),
            {.frame_width = width, .frame_height = height, .placement = {{.5, 0, 0, 0, 1, 0}}});
  const auto out = Overlay(plain + "show=candidates").pass(std::move(buffer));
  EXPECT_EQ(bytes_of(out.get()), noise_with({outline(10, 10, 30, 30, blue)}));
}

TEST(crowdoverlay, draws_no_hints_for_encoders) {
  auto buffer = noise();
  gst_video_region_of_interest_meta_add_param(
      add_region(buffer.get(), 1, 1, 9, 9), gst_structure_new("roi/x264enc", "delta-qp", G_TYPE_DOUBLE, -1.0, nullptr));
  const auto out = Overlay(plain).pass(std::move(buffer));
  EXPECT_EQ(bytes_of(out.get()), noise_with({}));
  EXPECT_EQ(count_metas(out.get(), GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), 1u);
}

TEST(crowdoverlay, clips_regions_at_the_frame) {
  auto buffer = noise();
  add_region(buffer.get(), 60, 40, G_MAXUINT, G_MAXUINT);
  add_region(buffer.get(), G_MAXUINT, 0, 5, 5);
  add_region(buffer.get(), 3, 3, 0, 9);
  const auto out = Overlay(plain).pass(std::move(buffer));
  EXPECT_EQ(bytes_of(out.get()), noise_with({outline(60, 40, 1000, 1000, red)}));
}

TEST(crowdoverlay, draws_labels_scores_and_counts) {
  const auto changed = [](const std::string& properties) {
    const auto before = noise_with({});
    const auto out = bytes_of(Overlay("color=0xff000000 " + properties).pass(frame_with_all()).get());
    std::size_t n = 0;
    for (std::size_t i = 0; i < before.size(); i++)
      n += before[i] != out[i];
    return n;
  };
  const auto none = changed("draw-labels=false draw-scores=false");
  const auto count = changed("draw-labels=false draw-scores=false draw-counts=true");
  const auto score = changed("draw-labels=false draw-counts=true");
  const auto label = changed("draw-counts=true");
  const auto large = changed("draw-counts=true font-scale=2");
  EXPECT_LT(none, count);
  EXPECT_LT(count, score);
  EXPECT_LT(score, label);
  EXPECT_LT(label, large);
  EXPECT_LT(none, changed("draw-labels=false draw-scores=false draw-counts=false draw-summary=true"));
}

TEST(crowdoverlay, lets_frames_with_broken_candidates_go_on) {
  const Overlay overlay(plain + "show=both");
  ElementBus bus(overlay.element().get());
  for (int i = 0; i < 3; i++) {
    auto buffer = noise();
    add_region(buffer.get(), 10, 7, 31, 22);
    gst_buffer_add_crowd_boxes_meta(buffer.get(), gst_allocator_alloc(nullptr, 64, nullptr), 1000, width, height,
                                    nullptr);
    const auto out = overlay.pass(std::move(buffer));
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(bytes_of(out.get()), noise_with({outline(10, 7, 41, 29, red)}));
  }
  EXPECT_EQ(overlay.stat("failures"), 3u);
  EXPECT_THAT(bus.warnings(), ElementsAre(AllOf(HasSubstr("too small"), HasSubstr("failures in stats"))));
}

TEST(crowdoverlay, lets_frames_go_on_with_more_boxes_than_there_is_memory_for) {
  if (!MemoryLimit::limits_work)
    GTEST_SKIP() << "a sanitizer";
  const Overlay overlay(plain + "show=both");
  ElementBus bus(overlay.element().get());
  for (int i = 0; i < 2; i++) {
    auto buffer = noise();
    add_boxes(buffer.get(), std::vector<Candidate>(2'000'000, {2, 2, 22, 22, 0.5F}), {});
    const MemoryLimit limit(48 << 20);
    const auto out = overlay.pass(std::move(buffer));
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(bytes_of(out.get()), noise_with({}));
  }
  EXPECT_EQ(overlay.stat("failures"), 2u);
  EXPECT_THAT(bus.warnings(), ElementsAre(HasSubstr("show=survivors")));
  EXPECT_EQ(bytes_of(overlay.pass(frame_with_regions()).get()),
            noise_with({outline(2, 2, 22, 22, blue), outline(5, 4, 27, 22, red)}));
}

TEST(crowdoverlay, takes_a_count_above_the_capacity) {
  auto buffer = noise();
  const Candidate candidate = {40, 10, 70, 48, 0.5F};
  add_boxes(buffer.get(), std::span(&candidate, 1), {.count = 1000});
  const Overlay overlay(plain + "show=candidates");
  EXPECT_EQ(bytes_of(overlay.pass(std::move(buffer)).get()), noise_with({outline(40, 10, 70, 48, blue)}));
}

TEST(crowdoverlay, lets_frames_go_on_that_cannot_be_mapped) {
  const Overlay overlay(plain);
  ElementBus bus(overlay.element().get());
  for (int i = 0; i < 3; i++) {
    Ref<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, 100, nullptr));
    add_region(buffer.get(), 10, 7, 31, 22);
    EXPECT_NE(overlay.pass(std::move(buffer)), nullptr);
  }
  EXPECT_EQ(overlay.stat("failures"), 3u);
  EXPECT_THAT(bus.warnings(), ElementsAre(AllOf(HasSubstr("100 bytes"), HasSubstr("rawvideoparse"))));
}

TEST(crowdoverlay, draws_on_frames_of_any_size) {
  for (const char* format : drawn_formats)
    for (const auto& [w, h] : {std::pair{1u, 1u}, {1u, 60u}, {60u, 1u}, {17u, 9u}}) {
      auto buffer = noise(format, w, h);
      add_verdict(add_region(buffer.get(), 0, 0, w, h), true, 12345);
      const auto out = Overlay("draw-summary=true font-scale=3 thickness=9", format, w, h).pass(std::move(buffer));
      ASSERT_NE(out, nullptr) << format;
      EXPECT_NE(bytes_of(out.get()), noise_with({}, format, w, h)) << format << " " << w << "x" << h;
    }
}

TEST(crowdoverlay, obeys_properties_while_playing) {
  const Overlay overlay(plain);
  const auto pass = [&overlay] {
    auto buffer = noise();
    add_region(buffer.get(), 10, 7, 31, 22);
    return bytes_of(overlay.pass(std::move(buffer)).get());
  };
  EXPECT_EQ(pass(), noise_with({outline(10, 7, 41, 29, red)}));
  g_object_set(overlay.element().get(), "color", "#123456", nullptr);
  EXPECT_EQ(pass(), noise_with({outline(10, 7, 41, 29, 0x123456)}));
  gst_util_set_object_arg(G_OBJECT(overlay.element().get()), "show", "candidates");
  EXPECT_EQ(pass(), noise_with({}));
}

TEST(crowdoverlay, properties_follow_a_controller) {
  const Overlay overlay(plain);
  GstControlSource* source = gst_interpolation_control_source_new();
  g_object_set(source, "mode", GST_INTERPOLATION_MODE_NONE, nullptr);
  gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), 0, 1);
  gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), GST_SECOND, 64);
  const auto element = overlay.element();
  gst_object_add_control_binding(GST_OBJECT(element.get()), gst_direct_control_binding_new_absolute(
                                                                GST_OBJECT(element.get()), "thickness", source));
  gst_object_unref(source);
  const auto thickness = [&](GstClockTime pts) {
    auto buffer = noise();
    GST_BUFFER_PTS(buffer.get()) = pts;
    overlay.pass(std::move(buffer));
    gint value = 0;
    g_object_get(element.get(), "thickness", &value, nullptr);
    return value;
  };
  EXPECT_EQ(thickness(0), 1);
  EXPECT_EQ(thickness(GST_SECOND), 64);
}

TEST(crowdoverlay, follows_new_caps) {
  const Overlay overlay(plain);
  overlay.pass(noise());
  GstVideoInfo info = video_info("RGB", 40, 30);
  gst_harness_set_src_caps(overlay.harness.get(), gst_video_info_to_caps(&info));
  auto buffer = noise("RGB", 40, 30);
  add_region(buffer.get(), 4, 5, 20, 10);
  EXPECT_EQ(bytes_of(overlay.pass(std::move(buffer)).get()), noise_with({outline(4, 5, 24, 15, red)}, "RGB", 40, 30));
}

TEST(crowdoverlay, refuses_caps_without_a_size_and_other_memory) {
  for (const char* caps : {"video/x-raw,format=I420,framerate=25/1",
                           "video/x-raw(memory:GLMemory),format=NV12,width=64,height=48,framerate=25/1",
                           "video/x-raw,format=I420_12LE,width=64,height=48,framerate=25/1"}) {
    const Ref<GstHarness> harness(gst_harness_new("crowdoverlay"));
    gst_harness_set_src_caps_str(harness.get(), caps);
    EXPECT_EQ(gst_harness_push(harness.get(), gst_buffer_new_allocate(nullptr, 64, nullptr)), GST_FLOW_NOT_NEGOTIATED)
        << caps;
  }
}

TEST(crowdoverlay, survives_a_hundred_state_changes) {
  const Overlay overlay(plain);
  for (int i = 0; i < 100; i++) {
    ASSERT_NE(gst_element_set_state(overlay.element().get(), GST_STATE_NULL), GST_STATE_CHANGE_FAILURE);
    ASSERT_NE(gst_element_set_state(overlay.element().get(), GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
  }
}

TEST(crowdoverlay, documents_its_properties) {
  expect_documented_properties("crowdoverlay");
}

}  // namespace
