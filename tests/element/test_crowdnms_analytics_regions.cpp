// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Objects and regions of interest that stand for the same, and objects of survivors that were read as something else.

#include <gmock/gmock.h>
#include <gst/video/gstvideometa.h>

#include "analytics_support.hpp"
#include "nms_harness.hpp"

namespace {

using namespace crowd::test;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

GstVideoRegionOfInterestMeta* add_region(GstBuffer* buffer, int id, std::array<guint, 4> xywh, double confidence,
                                         int parent_id = 0) {
  auto* roi = gst_buffer_add_video_region_of_interest_meta(buffer, "a", xywh[0], xywh[1], xywh[2], xywh[3]);
  roi->id = id;
  roi->parent_id = parent_id;
  if (confidence >= 0)
    gst_video_region_of_interest_meta_add_param(
        roi, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, confidence, nullptr));
  return roi;
}

/// "id<parent_id@x,y" of each region, in the order they are attached.
std::vector<std::string> regions(GstBuffer* buffer) {
  std::vector<std::string> all;
  for (const Roi& roi : rois(buffer))
    all.push_back(std::to_string(roi.id) + "<" + std::to_string(roi.parent_id) + "@" + std::to_string(roi.x) + "," +
                  std::to_string(roi.y));
  return all;
}

/// As DL Streamer attaches a detection: as both kinds, with the same id.
void add_pair(GstBuffer* buffer, guint x, guint y, float confidence, int parent_id = 0) {
  const guint id = add_od(relations(buffer), "a", static_cast<int>(x), static_cast<int>(y), 40, 40, confidence);
  add_region(buffer, static_cast<int>(id), {x + 1, y, 40, 41}, static_cast<double>(confidence), parent_id);
}

Ref<GstBuffer> frame_with_pairs() {
  Ref<GstBuffer> buffer = make_frame(640, 480);
  add_track(add_relations(buffer.get()), 9);
  add_region(buffer.get(), 1, {500, 20, 8, 8}, .5);  // somewhere else, with an id that an object has
  add_pair(buffer.get(), 10, 10, .5f);
  add_pair(buffer.get(), 12, 10, .75f);
  add_pair(buffer.get(), 200, 100, .25f);
  add_region(buffer.get(), 77, {20, 20, 8, 8}, -1, 1);   // child of a suppressed one
  add_region(buffer.get(), 78, {220, 20, 8, 8}, -1, 3);  // of a kept one
  add_region(buffer.get(), 3, {400, 20, 8, 8}, .5);      // likewise
  add_region(buffer.get(), 2, {13, 10, 40, 41}, -1);     // no detection
  return buffer;
}

TEST(crowdnms_analytics_regions, pairs_are_kept_in_step) {
  for (const char* properties : {"", "meta-output=analytics"}) {
    NmsHarness nms(properties);
    const auto out = nms.pass(frame_with_pairs());
    EXPECT_THAT(mtd_names(out.get()), ElementsAre("tracking", "object", "object"));
    EXPECT_THAT(regions(out.get()), ElementsAre("1<0@500,20", "1<0@13,10", "2<0@201,100", "77<1@20,20", "78<2@220,20",
                                                "3<0@400,20", "2<0@13,10"))
        << properties;
    const Roi kept = rois(out.get())[1];
    EXPECT_TRUE(kept.has_nms && kept.kept);
    EXPECT_EQ(kept.members, 2u);
    EXPECT_FALSE(rois(out.get())[0].has_nms || rois(out.get())[5].has_nms);
  }
}

TEST(crowdnms_analytics_regions, pairs_are_kept_in_step_where_objects_go) {
  NmsHarness nms("meta-output=roi");
  const auto out = nms.pass(frame_with_pairs());
  EXPECT_THAT(mtd_names(out.get()), ElementsAre("tracking"));
  EXPECT_THAT(regions(out.get()), ElementsAre("1<0@500,20", "2<0@13,10", "3<0@201,100", "77<2@20,20", "78<3@220,20",
                                              "3<0@400,20", "2<0@13,10"));
}

TEST(crowdnms_analytics_regions, pairs_are_marked_in_mode_annotate) {
  NmsHarness nms("mode=annotate");
  const auto out = nms.pass(frame_with_pairs());
  EXPECT_THAT(mtd_names(out.get()), ElementsAre("tracking", "object", "object", "object"));
  EXPECT_THAT(regions(out.get()), ElementsAre("1<0@500,20", "1<0@11,10", "2<0@13,10", "3<0@201,100", "77<1@20,20",
                                              "78<3@220,20", "3<0@400,20", "2<0@13,10"));
  EXPECT_FALSE(rois(out.get())[1].kept);
  EXPECT_TRUE(rois(out.get())[2].kept);
  EXPECT_EQ(related(out.get(), 2, 1), GST_ANALYTICS_REL_TYPE_CONTAIN);
}

TEST(crowdnms_analytics_regions, pairs_have_the_exact_boxes_and_numbers_of_classes) {
  for (const char* name : {"object", "face"}) {
    NmsHarness nms("iou-threshold=0.01");
    Ref<GstBuffer> buffer = make_frame(640, 480);
    add_relations(buffer.get());
    const auto add = [&buffer, name](double x1, double x2, int label_id) {
      const int id = int(add_od(relations(buffer.get()), name, int(x1), 10, 41, 40, .5f));
      auto* roi = add_region(buffer.get(), id, {guint(x1), 10, 41, 40}, -1);
      gst_video_region_of_interest_meta_add_param(
          roi, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, .5, "label_id", G_TYPE_INT, label_id,
                                 "x_min", G_TYPE_DOUBLE, x1 / 640, "x_max", G_TYPE_DOUBLE, x2 / 640, "y_min",
                                 G_TYPE_DOUBLE, 10. / 480, "y_max", G_TYPE_DOUBLE, 50. / 480, nullptr));
    };
    add(10.25, 50.5, 1);
    add(50.75, 91, 1);  // overlaps the first by its rectangle alone
    add(50.75, 91, 2);
    const auto out = nms.pass(std::move(buffer));
    EXPECT_THAT(ods(out.get()), SizeIs(*name == 'o' ? 3 : 2)) << name;
    EXPECT_THAT(rois(out.get()), SizeIs(*name == 'o' ? 3 : 2)) << name;
  }
}

TEST(crowdnms_analytics_regions, pairs_go_together_where_they_cannot_be_read) {
  NmsHarness nms;
  Ref<GstBuffer> buffer = frame_with_pairs();
  GstVideoMeta* video =
      gst_buffer_add_video_meta(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12, 700, 500);
  ASSERT_NE(video, nullptr);
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(buffer.get());
  crop->x = 8, crop->y = 8, crop->width = 640, crop->height = 480;
  const auto out = nms.pass(std::move(buffer));
  EXPECT_EQ(nms.stat("failures"), 1u);
  EXPECT_THAT(mtd_names(out.get()), ElementsAre("tracking"));
  EXPECT_THAT(regions(out.get()), ElementsAre("1<0@500,20", "77<0@20,20", "78<0@220,20", "3<0@400,20", "2<0@13,10"));
}

TEST(crowdnms_analytics_regions, objects_without_a_region_get_one) {
  NmsHarness nms;
  Ref<GstBuffer> buffer = make_frame(640, 480);
  add_relations(buffer.get());
  add_pair(buffer.get(), 10, 10, .5f);
  add_classified(relations(buffer.get()), "cat", 100, 10, 40, 40, .75f);
  add_classified(relations(buffer.get()), "cat", 102, 10, 40, 40, .5f);
  const auto out = nms.pass(std::move(buffer));
  EXPECT_THAT(regions(out.get()), ElementsAre("0<0@11,10", "1<0@100,10"));
  const Roi added = rois(out.get())[1];
  EXPECT_EQ(added.type, "cat");
  EXPECT_EQ(added.confidence, .75);
  EXPECT_TRUE(added.has_nms && added.kept);
  EXPECT_EQ(ods(out.get())[1].id, 1u);
}

/// Candidates as boxes.
Ref<GstBuffer> pass_boxes(const char* properties, GPtrArray* labels = nullptr,
                          std::vector<Candidate> candidates = row_of_three) {
  NmsHarness nms(properties);
  BoxesOptions options;
  options.labels = labels;
  options.confidence_slope = 1;
  return nms.pass(candidates, options);
}

TEST(crowdnms_analytics_regions, boxes_leave_as_both_with_the_same_ids) {
  const std::string names[] = {"face"};
  const Ref<GPtrArray> labels = make_labels(names);
  std::vector<Candidate> candidates = row_of_three;
  candidates.push_back({600.5f, 400.25f, 700, 500, .5f, 1});
  const auto out = pass_boxes("", labels.get(), candidates);
  EXPECT_THAT(od_rectangles(out.get()), ElementsAre("face@100,50,80,40", "face@140,50,80,40", "object@600,400,40,80"));
  EXPECT_EQ(od_rectangles(out.get()), rectangles(out.get()));
  EXPECT_THAT(mtd_names(out.get()), ElementsAre("object", "object", "object")) << "no classifications";
  const std::vector<Roi> found = rois(out.get());
  const std::vector<Od> objects = ods(out.get());
  for (std::size_t i = 0; i < 3; i++) {
    EXPECT_EQ(found[i].id, static_cast<int>(objects[i].id));
    EXPECT_EQ(found[i].confidence, double(objects[i].confidence)) << "calibrated";
  }
  EXPECT_NEAR(double(objects[0].confidence), .7109, .0001);
}

TEST(crowdnms_analytics_regions, boxes_leave_as_objects_alone_with_their_members_in_mode_annotate) {
  const auto out = pass_boxes("meta-output=analytics mode=annotate");
  EXPECT_THAT(rois(out.get()), IsEmpty());
  ASSERT_THAT(ods(out.get()), SizeIs(3));
  EXPECT_EQ(related(out.get(), 0, 1), GST_ANALYTICS_REL_TYPE_CONTAIN);
  EXPECT_EQ(related(out.get(), 1, 0), GST_ANALYTICS_REL_TYPE_IS_PART_OF);
  EXPECT_EQ(related(out.get(), 2, 1), 0);
}

TEST(crowdnms_analytics_regions, no_survivors_are_no_objects) {
  const auto out = pass_boxes("", nullptr, {{10, 10, 10, 10, .5f}});
  EXPECT_EQ(relations(out.get()), nullptr);
}

TEST(crowdnms_analytics_regions, objects_join_what_the_frame_has) {
  NmsHarness nms;
  Ref<GstBuffer> buffer = make_frame(640, 480);
  GstAnalyticsRelationMeta* before = add_relations(buffer.get(), 2);
  const guint scene = add_cls(before, {{"indoors", .75f}}), track = add_track(before, 5);
  relate(before, scene, track);
  add_boxes(buffer.get(), row_of_three, {.frame_width = 640, .frame_height = 480});
  const auto out = nms.pass(std::move(buffer));
  EXPECT_THAT(mtd_names(out.get()), ElementsAre("classification", "tracking", "object", "object"));
  EXPECT_EQ(related(out.get(), 0, 1), GST_ANALYTICS_REL_TYPE_RELATE_TO);
  EXPECT_EQ(related(out.get(), 1, 0), 0);
  EXPECT_EQ(rois(out.get())[0].id, 2);
  EXPECT_EQ(rois(out.get())[1].id, 3);
}

TEST(crowdnms_analytics_regions, regions_get_the_ids_of_their_objects) {
  for (const char* properties : {"", "mode=annotate"}) {
    NmsHarness nms(properties);
    Ref<GstBuffer> buffer = make_frame(640, 480);
    add_track(add_relations(buffer.get()), 9);
    // Its own kind, as there are no objects.
    add_region(buffer.get(), 31, {10, 10, 40, 40}, .5);
    add_region(buffer.get(), 32, {200, 10, 40, 40}, .25);
    add_region(buffer.get(), 33, {12, 10, 40, 40}, .75);
    add_region(buffer.get(), 77, {20, 20, 8, 8}, -1, 31);
    add_region(buffer.get(), 78, {20, 20, 8, 8}, -1, 32);
    const auto out = nms.pass(std::move(buffer));
    if (*properties) {
      EXPECT_THAT(regions(out.get()), ElementsAre("1<0@10,10", "2<0@200,10", "3<0@12,10", "77<1@20,20", "78<2@20,20"));
      EXPECT_EQ(related(out.get(), 3, 1), GST_ANALYTICS_REL_TYPE_CONTAIN);
    } else {
      EXPECT_THAT(regions(out.get()), ElementsAre("2<0@200,10", "1<0@12,10", "77<1@20,20", "78<2@20,20"));
      EXPECT_THAT(od_rectangles(out.get()), ElementsAre("a@12,10,40,40", "a@200,10,40,40"));
    }
  }
}

TEST(crowdnms_analytics_regions, children_keep_a_parent_whose_object_is_the_first) {
  for (const char* properties : {"", "mode=annotate"}) {
    NmsHarness nms(properties);
    Ref<GstBuffer> buffer = make_frame(640, 480);
    add_region(buffer.get(), 31, {10, 10, 40, 40}, .5);
    add_region(buffer.get(), 32, {200, 10, 40, 40}, .25);
    add_region(buffer.get(), 77, {20, 20, 8, 8}, -1, 31);
    add_region(buffer.get(), 78, {210, 20, 8, 8}, -1, 32);
    EXPECT_THAT(regions(nms.pass(std::move(buffer)).get()),
                ElementsAre("31<0@10,10", "1<0@200,10", "77<31@20,20", "78<1@210,20"))
        << properties;
  }
}

TEST(crowdnms_analytics_regions, children_keep_a_parent_whose_object_becomes_the_first) {
  NmsHarness nms;
  Ref<GstBuffer> buffer = make_frame(640, 480);
  add_relations(buffer.get());
  add_pair(buffer.get(), 10, 10, .5f);
  add_pair(buffer.get(), 12, 10, .75f);
  add_region(buffer.get(), 77, {20, 20, 8, 8}, -1, 1);
  EXPECT_THAT(regions(nms.pass(std::move(buffer)).get()), ElementsAre("1<0@13,10", "77<1@20,20"));
}

}  // namespace
