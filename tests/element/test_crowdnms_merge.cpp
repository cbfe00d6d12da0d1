// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowdnms with survivors that leave with a box of their cluster: where that box is, in each kind of metadata.

#include <crowd/nms.h>
#include <gmock/gmock.h>
#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/video/gstvideometa.h>

#include "nms_harness.hpp"
#if CROWD_HAVE_ANALYTICS
#include "analytics_support.hpp"
#endif

namespace {

using namespace crowd::test;
using testing::ElementsAre;
using testing::FloatEq;
using testing::FloatNear;
using testing::IsEmpty;
using testing::SizeIs;

/// Two of a cluster, 8 pixels apart, and one alone.
const std::vector<Candidate> pair_and_one = {
    {100, 50, 180, 90, .75f}, {108, 50, 188, 90, .25f}, {300, 200, 380, 290, .5f}};

const std::string merging = "iou-threshold=0.3 score-threshold=0 ";

std::vector<float> confidences(GstBuffer* buffer) {
  std::vector<float> all;
  for (const Roi& roi : rois(buffer))
    all.push_back(float(roi.confidence.value_or(-1)));
  return all;
}

/// Regions as a detector writes them, with edges in the frame's extents or in pixels, or without.
enum class EdgeUnit { none, extents, pixels };

Ref<GstBuffer> frame_of_regions(EdgeUnit unit, GType type = G_TYPE_DOUBLE) {
  Ref<GstBuffer> buffer = make_frame(640, 480);
  for (const Candidate& c : pair_and_one) {
    auto* roi = gst_buffer_add_video_region_of_interest_meta(buffer.get(), "person", guint(c.x1), guint(c.y1),
                                                             guint(c.x2 - c.x1), guint(c.y2 - c.y1));
    GstStructure* detection = gst_structure_new("detection", "confidence", type, double(c.score), nullptr);
    const double width = unit == EdgeUnit::extents ? 640 : 1, height = unit == EdgeUnit::extents ? 480 : 1;
    if (unit != EdgeUnit::none)
      gst_structure_set(detection, "x_min", type, c.x1 / width, "x_max", type, c.x2 / width, "y_min", type,
                        c.y1 / height, "y_max", type, c.y2 / height, nullptr);
    gst_video_region_of_interest_meta_add_param(roi, detection);
  }
  return buffer;
}

TEST(crowdnms_merge, boxes_are_made_of_the_cluster) {
  const std::pair<const char*, CrowdNmsBox> ways[] = {{"none", {100, 50, 180, 90}},
                                                      {"mean", {104, 50, 184, 90}},
                                                      {"weighted", {102, 50, 182, 90}},
                                                      {"union", {100, 50, 188, 90}},
                                                      {"vote", {102, 50, 182, 90}}};
  NmsHarness nms(merging + "meta-output=boxes");
  for (const auto& [merge, expected] : ways) {
    gst_util_set_object_arg(G_OBJECT(nms.element()), "merge", merge);
    const auto out = nms.pass(pair_and_one);
    GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_survivors_meta(out.get());
    ASSERT_NE(meta, nullptr);
    GstCrowdBoxesMap map;
    ASSERT_TRUE(gst_crowd_boxes_map_memory(&map, meta->memory, meta->capacity, GST_MAP_READ));
    ASSERT_EQ(*map.count, 2u);
    EXPECT_THAT(std::vector<float>(&map.boxes[0].x1, &map.boxes[0].x1 + 8),
                ElementsAre(expected.x1, expected.y1, expected.x2, expected.y2, 300, 200, 380, 290))
        << merge;
    EXPECT_THAT(std::vector<float>(map.scores, map.scores + 2), ElementsAre(.75f, .5f));
    gst_crowd_boxes_unmap(&map);
  }
  EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
}

TEST(crowdnms_merge, scores_are_made_of_the_cluster) {
  const std::pair<const char*, float> kinds[] = {{"none", .75f}, {"max", .75f}, {"mean", .5f}, {"sum", 1}};
  NmsHarness nms(merging + "meta-output=roi");
  for (const auto& [kind, expected] : kinds) {
    gst_util_set_object_arg(G_OBJECT(nms.element()), "cluster-score", kind);
    EXPECT_THAT(confidences(nms.pass(pair_and_one).get()), ElementsAre(expected, .5f)) << kind;
  }
}

TEST(crowdnms_merge, small_clusters_are_dropped_while_it_plays) {
  NmsHarness nms(merging + "meta-output=roi");
  for (const auto& [least, left] : {std::pair(0u, 2u), std::pair(2u, 1u), std::pair(3u, 0u)}) {
    g_object_set(nms.element(), "min-members", least, nullptr);
    EXPECT_THAT(rois(nms.pass(pair_and_one).get()), SizeIs(left)) << least;
  }
}

TEST(crowdnms_merge, methods_with_a_merge_of_their_own_write_it) {
  NmsHarness nms(merging + "meta-output=roi");
  g_object_set(nms.element(), "method", CROWD_NMS_WBF, nullptr);
  EXPECT_THAT(rectangles(nms.pass(pair_and_one).get()), ElementsAre("object@102,50,80,40", "object@300,200,80,90"));
  EXPECT_THAT(confidences(nms.pass(pair_and_one).get()), ElementsAre(.5f, .5f));
  g_object_set(nms.element(), "models", 2u, nullptr);
  EXPECT_THAT(confidences(nms.pass(pair_and_one).get()), ElementsAre(.5f, .25f));
  g_object_set(nms.element(), "method", CROWD_NMS_NMW, nullptr);
  EXPECT_THAT(confidences(nms.pass(pair_and_one).get()), ElementsAre(.75f, .5f));
  // Weights .75 and .25 * 72 / 88: 8 * .2143.
  EXPECT_THAT(float(*rois(nms.pass(pair_and_one).get())[0].x_min * 640), FloatNear(100 + 8 * .2143f, 1e-3f));
}

TEST(crowdnms_merge, regions_move_in_place) {
  for (const EdgeUnit unit : {EdgeUnit::none, EdgeUnit::extents, EdgeUnit::pixels}) {
    for (const GType type : {G_TYPE_DOUBLE, G_TYPE_FLOAT}) {
      NmsHarness nms(merging + "merge=union");
      const auto out = nms.pass(frame_of_regions(unit, type));
      EXPECT_THAT(rectangles(out.get()), ElementsAre("person@100,50,88,40", "person@300,200,80,90")) << int(unit);
      const Roi moved = rois(out.get())[0];
      EXPECT_EQ(moved.x_max.has_value(), unit != EdgeUnit::none);
      if (moved.x_max) {
        EXPECT_NEAR(*moved.x_max, unit == EdgeUnit::extents ? 188. / 640 : 188, 1e-6);
        EXPECT_NEAR(*moved.y_min, unit == EdgeUnit::extents ? 50. / 480 : 50, 1e-6);
      }
      EXPECT_EQ(moved.members, 2u);
      EXPECT_THAT(confidences(out.get()), ElementsAre(.75f, .5f));
    }
  }
}

TEST(crowdnms_merge, regions_of_one_candidate_stay_as_they_were) {
  NmsHarness nms(merging + "merge=mean cluster-score=mean");
  Ref<GstBuffer> buffer = make_frame(640, 480);
  auto* roi = gst_buffer_add_video_region_of_interest_meta(buffer.get(), "person", 10, 20, 31, 40);
  gst_video_region_of_interest_meta_add_param(
      roi, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, .123456789012, "x_min", G_TYPE_DOUBLE,
                             10.3 / 640, "x_max", G_TYPE_DOUBLE, 40.7 / 640, "y_min", G_TYPE_DOUBLE, 20.2 / 480,
                             "y_max", G_TYPE_DOUBLE, 59.9 / 480, nullptr));
  const auto out = nms.pass(std::move(buffer));
  EXPECT_THAT(rectangles(out.get()), ElementsAre("person@10,20,31,40"));
  EXPECT_EQ(rois(out.get())[0].confidence, .123456789012);
  EXPECT_EQ(rois(out.get())[0].x_min, 10.3 / 640);
}

TEST(crowdnms_merge, annotated_candidates_keep_their_boxes) {
  NmsHarness nms(merging + "merge=mean cluster-score=mean mode=annotate");
  const auto out = nms.pass(frame_of_regions(EdgeUnit::extents));
  EXPECT_THAT(rectangles(out.get()), ElementsAre("person@104,50,80,40", "person@108,50,80,40", "person@300,200,80,90"));
  EXPECT_THAT(confidences(out.get()), ElementsAre(.5f, .25f, .5f));
}

TEST(crowdnms_merge, confidences_stay_confidences) {
  NmsHarness nms(merging + "cluster-score=sum");
  Ref<GstBuffer> buffer = make_frame(640, 480);
  for (const double score : {.9, .8, 3., 2.}) {
    auto* roi = gst_buffer_add_video_region_of_interest_meta(buffer.get(), "person", score > 1 ? 200 : 20, 20, 30, 40);
    gst_video_region_of_interest_meta_add_param(
        roi, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, score, nullptr));
  }
  EXPECT_THAT(confidences(nms.pass(std::move(buffer)).get()), ElementsAre(1, 5)) << "the others are no confidences";
}

TEST(crowdnms_merge, is_the_same_on_the_gpu) {
  if (crowd_nms_cuda_probe() != CROWD_NMS_OK) {
    ASSERT_STRNE(g_getenv("CROWD_REQUIRE_GPU"), "1") << crowd_nms_last_error();
    GTEST_SKIP() << crowd_nms_last_error();
  }
  NmsHarness nms(merging + "backend=cuda meta-output=roi");
  g_object_set(nms.element(), "merge", CROWD_NMS_MERGE_MEAN, nullptr);
  EXPECT_THAT(rectangles(nms.pass(pair_and_one).get()), ElementsAre("object@104,50,80,40", "object@300,200,80,90"));
  EXPECT_EQ(nms.stat_text("backend"), "cuda");
}

#if CROWD_HAVE_ANALYTICS
Ref<GstBuffer> frame_of_objects() {
  Ref<GstBuffer> buffer = make_frame(640, 480);
  GstAnalyticsRelationMeta* meta = add_relations(buffer.get());
  for (const Candidate& c : pair_and_one)
    add_od(meta, "person", int(c.x1), int(c.y1), int(c.x2 - c.x1), int(c.y2 - c.y1), c.score);
  return buffer;
}

TEST(crowdnms_merge, objects_of_analytics_move) {
  NmsHarness nms(merging + "merge=union cluster-score=sum");
  const auto out = nms.pass(frame_of_objects());
  const auto all = ods(out.get());
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_THAT((std::array{all[0].x, all[0].y, all[0].w, all[0].h}), ElementsAre(100, 50, 88, 40));
  EXPECT_THAT(all[0].confidence, FloatEq(1));
  EXPECT_THAT((std::array{all[1].x, all[1].y, all[1].w, all[1].h}), ElementsAre(300, 200, 80, 90));
}

TEST(crowdnms_merge, annotated_objects_keep_their_relations) {
  NmsHarness nms(merging + "merge=union mode=annotate");
  const auto out = nms.pass(frame_of_objects());
  ASSERT_THAT(ods(out.get()), SizeIs(3));
  GstAnalyticsRelationMeta* meta = gst_buffer_get_analytics_relation_meta(out.get());
  EXPECT_TRUE(gst_analytics_relation_meta_get_relation(meta, 0, 1) & GST_ANALYTICS_REL_TYPE_CONTAIN);
  EXPECT_EQ(ods(out.get())[0].w, 88);
  EXPECT_EQ(ods(out.get())[1].w, 80);
}
#endif

}  // namespace
