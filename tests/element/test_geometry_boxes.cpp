// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Where boxes are, and the truth beside them, behind elements that change the picture.

#include <gmock/gmock.h>
#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gtest/gtest.h>

#include <span>
#include <string>

#include "geometry_chain.hpp"
#include "inject/gstcrowdtruth.hpp"

using namespace crowd::test;

namespace {

TEST(geometry_of_boxes, of_a_frame_of_another_size_is_refused) {
  Chain chain("crowdnms");
  GstBuffer* buffer = gst_harness_create_buffer(chain.harness(), width * height * 3 / 2);
  add_boxes(buffer, std::span(&object, 1), {.frame_width = 1280, .frame_height = 960});
  const Ref<GstBuffer> out(gst_harness_push_and_pull(chain.harness(), buffer));
  EXPECT_THAT(rois(out.get()), testing::IsEmpty());
  EXPECT_THAT(chain.warnings(), testing::ElementsAre(testing::HasSubstr("put crowdnms before")));
}

TEST(geometry_of_boxes, survives_scalers_after_a_placement_of_the_detector) {
  Chain chain("videoscale ! video/x-raw,width=320,height=240 ! crowdnms");
  GstBuffer* buffer = gst_harness_create_buffer(chain.harness(), width * height * 3 / 2);
  add_boxes(buffer, std::span(&object, 1),
            {.frame_width = width, .frame_height = height, .placement = {{2, 0, -600, 0, 2, -500}}});
  const Ref<GstBuffer> out(gst_harness_push_and_pull(chain.harness(), buffer));
  ASSERT_THAT(rois(out.get()), testing::SizeIs(1));
  const Roi roi = rois(out.get())[0];
  EXPECT_EQ((Rect{int(roi.x), int(roi.y), int(roi.w), int(roi.h)}), (Rect{80, 50, 50, 70}));
}

TEST(geometry_of_boxes, that_were_removed_are_not_lost) {
  auto buffer = make_frame(width, height);
  add_boxes(buffer.get(), std::span(&object, 1), {.frame_width = width, .frame_height = height});
  EXPECT_FALSE(gst_crowd_boxes_lost(buffer.get(), GST_CROWD_BOXES_CANDIDATES));
  Ref<GstBuffer> kept(gst_buffer_copy(buffer.get()));
  gst_buffer_remove_crowd_boxes_meta(buffer.get(), gst_buffer_get_crowd_boxes_meta(buffer.get()));
  EXPECT_FALSE(gst_crowd_boxes_lost(buffer.get(), GST_CROWD_BOXES_CANDIDATES));
  gst_buffer_remove_meta(kept.get(), &gst_buffer_get_crowd_boxes_meta(kept.get())->meta);
  EXPECT_TRUE(gst_crowd_boxes_lost(kept.get(), GST_CROWD_BOXES_CANDIDATES));
}

TEST(geometry_of_the_truth, is_that_of_the_scene_or_it_is_gone) {
  const auto has_truth = [](const std::string& elements) {
    const Ref<GstHarness> harness(gst_harness_new_parse(("crowdinject ! " + elements + " ! identity").c_str()));
    gst_harness_set_src_caps_str(harness.get(), input_caps.c_str());
    GstBuffer* buffer = gst_harness_create_buffer(harness.get(), width * height * 3 / 2);
    const Ref<GstBuffer> out(gst_harness_push_and_pull(harness.get(), buffer));
    return gst_crowd_truth_get(out.get()).has_value();
  };
  EXPECT_TRUE(has_truth("videoconvert ! video/x-raw,format=BGRA"));
  EXPECT_TRUE(has_truth("videoscale ! video/x-raw,width=320,height=240,pixel-aspect-ratio=1/1"));
  EXPECT_FALSE(has_truth("videoscale ! video/x-raw,width=640,height=640,pixel-aspect-ratio=1/1"));
  EXPECT_FALSE(has_truth("videoflip video-direction=horiz"));
  EXPECT_FALSE(has_truth("videocrop left=10"));
}

TEST(geometry_of_boxes, is_followed_where_only_one_of_several_converters_scales) {
  for (const char* elements :
       {"videoconvert ! videoscale add-borders=false ! video/x-raw,width=640,height=960,pixel-aspect-ratio=1/1 ! "
        "videoconvert ! video/x-raw,format=BGRA ! crowdnms",
        "crowdnms meta-output=boxes ! videoscale add-borders=false ! "
        "video/x-raw,width=640,height=960,pixel-aspect-ratio=1/1 ! videoconvert ! video/x-raw,format=BGRA ! "
        "identity"}) {
    Chain chain(elements);
    const auto out = chain.pass(true);
    EXPECT_TRUE(!rois(out.get()).empty() || gst_buffer_get_crowd_survivors_meta(out.get())) << elements;
    for (const Roi& roi : rois(out.get()))
      EXPECT_EQ((Rect{int(roi.x), int(roi.y), int(roi.w), int(roi.h)}), (Rect{380, 600, 50, 140}));
    EXPECT_THAT(chain.warnings(), testing::IsEmpty()) << elements;
  }
}

TEST(geometry_of_boxes, of_a_kind_that_no_trail_knows_is_not_lost) {
  auto buffer = make_frame(width, height);
  add_boxes(buffer.get(), std::span(&object, 1), {.frame_width = width, .frame_height = height});
  EXPECT_FALSE(gst_crowd_boxes_lost(buffer.get(), static_cast<GstCrowdBoxesKind>(77)));
}

TEST(geometry_of_boxes, of_which_one_of_two_was_removed_may_still_be_lost) {
  auto buffer = make_frame(width, height);
  for (int i = 0; i < 2; i++)
    add_boxes(buffer.get(), std::span(&object, 1), {.frame_width = width, .frame_height = height});
  gst_buffer_remove_crowd_boxes_meta(buffer.get(), gst_buffer_get_crowd_boxes_meta(buffer.get()));
  gst_buffer_remove_meta(buffer.get(), &gst_buffer_get_crowd_boxes_meta(buffer.get())->meta);
  EXPECT_TRUE(gst_crowd_boxes_lost(buffer.get(), GST_CROWD_BOXES_CANDIDATES));
}

TEST(geometry_of_boxes, is_that_of_the_last_crowdnms) {
  Chain chain(std::string("crowdnms meta-output=boxes ! videocrop left=100 ! crowdinject truth=false ! crowdnms ! ") +
              overlay);
  chain.pass(true);
  EXPECT_THAT(chain.warnings(), testing::IsEmpty());
}

}  // namespace
