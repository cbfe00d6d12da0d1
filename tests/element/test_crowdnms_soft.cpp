// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowdnms with methods that lower scores: which scores survivors leave with, in each kind of metadata.

#include <gmock/gmock.h>
#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/video/gstvideometa.h>

#include <cmath>

#include "nms_harness.hpp"
#if CROWD_HAVE_ANALYTICS
#include "analytics_support.hpp"
#endif

namespace {

using namespace crowd::test;
using testing::ElementsAre;
using testing::FloatEq;
using testing::IsEmpty;
using testing::SizeIs;

/// IoU of 0.5, and one apart from both.
const std::vector<Candidate> pair_and_one = {
    {100, 50, 180, 90, .8f}, {100, 50, 140, 90, .6f}, {300, 200, 380, 290, .4f}};

std::vector<float> confidences(GstBuffer* buffer) {
  std::vector<float> all;
  for (const Roi& roi : rois(buffer))
    all.push_back(float(roi.confidence.value_or(-1)));
  return all;
}

TEST(crowdnms_soft, survivors_leave_with_what_is_left) {
  NmsHarness nms("method=soft-linear iou-threshold=0.3 score-threshold=0.1 meta-output=roi");
  const auto out = nms.pass(pair_and_one);
  EXPECT_THAT(rectangles(out.get()), SizeIs(3));
  EXPECT_THAT(confidences(out.get()), ElementsAre(FloatEq(.8f), FloatEq(.4f), FloatEq(.3f)))
      << "in the order of the new scores";
  const auto regions = rois(out.get());
  EXPECT_FLOAT_EQ(float(regions[2].score), .6f * .5f);
  EXPECT_EQ(nms.stat("survivors"), 3u);
  EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
}

TEST(crowdnms_soft, what_falls_below_the_threshold_is_suppressed) {
  NmsHarness nms("method=soft-linear iou-threshold=0.3 score-threshold=0.35 meta-output=roi");
  EXPECT_THAT(rectangles(nms.pass(pair_and_one).get()), SizeIs(2));
  EXPECT_EQ(nms.stat("suppressed"), 1u);
  EXPECT_EQ(nms.stat("below-threshold"), 0u);
}

TEST(crowdnms_soft, sigma_is_set_while_it_plays) {
  NmsHarness nms("method=soft-gaussian score-threshold=0.01 sigma=0.25 meta-output=roi");
  for (const float sigma : {.25f, .5f, 2.f}) {
    g_object_set(nms.element(), "sigma", double(sigma), nullptr);
    const auto out = nms.pass(pair_and_one);
    double second = 0;
    for (const Roi& roi : rois(out.get())) {
      if (roi.w == 40)
        second = roi.score;
    }
    EXPECT_NEAR(second, .6 * std::exp(-.25 / sigma), 1e-6);
  }
}

TEST(crowdnms_soft, boxes_have_the_new_scores) {
  NmsHarness nms("method=matrix-linear score-threshold=0.1 meta-output=boxes");
  const auto out = nms.pass(pair_and_one);
  GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_survivors_meta(out.get());
  ASSERT_NE(meta, nullptr);
  GstCrowdBoxesMap map;
  ASSERT_TRUE(gst_crowd_boxes_map_memory(&map, meta->memory, meta->capacity, GST_MAP_READ));
  EXPECT_THAT(std::vector<float>(map.scores, map.scores + *map.count),
              ElementsAre(FloatEq(.8f), FloatEq(.4f), FloatEq(.3f)));
  gst_crowd_boxes_unmap(&map);
}

TEST(crowdnms_soft, regions_are_given_the_new_confidence) {
  for (const GType type : {G_TYPE_DOUBLE, G_TYPE_FLOAT}) {
    NmsHarness nms("method=soft-linear iou-threshold=0.3 score-threshold=0.1");
    Ref<GstBuffer> buffer = make_frame(640, 480);
    for (const Candidate& c : pair_and_one) {
      auto* roi = gst_buffer_add_video_region_of_interest_meta(buffer.get(), "person", guint(c.x1), guint(c.y1),
                                                               guint(c.x2 - c.x1), guint(c.y2 - c.y1));
      gst_video_region_of_interest_meta_add_param(
          roi, gst_structure_new("detection", "confidence", type, double(c.score), nullptr));
    }
    const auto out = nms.pass(std::move(buffer));
    EXPECT_THAT(confidences(out.get()), ElementsAre(FloatEq(.8f), FloatEq(.3f), FloatEq(.4f)))
        << "regions stay in their order";
    gpointer state = nullptr;
    auto* first = reinterpret_cast<GstVideoRegionOfInterestMeta*>(
        gst_buffer_iterate_meta_filtered(out.get(), &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE));
    EXPECT_TRUE(gst_structure_has_field_typed(gst_video_region_of_interest_meta_get_param(first, "detection"),
                                              "confidence", type));
  }
}

TEST(crowdnms_soft, hard_methods_leave_confidences_alone) {
  NmsHarness nms;
  Ref<GstBuffer> buffer = make_frame(640, 480);
  auto* roi = gst_buffer_add_video_region_of_interest_meta(buffer.get(), "person", 10, 10, 20, 20);
  gst_video_region_of_interest_meta_add_param(
      roi, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, .123456789012, nullptr));
  EXPECT_EQ(rois(nms.pass(std::move(buffer)).get())[0].confidence, .123456789012);
}

TEST(crowdnms_soft, annotated_candidates_that_are_dropped_keep_theirs) {
  NmsHarness nms("method=soft-linear iou-threshold=0.3 score-threshold=0.35 mode=annotate meta-output=roi");
  const auto out = nms.pass(pair_and_one);
  EXPECT_THAT(confidences(out.get()), ElementsAre(FloatEq(.8f), FloatEq(.6f), FloatEq(.4f)));
  const auto regions = rois(out.get());
  EXPECT_FALSE(regions[1].kept);
  EXPECT_EQ(regions[1].cluster_id, 0);
}

#if CROWD_HAVE_ANALYTICS
TEST(crowdnms_soft, objects_of_analytics_are_given_the_new_confidence) {
  NmsHarness nms("method=soft-linear iou-threshold=0.3 score-threshold=0.1");
  Ref<GstBuffer> buffer = make_frame(640, 480);
  GstAnalyticsRelationMeta* meta = add_relations(buffer.get());
  for (const Candidate& c : pair_and_one)
    add_od(meta, "person", int(c.x1), int(c.y1), int(c.x2 - c.x1), int(c.y2 - c.y1), c.score);
  const auto out = nms.pass(std::move(buffer));
  std::vector<float> all;
  for (const auto& od : ods(out.get()))
    all.push_back(od.confidence);
  EXPECT_THAT(all, ElementsAre(FloatEq(.8f), FloatEq(.3f), FloatEq(.4f)));
}
#endif

}  // namespace
