// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowdnms with candidates in the regions of other detectors.

#include <gmock/gmock.h>
#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/video/gstvideometa.h>

#include "nms_harness.hpp"

namespace {

using namespace crowd::test;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

GstVideoRegionOfInterestMeta* add_region(GstBuffer* buffer, const char* type, std::array<guint, 4> xywh,
                                         GstStructure* detection = nullptr, int id = 0, int parent_id = 0) {
  auto* roi = gst_buffer_add_video_region_of_interest_meta(buffer, type, xywh[0], xywh[1], xywh[2], xywh[3]);
  roi->id = id;
  roi->parent_id = parent_id;
  if (detection)
    gst_video_region_of_interest_meta_add_param(roi, detection);
  return roi;
}

/// As DL Streamer writes it: a box of fractions of 640 x 480.
GstStructure* detection(double confidence, int label_id, std::array<double, 4> xyxy) {
  return gst_structure_new("detection", "label_id", G_TYPE_INT, label_id, "confidence", G_TYPE_DOUBLE, confidence,
                           "x_min", G_TYPE_DOUBLE, xyxy[0] / 640, "x_max", G_TYPE_DOUBLE, xyxy[2] / 640, "y_min",
                           G_TYPE_DOUBLE, xyxy[1] / 480, "y_max", G_TYPE_DOUBLE, xyxy[3] / 480, nullptr);
}

GstStructure* confidence_only(double confidence) {
  return gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, confidence, nullptr);
}

GstVideoRegionOfInterestMeta* region(GstBuffer* buffer, unsigned index) {
  gpointer state = nullptr;
  GstMeta* meta = nullptr;
  for (unsigned i = 0; i <= index; i++)
    meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  return reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
}

TEST(crowdnms_roi, keeps_the_objects_of_survivors) {
  NmsHarness nms("meta-output=roi");
  auto buffer = make_frame(640, 480);
  add_region(buffer.get(), "face", {10, 10, 40, 40}, detection(.5, 0, {10, 10, 50, 50}), 5);
  auto* best = add_region(buffer.get(), "face", {12, 10, 40, 40}, detection(.75, 0, {12, 10, 52, 50}), 6);
  gst_video_region_of_interest_meta_add_param(best, gst_structure_new("object_id", "id", G_TYPE_INT, 77, nullptr));
  const auto out = nms.pass(std::move(buffer));
  ASSERT_THAT(rectangles(out.get()), ElementsAre("face@12,10,40,40"));
  auto* kept = region(out.get(), 0);
  EXPECT_EQ(kept, best);
  EXPECT_EQ(g_list_length(kept->params), 3u);
  EXPECT_NE(gst_video_region_of_interest_meta_get_param(kept, "object_id"), nullptr);
  const Roi roi = rois(out.get())[0];
  EXPECT_EQ(roi.id, 6);
  EXPECT_TRUE(roi.has_nms && roi.kept);
  EXPECT_EQ(roi.cluster_id, 0);
  EXPECT_EQ(roi.members, 2u);
  EXPECT_EQ(roi.suppressed, 1u);
  EXPECT_EQ(roi.score, .75);
  EXPECT_EQ(nms.stat("suppressed"), 1u);
}

TEST(crowdnms_roi, reads_normalised_boxes_exactly) {
  NmsHarness nms;
  auto buffer = make_frame(640, 480);
  // IoU of the rectangles is 1, that of the boxes of "detection" is 0.2
  add_region(buffer.get(), "face", {10, 10, 40, 40}, detection(.5, 0, {10, 10, 50, 50}));
  add_region(buffer.get(), "face", {10, 10, 40, 40}, detection(.75, 0, {10, 10, 20, 42}));
  EXPECT_THAT(rois(nms.pass(std::move(buffer)).get()), SizeIs(2));
}

TEST(crowdnms_roi, reads_normalised_boxes_in_pixels_of_the_frame) {
  NmsHarness nms("pixel-offset=1");  // a pixel is next to nothing, but more than the whole of a normalised frame
  auto buffer = make_frame(640, 480);
  add_region(buffer.get(), "face", {10, 10, 40, 40}, detection(.5, 0, {10, 10, 50, 50}));
  add_region(buffer.get(), "face", {90, 10, 40, 40}, detection(.75, 0, {90, 10, 130, 50}));
  EXPECT_THAT(rois(nms.pass(std::move(buffer)).get()), SizeIs(2));
}

TEST(crowdnms_roi, reads_boxes_in_pixels) {
  NmsHarness nms;
  auto buffer = make_frame(640, 480);
  const auto pixels = [](double score, double x1, double x2) {
    return gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, score, "x_min", G_TYPE_DOUBLE, x1, "x_max",
                             G_TYPE_DOUBLE, x2, "y_min", G_TYPE_DOUBLE, 10.0, "y_max", G_TYPE_DOUBLE, 50.0, nullptr);
  };
  add_region(buffer.get(), "face", {10, 10, 40, 40}, pixels(.5, 10, 50));
  add_region(buffer.get(), "face", {30, 10, 40, 40}, pixels(.75, 30, 70));  // IoU 1/3
  add_region(buffer.get(), "face", {12, 10, 40, 40}, pixels(.25, 12, 52));
  EXPECT_THAT(rectangles(nms.pass(std::move(buffer)).get()), ElementsAre("face@10,10,40,40", "face@30,10,40,40"));
}

TEST(crowdnms_roi, reads_normalised_boxes_that_leave_the_frame) {
  NmsHarness nms;
  auto buffer = make_frame(640, 480);
  // In pixels these would lie on top of each other, near the origin.
  add_region(buffer.get(), "face", {0, 0, 40, 40}, detection(.5, 0, {-20, -20, 40, 40}));
  add_region(buffer.get(), "face", {600, 400, 40, 80}, detection(.75, 0, {600, 400, 700, 500}));
  EXPECT_THAT(rois(nms.pass(std::move(buffer)).get()), SizeIs(2));
}

TEST(crowdnms_roi, without_a_box_takes_the_rectangle) {
  NmsHarness nms;
  auto buffer = make_frame(640, 480);
  add_region(buffer.get(), "face", {10, 10, 40, 40}, confidence_only(.5));
  add_region(buffer.get(), "face", {12, 10, 40, 40}, confidence_only(.75));
  add_region(buffer.get(), "face", {100, 10, 40, 40}, confidence_only(.25));
  EXPECT_THAT(rectangles(nms.pass(std::move(buffer)).get()), ElementsAre("face@12,10,40,40", "face@100,10,40,40"));
}

TEST(crowdnms_roi, without_confidence_the_first_wins) {
  NmsHarness nms;
  auto buffer = make_frame(640, 480);
  add_region(buffer.get(), "face", {10, 10, 40, 40}, gst_structure_new_empty("detection"));
  add_region(buffer.get(), "face", {12, 10, 40, 40}, gst_structure_new_empty("detection"));
  add_region(buffer.get(), "face", {8, 10, 40, 40}, confidence_only(.99));
  const auto out = nms.pass(std::move(buffer));
  EXPECT_THAT(rectangles(out.get()), ElementsAre("face@10,10,40,40"));
  EXPECT_EQ(rois(out.get())[0].score, 1.0);
}

TEST(crowdnms_roi, reads_float_confidence_and_onnx_detector_scores) {
  NmsHarness nms;
  auto buffer = make_frame(640, 480);
  add_region(buffer.get(), "face", {10, 10, 40, 40},
             gst_structure_new("detection", "confidence", G_TYPE_FLOAT, .25f, nullptr));
  add_region(buffer.get(), "face", {12, 10, 40, 40},
             gst_structure_new("detection", "confidence", G_TYPE_FLOAT, .5f, nullptr));
  const auto onnx = [](float score, const char* label) {
    return gst_structure_new("extra-data", "score", G_TYPE_FLOAT, score, "label", G_TYPE_STRING, label, nullptr);
  };
  add_region(buffer.get(), "onnx-object_detector", {200, 10, 40, 40}, onnx(.5, "cat"));
  add_region(buffer.get(), "onnx-object_detector", {201, 10, 40, 40}, onnx(.75, "cat"));
  add_region(buffer.get(), "onnx-object_detector", {202, 10, 40, 40}, onnx(.25, "dog"));
  EXPECT_THAT(
      rectangles(nms.pass(std::move(buffer)).get()),
      ElementsAre("face@12,10,40,40", "onnx-object_detector@201,10,40,40", "onnx-object_detector@202,10,40,40"));
}

TEST(crowdnms_roi, tells_classes_by_label_id_then_by_type) {
  NmsHarness nms;
  auto buffer = make_frame(640, 480);
  add_region(buffer.get(), "a", {10, 10, 40, 40}, detection(.9, 1, {10, 10, 50, 50}));
  add_region(buffer.get(), "a", {10, 10, 40, 40}, detection(.8, 2, {10, 10, 50, 50}));  // other label_id
  add_region(buffer.get(), "b", {10, 10, 40, 40}, detection(.7, 2, {10, 10, 50, 50}));  // same one as before
  add_region(buffer.get(), "a", {10, 10, 40, 40}, confidence_only(.6));
  add_region(buffer.get(), "b", {10, 10, 40, 40}, confidence_only(.5));
  add_region(buffer.get(), "b", {10, 10, 40, 40}, confidence_only(.4));
  const auto out = nms.pass(std::move(buffer));
  std::vector<double> scores;
  for (const Roi& roi : rois(out.get()))
    scores.push_back(roi.score);
  EXPECT_EQ(scores, (std::vector<double>{float(.9), float(.8), float(.6), float(.5)}));
}

TEST(crowdnms_roi, leaves_hints_alone) {
  for (const char* mode : {"mode=replace", "mode=annotate"}) {
    NmsHarness nms(mode);
    auto buffer = make_frame(640, 480);
    add_region(buffer.get(), "roi/x264", {10, 10, 40, 40},
               gst_structure_new("roi/x264", "delta-qp", G_TYPE_INT, -8, nullptr));
    add_region(buffer.get(), "face", {10, 10, 40, 40}, confidence_only(.5));
    add_region(buffer.get(), "face", {11, 10, 40, 40}, confidence_only(.6));
    add_region(buffer.get(), "bare", {10, 10, 40, 40});
    const auto out = nms.pass(std::move(buffer));
    const std::vector<Roi> found = rois(out.get());
    ASSERT_GE(found.size(), 3u);
    EXPECT_EQ(found.front().type, "roi/x264");
    EXPECT_FALSE(found.front().has_nms);
    EXPECT_EQ(g_list_length(region(out.get(), 0)->params), 1u);
    EXPECT_EQ(found.back().type, "bare");
    EXPECT_FALSE(found.back().has_nms);
    EXPECT_EQ(nms.stat("candidates"), 2u);
  }
}

TEST(crowdnms_roi, hints_alone_are_no_candidates) {
  NmsHarness nms;
  auto buffer = make_frame(640, 480);
  add_region(buffer.get(), "roi/x264", {10, 10, 40, 40});
  EXPECT_THAT(rois(nms.pass(std::move(buffer)).get()), SizeIs(1));
  EXPECT_EQ(nms.stat("candidates"), 0u);
  EXPECT_EQ(nms.stat_text("backend"), "none");
}

TEST(crowdnms_roi, annotate_keeps_all_and_marks_them) {
  NmsHarness nms("mode=annotate");
  auto buffer = make_frame(640, 480);
  add_region(buffer.get(), "face", {10, 10, 40, 40}, confidence_only(.5));
  add_region(buffer.get(), "face", {12, 10, 40, 40}, confidence_only(.75));
  add_region(buffer.get(), "face", {12, 10, 0, 40}, confidence_only(.99));  // empty
  const auto out = nms.pass(std::move(buffer));
  const std::vector<Roi> found = rois(out.get());
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_FALSE(found[0].kept);
  EXPECT_EQ(found[0].cluster_id, 0);
  EXPECT_EQ(found[0].score, .5);
  EXPECT_TRUE(found[1].kept);
  EXPECT_EQ(found[1].members, 2u);
  EXPECT_TRUE(found[2].has_nms);
  EXPECT_FALSE(found[2].kept);
  EXPECT_EQ(found[2].cluster_id, -1);
  EXPECT_EQ(nms.stat("invalid"), 1u);
}

TEST(crowdnms_roi, moves_children_to_the_representative) {
  NmsHarness nms("meta-output=roi");
  auto buffer = make_frame(640, 480);
  add_region(buffer.get(), "person", {10, 10, 40, 80}, confidence_only(.5), 11);
  add_region(buffer.get(), "person", {12, 10, 40, 80}, confidence_only(.75), 12);
  add_region(buffer.get(), "face", {20, 12, 9, 9}, confidence_only(.9), 13, 11);  // child of a suppressed one
  add_region(buffer.get(), "plate", {30, 70, 9, 9}, nullptr, 14, 11);             // no candidate, same parent
  add_region(buffer.get(), "hat", {20, 10, 9, 3}, nullptr, 15, 12);
  add_region(buffer.get(), "stray", {0, 0, 9, 3}, nullptr, 16, 99);
  const auto out = nms.pass(std::move(buffer));
  std::vector<std::pair<std::string, int>> parents;
  for (const Roi& roi : rois(out.get()))
    parents.emplace_back(roi.type, roi.parent_id);
  EXPECT_THAT(parents, ElementsAre(std::pair("person", 0), std::pair("face", 12), std::pair("plate", 12),
                                   std::pair("hat", 12), std::pair("stray", 99)));
}

TEST(crowdnms_roi, a_child_without_any_representative_has_no_parent) {
  NmsHarness nms("score-threshold=0.4");
  auto buffer = make_frame(640, 480);
  add_region(buffer.get(), "person", {10, 10, 40, 80}, confidence_only(.25), 11);
  add_region(buffer.get(), "hat", {20, 10, 9, 3}, nullptr, 15, 11);
  const auto out = nms.pass(std::move(buffer));
  ASSERT_THAT(rectangles(out.get()), ElementsAre("hat@20,10,9,3"));
  EXPECT_EQ(rois(out.get())[0].parent_id, 0);
}

TEST(crowdnms_roi, ids_that_are_not_unique_say_nothing_about_parents) {
  NmsHarness nms;
  auto buffer = make_frame(640, 480);
  add_region(buffer.get(), "person", {10, 10, 40, 80}, confidence_only(.5), 3);
  add_region(buffer.get(), "person", {12, 10, 40, 80}, confidence_only(.75), 3);
  add_region(buffer.get(), "hat", {20, 10, 9, 3}, nullptr, 15, 3);
  EXPECT_EQ(rois(nms.pass(std::move(buffer)).get()).back().parent_id, 3);
}

TEST(crowdnms_roi, overflow_is_counted_and_dropped) {
  NmsHarness nms("max-candidates=2");
  auto buffer = make_frame(640, 480);
  for (guint i = 0; i < 5; i++)
    add_region(buffer.get(), "face", {100 * i, 10, 40, 40}, confidence_only(.5 + .1 * i));
  EXPECT_THAT(rectangles(nms.pass(std::move(buffer)).get()), ElementsAre("face@0,10,40,40", "face@100,10,40,40"));
  EXPECT_EQ(nms.stat("overflow"), 3u);
}

TEST(crowdnms_roi, is_second_choice_after_boxes) {
  const std::vector<Candidate> boxes = {{300, 10, 340, 20, 1}};
  const auto frame = [&] {
    auto buffer = make_frame(640, 480);
    add_region(buffer.get(), "face", {10, 10, 40, 40}, confidence_only(.5));
    add_region(buffer.get(), "face", {12, 10, 40, 40}, confidence_only(.75));
    add_boxes(buffer.get(), boxes, {.frame_width = 640, .frame_height = 480});
    return buffer;
  };
  NmsHarness automatic, only_regions("meta-source=roi"), only_boxes("meta-source=boxes");
  EXPECT_THAT(rectangles(automatic.pass(frame()).get()),
              ElementsAre("face@10,10,40,40", "face@12,10,40,40", "object@300,10,40,10"));
  const auto out = only_regions.pass(frame());
  EXPECT_THAT(rectangles(out.get()), ElementsAre("face@12,10,40,40"));
  EXPECT_NE(gst_buffer_get_crowd_boxes_meta(out.get()), nullptr);
  auto no_boxes = make_frame(640, 480);
  add_region(no_boxes.get(), "face", {10, 10, 40, 40}, confidence_only(.5));
  add_region(no_boxes.get(), "face", {10, 10, 40, 40}, confidence_only(.5));
  EXPECT_THAT(rois(only_boxes.pass(std::move(no_boxes)).get()), SizeIs(2));
}

TEST(crowdnms_roi, reads_its_own_output_without_loss) {
  NmsHarness first, second;
  const std::vector<Candidate> crowd = {{-20.3f, 5.7f, 33.1f, 60.9f, .9f, 2},
                                        {3, 5, 44, 61, .8f, 2},
                                        {610.1f, 450.2f, 700.7f, 520, .7f, 1},
                                        {-90, -90, -10, -10, .6f, 0},
                                        {200.1f, 100.3f, 260.9f, 199.4f, .5f, 0}};
  auto once = first.pass(crowd);
  const std::vector<Roi> before = rois(once.get());
  ASSERT_THAT(before, SizeIs(5));
  const auto twice = second.pass(std::move(once));
  const std::vector<Roi> after = rois(twice.get());
  ASSERT_THAT(after, SizeIs(5));
  for (std::size_t i = 0; i < after.size(); i++) {
    EXPECT_EQ(after[i].id, before[i].id);
    EXPECT_EQ(after[i].members, 1u);
    EXPECT_EQ(g_list_length(region(twice.get(), static_cast<unsigned>(i))->params), 2u) << "one \"nms\" each";
  }
  EXPECT_EQ(second.stat("invalid"), 0u);
  // With everything overlapping a little, the same boxes are suppressed as if they had never been regions.
  NmsHarness direct("iou-threshold=0.01"), indirect("iou-threshold=0.01 mode=annotate");
  const auto expected = direct.pass(crowd);
  const auto marked = indirect.pass(first.pass(crowd));
  std::vector<std::string> kept;
  const auto rectangle = rectangles(marked.get());
  const auto regions = rois(marked.get());
  for (std::size_t i = 0; i < regions.size(); i++)
    if (regions[i].kept)
      kept.push_back(rectangle[i]);
  EXPECT_EQ(kept, rectangles(expected.get()));
}

TEST(crowdnms_roi, invalid_numbers_are_counted) {
  NmsHarness nms;
  auto buffer = make_frame(640, 480);
  add_region(buffer.get(), "face", {10, 10, 40, 40}, detection(NAN, 0, {10, 10, 50, 50}));
  add_region(buffer.get(), "face", {10, 10, 40, 40}, detection(.5, 0, {10, NAN, 50, 50}));
  add_region(buffer.get(), "face", {10, 10, 40, 40}, detection(.5, 0, {10, 10, INFINITY, 50}));
  add_region(buffer.get(), "face", {10, 10, 40, 40}, detection(.5, 0, {50, 10, 10, 50}));
  EXPECT_THAT(rois(nms.pass(std::move(buffer)).get()), IsEmpty());
  EXPECT_EQ(nms.stat("invalid"), 4u);
}

}  // namespace
