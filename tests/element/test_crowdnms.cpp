// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowdnms with candidates in a GstCrowdBoxesMeta: what goes in, what comes out.

#include <crowd/nms.h>
#include <gmock/gmock.h>
#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/video/gstvideometa.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "nms_harness.hpp"

namespace {

using namespace crowd::test;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<double> scores(GstBuffer* buffer) {
  std::vector<double> all;
  for (const Roi& roi : rois(buffer))
    all.push_back(roi.score);
  return all;
}

TEST(crowdnms, leaves_one_region_per_object) {
  NmsHarness nms;
  const std::vector<Candidate> two_piles = {{10, 20, 50, 100, .5f},
                                            {11, 21, 52, 101, .9f},
                                            {300, 200, 340, 290, .7f},
                                            {12, 19, 50, 103, .4f},
                                            {301, 202, 341, 288, .6f}};
  const auto out = nms.pass(two_piles);
  EXPECT_THAT(rectangles(out.get()), ElementsAre("object@11,21,41,80", "object@300,200,40,90"));
  EXPECT_EQ(gst_buffer_get_crowd_boxes_meta(out.get()), nullptr);
}

TEST(crowdnms, writes_detection_and_nms_in_rank_order) {
  NmsHarness nms("meta-output=roi");
  const std::vector<Candidate> candidates = {
      {300, 200, 340, 290, .25f, 7}, {10.5f, 20, 50, 100, .75f, 3}, {11, 20, 50, 100, .5f, 3}};
  const auto out = nms.pass(candidates);
  const std::vector<Roi> found = rois(out.get());
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].label_id, 3);
  EXPECT_EQ(found[0].confidence, .75);
  EXPECT_EQ(found[0].x_min, 10.5 / 640);
  EXPECT_EQ(found[0].y_min, 20.0 / 480);
  EXPECT_EQ(found[0].x_max, 50.0 / 640);
  EXPECT_EQ(found[0].y_max, 100.0 / 480);
  ASSERT_TRUE(found[0].has_nms && found[1].has_nms);
  EXPECT_EQ(found[0].cluster_id, 0);
  EXPECT_EQ(found[0].members, 2u);
  EXPECT_EQ(found[0].suppressed, 1u);
  EXPECT_EQ(found[0].score, .75);
  EXPECT_TRUE(found[0].kept);
  EXPECT_EQ(found[1].cluster_id, 1);
  EXPECT_EQ(found[1].members, 1u);
  EXPECT_EQ(found[1].suppressed, 0u);
  EXPECT_EQ(found[1].label_id, 7);
  EXPECT_EQ(found[0].id, 1);
  EXPECT_EQ(found[1].id, 2);
  EXPECT_EQ(found[0].parent_id, 0);
}

TEST(crowdnms, clips_pixels_and_keeps_the_exact_box) {
  NmsHarness nms;
  const std::vector<Candidate> leaving = {
      {-12.25f, -8, 20.5f, 33.25f, .9f}, {600.75f, 470, 700, 1e9f, .8f}, {-90, -90, -10, -10, .7f}};
  const auto out = nms.pass(leaving);
  EXPECT_THAT(rectangles(out.get()), ElementsAre("object@0,0,21,34", "object@600,470,40,10", "object@0,0,0,0"));
  const std::vector<Roi> found = rois(out.get());
  EXPECT_EQ(found[0].x_min, -12.25 / 640);
  EXPECT_EQ(found[1].y_max, double(1e9f) / 480);
  EXPECT_EQ(found[2].x_max, -10.0 / 640);
}

TEST(crowdnms, follows_the_placement_of_boxes) {
  NmsHarness nms("", video_caps(320, 960));
  const std::vector<Candidate> candidates = {{10, 20, 50, 100, .9f}, {12, 20, 50, 100, .8f}};
  const auto out = nms.pass(
      candidates, {.frame_width = 320, .frame_height = 960, .placement = {{320 / 640., 0, 0, 0, 960 / 480., 0}}});
  EXPECT_THAT(rectangles(out.get()), ElementsAre("object@5,40,20,160"));
  const std::vector<Roi> found = rois(out.get());
  EXPECT_EQ(found[0].x_min, 10.0 / 640);
  EXPECT_EQ(found[0].y_max, 100.0 / 480);
}

TEST(crowdnms, hands_on_confidences_that_are_probabilities_and_the_raw_score_beside) {
  NmsHarness nms("meta-output=all");
  const std::vector<Candidate> margins = {{0, 0, 10, 10, 4.5f}, {100, 0, 110, 10, .5f}, {200, 0, 210, 10, -3}};
  const auto calibrated = nms.pass(margins, {.confidence_slope = 2.5f, .confidence_offset = -1.25f});
  const auto plain = nms.pass(margins);
  const std::vector<Roi> found = rois(calibrated.get()), clamped = rois(plain.get());
  ASSERT_THAT(found, testing::SizeIs(3));
  for (std::size_t i = 0; i < found.size(); i++) {
    EXPECT_FLOAT_EQ(float(*found[i].confidence), float(1 / (1 + std::exp(1.25 - 2.5 * margins[i].score))));
    EXPECT_EQ(found[i].score, margins[i].score);
    EXPECT_EQ(*clamped[i].confidence, std::clamp(margins[i].score, 0.f, 1.f));
    EXPECT_EQ(clamped[i].score, margins[i].score);
  }
  const GstCrowdBoxesMeta* survivors = gst_buffer_get_crowd_survivors_meta(calibrated.get());
  EXPECT_EQ(survivors->confidence_slope, 2.5f) << "what reads boxes calibrates, too";
  EXPECT_EQ(survivors->confidence_offset, -1.25f);
}

TEST(crowdnms, follows_a_scaler) {
  const Ref<GstHarness> harness(
      gst_harness_new_parse("videoscale ! capsfilter caps=video/x-raw,width=64,height=96 ! crowdnms"));
  gst_harness_set_src_caps_str(harness.get(), video_caps(128, 48).c_str());
  auto buffer = make_frame(128, 48);
  add_boxes(buffer.get(), std::vector<Candidate>{{10, 20, 50, 40, 1}}, {.frame_width = 128, .frame_height = 48});
  const Ref<GstBuffer> out(gst_harness_push_and_pull(harness.get(), buffer.release()));
  EXPECT_THAT(rectangles(out.get()), ElementsAre("object@5,40,20,40"));
}

TEST(crowdnms, without_frame_size_in_the_meta_uses_the_caps) {
  NmsHarness nms;
  auto buffer = make_frame(640, 480);
  add_boxes(buffer.get(), std::vector<Candidate>{{600, 20, 700, 100, 1}}, {});
  const auto out = nms.pass(std::move(buffer));
  EXPECT_THAT(rectangles(out.get()), ElementsAre("object@600,20,40,80"));
  EXPECT_EQ(rois(out.get())[0].x_min, 600.0 / 640);
}

TEST(crowdnms, names_classes_by_their_labels) {
  NmsHarness nms;
  const std::array<std::string, 2> names = {"head", "body"};
  const Ref<GPtrArray> labels = make_labels(names);
  const std::vector<Candidate> candidates = {
      {0, 0, 10, 20, .9f, 1}, {100, 0, 110, 20, .8f, 0}, {200, 0, 210, 20, .7f, 2}, {300, 0, 310, 20, .6f, -1}};
  const auto out = nms.pass(candidates, {.labels = labels.get()});
  EXPECT_THAT(rectangles(out.get()),
              ElementsAre("body@0,0,10,20", "head@100,0,10,20", "object@200,0,10,20", "object@300,0,10,20"));
}

struct Rule {
  const char* properties;
  std::vector<Candidate> candidates;
  std::vector<double> survivors;  ///< their scores
};

void PrintTo(const Rule& rule, std::ostream* out) {
  *out << rule.properties;
}

class crowdnms_rule : public testing::TestWithParam<Rule> {};

TEST_P(crowdnms_rule, decides_who_survives) {
  const Rule& rule = GetParam();
  NmsHarness nms(rule.properties);
  const auto out = nms.pass(rule.candidates);
  EXPECT_EQ(scores(out.get()), rule.survivors);
}

const std::vector<Candidate> half_overlap = {{0, 0, 40, 20, 2}, {0, 0, 20, 20, 1}};  // IoU exactly 1/2
const std::vector<Candidate> nested = {{0, 0, 100, 100, 2}, {10, 10, 30, 30, 1}};    // IoU 0.04, IoS 1
const std::vector<Candidate> nested_small_first = {{10, 10, 30, 30, 2}, {0, 0, 100, 100, 1}};
const std::vector<Candidate> twins = {{0, 0, 40, 20, 2, 1}, {0, 0, 40, 20, 1, 2}};
const std::vector<Candidate> points = {{5, 9, 5, 9, 2}, {50, 90, 50, 91, 1}};  // empty unless the last pixel counts
const std::vector<Candidate> apart = {{0, 0, 4, 9, 3}, {10, 0, 14, 9, 2}, {20, 0, 24, 9, 1}};
const std::vector<Candidate> same_score = {{0, 0, 40, 20, 1}, {0, 0, 40, 20, 1}};

INSTANTIATE_TEST_SUITE_P(
    all, crowdnms_rule,
    testing::Values(Rule{"method=greedy", row_of_three, {.9f, .7f}}, Rule{"method=map-reduce", row_of_three, {.9f}},
                    Rule{"method=paper iou-threshold=0.4", row_of_three, {.9f}}, Rule{"", same_score, {1}},
                    Rule{"method=paper", same_score, {1, 1}}, Rule{"iou-threshold=0.61", row_of_three, {.9f, .8f, .7f}},
                    Rule{"iou-threshold=0.3", row_of_three, {.9f}}, Rule{"", half_overlap, {2, 1}},
                    Rule{"comparator=greater-equal", half_overlap, {2}}, Rule{"", nested, {2, 1}},
                    Rule{"metric=ios", nested, {2}}, Rule{"metric=over-lower", nested, {2}},
                    Rule{"metric=over-higher", nested, {2, 1}}, Rule{"metric=over-higher", nested_small_first, {2}},
                    Rule{"metric=over-lower", nested_small_first, {2, 1}}, Rule{"", twins, {2, 1}},
                    Rule{"class-agnostic=true", twins, {2}}, Rule{"", points, {}},
                    Rule{"pixel-offset=1", points, {2, 1}}, Rule{"score-threshold=2", apart, {3, 2}},
                    Rule{"score-threshold=2.5", apart, {3}}, Rule{"max-detections=2", apart, {3, 2}},
                    Rule{"max-detections=9", apart, {3, 2, 1}}, Rule{"max-candidates=2", apart, {3, 2}}));

TEST(crowdnms, annotate_keeps_candidates_and_says_who_survives) {
  NmsHarness nms("mode=annotate score-threshold=0.1");
  std::vector<Candidate> candidates = row_of_three;
  candidates.push_back({400, 10, 390, 20, .95f});    // inverted
  candidates.push_back({400, 10, 440, 20, .0625f});  // below the threshold
  candidates.push_back({500, 10, 540, 20, .5f});
  const auto out = nms.pass(candidates);
  EXPECT_NE(gst_buffer_get_crowd_boxes_meta(out.get()), nullptr);
  const std::vector<Roi> found = rois(out.get());
  ASSERT_THAT(found, SizeIs(4));
  EXPECT_EQ(scores(out.get()), (std::vector<double>{.9f, .8f, .7f, .5f}));
  const std::array<bool, 4> kept = {true, false, true, true};
  const std::array<int, 4> cluster = {0, 0, 1, 2};
  const std::array<unsigned, 4> members = {2, 0, 1, 1};
  std::set<int> ids;
  for (std::size_t i = 0; i < 4; i++) {
    EXPECT_EQ(found[i].kept, kept[i]) << i;
    EXPECT_EQ(found[i].cluster_id, cluster[i]) << i;
    EXPECT_EQ(found[i].members, members[i]) << i;
    ids.insert(found[i].id);
  }
  EXPECT_THAT(ids, SizeIs(4));
}

TEST(crowdnms, annotate_marks_clipped_survivors_as_not_kept) {
  NmsHarness nms("mode=annotate max-detections=1");
  const auto out = nms.pass(apart);
  const std::vector<Roi> found = rois(out.get());
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_TRUE(found[0].kept);
  EXPECT_FALSE(found[1].kept);
  EXPECT_EQ(found[1].cluster_id, -1);
  EXPECT_EQ(nms.stat("clipped"), 2u);
}

TEST(crowdnms, annotate_says_nothing_about_what_the_paper_never_looked_at) {
  NmsHarness nms("mode=annotate method=paper paper-d-max=4 paper-k=2");
  std::vector<Candidate> crowd;
  for (int i = 0; i < 6; i++)
    crowd.push_back({float(20 * i), 0, float(20 * i + 9), 12, float(i)});
  EXPECT_EQ(scores(nms.pass(crowd).get()), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(nms.stat("overflow"), 2u);
}

TEST(crowdnms, gives_new_regions_ids_of_their_own) {
  NmsHarness nms("meta-output=roi");
  auto buffer = make_frame(640, 480);
  auto* hint = gst_buffer_add_video_region_of_interest_meta(buffer.get(), "roi/x264", 1, 2, 3, 4);
  hint->id = 41;
  add_boxes(buffer.get(), apart, {.frame_width = 640, .frame_height = 480});
  const auto out = nms.pass(std::move(buffer));
  const std::vector<Roi> found = rois(out.get());
  ASSERT_THAT(found, SizeIs(4));
  EXPECT_EQ(found[1].id, 42);
  EXPECT_EQ(found[3].id, 44);
}

TEST(crowdnms, passes_frames_without_metadata_and_without_candidates) {
  NmsHarness nms;
  const auto bare = nms.pass(make_frame(640, 480));
  ASSERT_NE(bare, nullptr);
  EXPECT_THAT(rectangles(bare.get()), IsEmpty());
  const auto empty = nms.pass(std::vector<Candidate>{}, {.capacity = 8});
  EXPECT_THAT(rectangles(empty.get()), IsEmpty());
  EXPECT_EQ(gst_buffer_get_crowd_boxes_meta(empty.get()), nullptr);
  const auto no_room = nms.pass(std::vector<Candidate>{}, {.capacity = 0});
  EXPECT_THAT(rectangles(no_room.get()), IsEmpty());
  EXPECT_EQ(nms.stat("frames"), 3u);
  EXPECT_EQ(nms.stat("failures"), 0u);
}

TEST(crowdnms, leaves_other_metas_alone) {
  NmsHarness nms;
  auto buffer = make_frame(640, 480);
  auto* crop = gst_buffer_add_video_crop_meta(buffer.get());
  crop->x = 17;
  const Ref<GstCaps> reference(gst_caps_new_empty_simple("timestamp/x-test"));
  gst_buffer_add_reference_timestamp_meta(buffer.get(), reference.get(), 5, 6);
  add_boxes(buffer.get(), apart, {.frame_width = 640, .frame_height = 480});
  const auto out = nms.pass(std::move(buffer));
  EXPECT_EQ(gst_buffer_get_video_crop_meta(out.get()), crop);
  EXPECT_EQ(crop->x, 17u);
  EXPECT_NE(gst_buffer_get_reference_timestamp_meta(out.get(), reference.get()), nullptr);
}

TEST(crowdnms, works_in_place_on_writable_buffers) {
  NmsHarness nms;
  auto buffer = make_frame(640, 480);
  add_boxes(buffer.get(), apart, {});
  GstBuffer* in = buffer.get();
  GstMemory* pixels = gst_buffer_peek_memory(in, 0);
  const auto out = nms.pass(std::move(buffer));
  EXPECT_EQ(out.get(), in);
  EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), pixels);
}

TEST(crowdnms, leaves_shared_buffers_as_they_are) {
  NmsHarness nms;
  auto buffer = make_frame(640, 480);
  add_boxes(buffer.get(), apart, {});
  const Ref<GstBuffer> shared(gst_buffer_ref(buffer.get()));
  const auto out = nms.pass(std::move(buffer));
  EXPECT_NE(out.get(), shared.get());
  EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), gst_buffer_peek_memory(shared.get(), 0));
  EXPECT_NE(gst_buffer_get_crowd_boxes_meta(shared.get()), nullptr);
  EXPECT_THAT(rois(shared.get()), IsEmpty());
  EXPECT_THAT(rois(out.get()), SizeIs(3));
}

TEST(crowdnms, lets_go_of_the_boxes) {
  for (const char* mode : {"mode=replace", "mode=annotate"}) {
    NmsHarness nms(mode);
    auto buffer = make_frame(640, 480);
    add_boxes(buffer.get(), apart, {});
    const Ref<GstMemory> memory(gst_memory_ref(gst_buffer_get_crowd_boxes_meta(buffer.get())->memory));
    auto out = nms.pass(std::move(buffer));
    EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(memory.get()), nms.stat("frames") + (mode[5] == 'a' ? 1 : 0)) << mode;
    out.reset();
    EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(memory.get()), 1) << mode;
    GstMapInfo map;
    ASSERT_TRUE(gst_memory_map(memory.get(), &map, GST_MAP_WRITE)) << "still mapped";
    gst_memory_unmap(memory.get(), &map);
  }
}

}  // namespace
