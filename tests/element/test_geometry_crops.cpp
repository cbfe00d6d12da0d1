// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Where boxes and regions are behind videocrop, and on frames that it leaves whole with a GstVideoCropMeta.

#include <gmock/gmock.h>
#include <gst/video/gstvideometa.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "geometry_chain.hpp"

using namespace crowd::test;

namespace {

/// A region of interest with a detection, from another detector.
void add_region(GstBuffer* buffer) {
  gst_video_region_of_interest_meta_add_param(
      gst_buffer_add_video_region_of_interest_meta(buffer, "person", 380, 300, 50, 70),
      gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, .9, nullptr));
}

// Where videocrop leaves some, as from GStreamer 1.28 on.
void drop_rois(GstBuffer* buffer) {
  while (GstMeta* roi = gst_buffer_get_meta(buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
    gst_buffer_remove_meta(buffer, roi);
}

TEST(geometry_of_regions, on_a_cropped_frame_is_unknown_and_they_are_dropped) {
  for (const char* reader : {"crowdnms", "crowdnms meta-output=boxes"}) {
    Chain chain(std::string("identity ! videocrop left=100 top=50 ! ") + reader + " ! " + overlay, true);
    const auto without = chain.pass(false);
    GstBuffer* buffer = gst_harness_create_buffer(chain.harness(), width * height * 3 / 2);
    gst_buffer_memset(buffer, 0, 96, gst_buffer_get_size(buffer));
    add_region(buffer);
    const Ref<GstBuffer> with(gst_harness_push_and_pull(chain.harness(), buffer));
    EXPECT_THAT(difference(with.get(), without.get(), chain.info()), testing::IsEmpty());
    EXPECT_THAT(chain.warnings(), testing::ElementsAre(testing::HasSubstr("GstVideoCropMeta")));
  }
}

TEST(geometry_of_regions, of_a_crowdnms_before_a_crop_is_not_mistaken_by_a_second_one) {
  Chain chain(std::string("crowdnms ! videocrop left=100 top=50 ! crowdnms ! ") + overlay, true);
  const auto without = chain.pass(false);
  const auto with = chain.pass(true);
  EXPECT_THAT(difference(with.get(), without.get(), chain.info()), testing::IsEmpty());
  EXPECT_THAT(chain.warnings(), testing::SizeIs(1));
}

TEST(geometry_of_regions, that_come_after_the_trail_is_their_own) {
  Chain first("crowdnms ! videocrop left=100");
  const auto cropped = first.pass(true);
  drop_rois(cropped.get());
  Chain second(overlay);
  gst_harness_set_src_caps_str(second.harness(), "video/x-raw,format=I420,width=540,height=480,framerate=25/1");
  const auto again = [&](bool region) {
    GstBuffer* buffer = gst_buffer_copy_deep(cropped.get());
    if (region)
      add_region(buffer);
    return Ref<GstBuffer>(gst_harness_push_and_pull(second.harness(), buffer));
  };
  const auto with = again(true);
  EXPECT_THAT(second.warnings(), testing::IsEmpty());
  EXPECT_THAT(difference(with.get(), cropped.get(), second.info()), testing::ElementsAre(Rect{380, 300, 50, 70}));
}

/// Of a frame that a GstVideoCropMeta crops.
Place regions_of(GstBuffer* buffer) {
  EXPECT_NE(gst_buffer_get_video_crop_meta(buffer), nullptr);
  Place all;
  for (const Roi& roi : rois(buffer))
    all.push_back({int(roi.x), int(roi.y), int(roi.w), int(roi.h)});
  return all;
}

TEST(geometry_of_cropped_frames, of_candidates_attached_before_is_that_of_what_is_shown) {
  Chain chain("identity ! videocrop left=100 top=50 ! crowdnms", true);
  const auto out = chain.pass(true);
  EXPECT_THAT(regions_of(out.get()), testing::ElementsAre(Rect{280, 250, 50, 70}));
  EXPECT_EQ(rois(out.get())[0].x_min, 280. / 540);
  EXPECT_THAT(chain.warnings(), testing::IsEmpty());
}

TEST(geometry_of_cropped_frames, is_drawn_where_the_object_is_and_nowhere_else) {
  for (const char* crop : {"left=100 top=50", "left=101 top=51", "left=400 top=302", "right=220 bottom=140"}) {
    for (const char* output : {"roi", "boxes"}) {
      SCOPED_TRACE(std::string(crop) + ' ' + output);
      Chain chain(std::string("videocrop ") + crop + " ! crowdnms meta-output=" + output + " ! " + overlay, true);
      const auto without = chain.pass(false);
      const auto with = chain.pass(true);
      const GstVideoCropMeta* shown = gst_buffer_get_video_crop_meta(with.get());
      ASSERT_NE(shown, nullptr);
      // The picture is still whole: the object is drawn as far as it is shown.
      const int x1 = std::max(380, int(shown->x)), x2 = std::min(430, int(shown->x + shown->width));
      const int y1 = std::max(300, int(shown->y)), y2 = std::min(370, int(shown->y + shown->height));
      EXPECT_THAT(difference(with.get(), without.get(), chain.info()),
                  testing::ElementsAre(Rect{x1, y1, x2 - x1, y2 - y1}));
      EXPECT_THAT(chain.warnings(), testing::IsEmpty());
    }
  }
}

TEST(geometry_of_cropped_frames, of_survivors_from_before_is_that_of_what_is_shown) {
  for (const char* output : {"roi", "boxes", "all"}) {
    SCOPED_TRACE(output);
    Chain chain(std::string("crowdnms meta-output=") + output + " ! videocrop left=100 top=50 ! " + overlay, true);
    const auto without = chain.pass(false);
    const auto with = chain.pass(true);
    EXPECT_THAT(difference(with.get(), without.get(), chain.info()), testing::ElementsAre(Rect{380, 300, 50, 70}));
    EXPECT_THAT(chain.warnings(), testing::IsEmpty());
  }
}

TEST(geometry_of_cropped_frames, adds_up) {
  Chain chain("videocrop left=100 top=50 ! identity ! videocrop left=30 bottom=10 ! crowdnms", true);
  EXPECT_THAT(regions_of(chain.pass(true).get()), testing::ElementsAre(Rect{250, 250, 50, 70}));
}

}  // namespace
