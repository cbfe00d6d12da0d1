// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowdnms with rules that read more of candidates than boxes: each on boxes that the plain rule answers differently,
// and what becomes of frames that lack what the rule reads.

#include <crowd/nms.h>
#include <gmock/gmock.h>
#include <gst/crowd/gstcrowdboxesarrays.h>

#include <cmath>
#include <cstring>

#include "nms_harness.hpp"

namespace {

using namespace crowd::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// The pair overlaps by an IoU of 0.6; one is apart.
const std::vector<Candidate> pair_and_one = {
    {100, 50, 180, 90, .9f}, {120, 50, 200, 90, .8f}, {300, 200, 380, 290, .7f}};

/// What is attached beside boxes; empty: no such array.
struct Arrays {
  std::vector<float> densities{};
  std::vector<guint32> proposals{};
  std::vector<GstCrowdBox> visible{};
  std::vector<float> features{};
};

template <typename T>
GBytes* bytes_of(const std::vector<T>& values) {
  return values.empty() ? nullptr : g_bytes_new(values.data(), values.size() * sizeof(T));
}

void add_arrays(GstBuffer* buffer, const Arrays& arrays) {
  GBytes* all[] = {bytes_of(arrays.densities), bytes_of(arrays.proposals), bytes_of(arrays.visible),
                   bytes_of(arrays.features)};
  GError* error = nullptr;
  EXPECT_TRUE(gst_crowd_boxes_meta_set_array_bytes(gst_buffer_get_crowd_boxes_meta(buffer), all[0], all[1], all[2],
                                                   all[3], nullptr, &error));
  EXPECT_EQ(error, nullptr) << error->message;
  for (GBytes* bytes : all)
    g_clear_pointer(&bytes, g_bytes_unref);
}

Ref<GstBuffer> frame_with(const std::vector<Candidate>& candidates, const Arrays& arrays, BoxesOptions options = {}) {
  Ref<GstBuffer> buffer = make_frame(640, 480);
  options.frame_width = 640, options.frame_height = 480;
  add_boxes(buffer.get(), candidates, options);
  add_arrays(buffer.get(), arrays);
  return buffer;
}

/// Scores of the survivors.
std::vector<float> kept(NmsHarness& nms, Ref<GstBuffer> buffer) {
  const auto out = nms.pass(std::move(buffer));
  std::vector<float> all;
  for (const Roi& roi : rois(out.get()))
    all.push_back(float(roi.score));
  return all;
}

/// Of the pair, and of two others that overlap by 0.6: what an array says is asked of the right candidate.
const std::vector<Candidate> two_pairs = {
    {100, 50, 180, 90, .9f}, {120, 50, 200, 90, .8f}, {100, 250, 180, 290, .7f}, {120, 250, 200, 290, .6f}};

/// Arrays by which the first pair of two_pairs is two objects, and the second is one.
const Arrays first_pair_is_two = {
    .densities = {.65f, .1f, .2f, .9f},
    .proposals = {7, 7, 4000000000u, 7},
    .visible = {{100, 50, 140, 90}, {160, 50, 200, 90}, {100, 250, 180, 290}, {120, 250, 200, 290}},
    .features = {0, 0, 3, 4, 9, 9, 9, 9.5f},
};

class each_rule : public testing::TestWithParam<std::string> {};

/// Of rules that spare pairs.
std::vector<std::string> rule_names() {
  std::vector<std::string> names;
  for (guint rule = CROWD_NMS_PLAIN + 1; const CrowdNmsRuleInfo* info = crowd_nms_rule_info(rule); rule++)
    names.push_back(info->name);
  return names;
}

TEST_P(each_rule, spares_pairs_that_the_plain_rule_does_not) {
  NmsHarness nms("iou-threshold=0.5 meta-output=roi");
  EXPECT_THAT(kept(nms, frame_with(two_pairs, first_pair_is_two)), ElementsAre(.9f, .7f)) << "plain";
  gst_util_set_object_arg(G_OBJECT(nms.element()), "rule", GetParam().c_str());
  g_object_set(nms.element(), "iou-threshold", GetParam() == "feature" ? .7 : .5, nullptr);
  EXPECT_THAT(kept(nms, frame_with(two_pairs, first_pair_is_two)), ElementsAre(.9f, .8f, .7f));
  gst_util_set_object_arg(G_OBJECT(nms.element()), "rule", "plain");
  g_object_set(nms.element(), "iou-threshold", .5, nullptr);
  EXPECT_THAT(kept(nms, frame_with(two_pairs, first_pair_is_two)), ElementsAre(.9f, .7f)) << "while it plays";
  EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
}

TEST_P(each_rule, reads_arrays_of_a_memory_with_room_to_spare) {
  NmsHarness nms(std::string("iou-threshold=0.7 meta-output=roi rule=") + GetParam());
  if (GetParam() != "feature")
    g_object_set(nms.element(), "iou-threshold", .5, nullptr);
  EXPECT_THAT(kept(nms, frame_with(two_pairs, first_pair_is_two, {.capacity = 100})), ElementsAre(.9f, .8f, .7f));
}

TEST_P(each_rule, drops_candidates_that_lack_its_array) {
  NmsHarness nms(std::string("meta-output=roi rule=") + GetParam());
  for (int i = 0; i < 3; i++)
    EXPECT_THAT(kept(nms, frame_with(pair_and_one, {})), IsEmpty());
  EXPECT_THAT(kept(nms, make_frame(640, 480)), IsEmpty()) << "no candidates, nothing to say";
  EXPECT_EQ(nms.stat("failures"), 3u);
  const auto warnings = take_warnings(nms.bus());
  ASSERT_THAT(warnings, SizeIs(1)) << "one from start to stop";
  EXPECT_THAT(warnings[0],
              AllOf(HasSubstr(std::string("rule=") + GetParam() + " reads "), HasSubstr("set rule=plain")));
  EXPECT_THAT(kept(nms, frame_with(two_pairs, first_pair_is_two)), testing::Not(IsEmpty())) << "the next frame is read";
}

TEST_P(each_rule, takes_an_empty_frame) {
  NmsHarness nms(std::string("rule=") + GetParam());
  EXPECT_THAT(kept(nms, frame_with({}, {})), IsEmpty());
  EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
  EXPECT_EQ(nms.stat("failures"), 0u);
}

INSTANTIATE_TEST_SUITE_P(, each_rule, testing::ValuesIn(rule_names()), [](const auto& rule) { return rule.param; });

TEST(crowdnms_rules, methods_without_rules_ignore_them) {
  NmsHarness nms("method=paper rule=set meta-output=roi");
  EXPECT_THAT(kept(nms, frame_with(pair_and_one, {})), ElementsAre(.9f, .7f));
  EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
}

TEST(crowdnms_rules, regions_have_no_arrays) {
  NmsHarness nms("rule=set");
  EXPECT_THAT(rectangles(nms.pass(frame_with_region()).get()), IsEmpty());
  EXPECT_THAT(take_warnings(nms.bus()), ElementsAre(HasSubstr("rule=set reads proposals")));
}

TEST(crowdnms_rules, features_are_told_apart_by_distance_between_two_overlaps) {
  NmsHarness nms("rule=feature iou-threshold=0.9 min-overlap=0.1 max-distance=4.99 meta-output=roi");
  const Arrays five_apart = {.features = {0, 0, 3, 4, 0, 0}};
  EXPECT_THAT(kept(nms, frame_with(pair_and_one, five_apart)), SizeIs(3));
  g_object_set(nms.element(), "max-distance", 5., nullptr);
  EXPECT_THAT(kept(nms, frame_with(pair_and_one, five_apart)), SizeIs(2));
  g_object_set(nms.element(), "min-overlap", .61, nullptr);
  EXPECT_THAT(kept(nms, frame_with(pair_and_one, five_apart)), SizeIs(3));
}

TEST(crowdnms_rules, a_min_overlap_above_the_threshold_waits_until_they_fit) {
  NmsHarness nms("rule=feature iou-threshold=0.9 min-overlap=0.1 max-distance=10 meta-output=roi");
  const Arrays alike = {.features = {0, 0, 3}};
  EXPECT_THAT(kept(nms, frame_with(pair_and_one, alike)), SizeIs(2));
  g_object_set(nms.element(), "iou-threshold", .05, nullptr);
  EXPECT_THAT(kept(nms, frame_with(pair_and_one, alike)), SizeIs(2)) << "as before";
  EXPECT_THAT(take_warnings(nms.bus()),
              ElementsAre(AllOf(HasSubstr("min-overlap is 0.1"), HasSubstr("iou-threshold"))));
  g_object_set(nms.element(), "iou-threshold", .65, "max-distance", 1., "min-overlap", .05, nullptr);
  EXPECT_THAT(kept(nms, frame_with(pair_and_one, alike)), SizeIs(2)) << "distance 0";
}

TEST(crowdnms_rules, nan_is_counted_and_told_once) {
  const float nan = std::nanf("");
  NmsHarness nms("rule=adaptive iou-threshold=0.5 meta-output=roi");
  for (int i = 0; i < 2; i++)
    EXPECT_THAT(kept(nms, frame_with(pair_and_one, {.densities = {nan, .9f, nan}})), ElementsAre(.9f, .7f));
  EXPECT_EQ(nms.stat("nan-candidates"), 4u);
  EXPECT_THAT(take_warnings(nms.bus()), ElementsAre(HasSubstr("Densities of 2 candidates of a frame are NaN")));
  nms.restart();
  gst_util_set_object_arg(G_OBJECT(nms.element()), "rule", "feature");
  g_object_set(nms.element(), "iou-threshold", .9, nullptr);
  EXPECT_THAT(kept(nms, frame_with(pair_and_one, {.features = {0, nan, 0, nan, 0, 0}})), SizeIs(3));
  EXPECT_EQ(nms.stat("nan-candidates"), 2u);
  EXPECT_THAT(take_warnings(nms.bus()), ElementsAre(HasSubstr("Features of 2 candidates")));
}

TEST(crowdnms_rules, visible_boxes_that_are_none_are_invalid) {
  NmsHarness nms("rule=visible meta-output=roi");
  const float nan = std::nanf("");
  const Arrays arrays = {.visible = {{100, 50, 180, nan}, {120, 50, 200, 90}, {300, 200, 300, 290}}};
  EXPECT_THAT(kept(nms, frame_with(pair_and_one, arrays)), ElementsAre(.8f));
  EXPECT_EQ(nms.stat("invalid"), 2u);
}

TEST(crowdnms_rules, arrays_that_no_memory_can_have_are_refused) {
  struct Bad {
    guint arrays, feature_length;
    const char* text;
  };
  for (const Bad& bad :
       {Bad{GST_CROWD_BOXES_FEATURES, 0, "feature_length"}, Bad{GST_CROWD_BOXES_FEATURES, 4097, "feature_length"},
        Bad{GST_CROWD_BOXES_NO_ARRAYS, 1, "feature_length"}, Bad{1u << 20, 0, "arrays are unknown"},
        Bad{GST_CROWD_BOXES_FEATURES, 4096, "too small for its capacity and arrays"},
        Bad{GST_CROWD_BOXES_DENSITIES, 0, "too small for its capacity and arrays"}}) {
    NmsHarness nms("meta-output=roi");
    Ref<GstBuffer> buffer = make_frame(640, 480);
    add_boxes(buffer.get(), pair_and_one, {.frame_width = 640, .frame_height = 480});
    GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_boxes_meta(buffer.get());
    meta->arrays = bad.arrays;
    meta->feature_length = bad.feature_length;
    EXPECT_THAT(kept(nms, std::move(buffer)), IsEmpty());
    EXPECT_THAT(take_warnings(nms.bus()), ElementsAre(HasSubstr(bad.text))) << bad.arrays << " " << bad.feature_length;
    EXPECT_EQ(nms.stat("failures"), 1u);
  }
}

TEST(crowdnms_rules, visible_boxes_are_placed_with_boxes) {
  // Coordinates of a model's input of half the frame: the same answer, and survivors where their full boxes are.
  NmsHarness nms("rule=visible meta-output=roi");
  const GstCrowdBoxesPlacement twice = {.xx = 2, .xy = 0, .x0 = 0, .yx = 0, .yy = 2, .y0 = 0};
  const auto out = nms.pass(frame_with({{50, 25, 90, 45, .9f}, {60, 25, 100, 45, .8f}},
                                       {.visible = {{50, 25, 70, 45}, {80, 25, 100, 45}}}, {.placement = twice}));
  EXPECT_THAT(rectangles(out.get()), ElementsAre("object@100,50,80,40", "object@120,50,80,40"));
}

TEST(crowdnms_rules, sigma_and_others_refuse_what_is_out_of_range) {
  NmsHarness nms;
  for (const double sigma : {0., -1.})
    expect_refused(nms.element(), "sigma", sigma);
  expect_refused(nms.element(), "max-distance", -1);
}

}  // namespace
