// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What crowdoverlay reads out of the metadata of a buffer, and that crowdnms reads the same out of a region.

#include <gmock/gmock.h>
#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/video/gstvideometa.h>

#include <cmath>

#include "nms_harness.hpp"
#include "overlay/draw/detections.hpp"

namespace {

using namespace crowd::test;
using crowd::draw::Detection;
using crowd::draw::Detections;
using testing::IsEmpty;
using testing::SizeIs;

Ref<GstBuffer> frame_with(std::vector<GstStructure*> params) {
  auto buffer = make_frame(640, 480);
  auto* region = gst_buffer_add_video_region_of_interest_meta(buffer.get(), "person", 10, 20, 30, 40);
  for (GstStructure* param : params)
    gst_video_region_of_interest_meta_add_param(region, param);
  return buffer;
}

/// A region read by the overlay and by crowdnms, which reports what it read as a survivor.
struct Case {
  const char* name;
  std::vector<const char*> params;
  double score;  ///< NaN: none
  int class_id;
  const char* label;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class region : public testing::TestWithParam<Case> {
 protected:
  static Ref<GstBuffer> frame() {
    std::vector<GstStructure*> params;
    for (const char* text : GetParam().params)
      params.push_back(gst_structure_from_string(text, nullptr));
    return frame_with(params);
  }
};

TEST_P(region, is_read_the_same_by_those_who_draw_and_those_who_cluster) {
  const auto buffer = frame();
  Detections found;
  found.read(buffer.get(), {640, 480});
  ASSERT_THAT(found.survivors, SizeIs(1));
  const Detection& drawn = found.survivors[0];
  EXPECT_EQ(drawn.class_id, GetParam().class_id);
  EXPECT_STREQ(drawn.label, GetParam().label);
  EXPECT_THAT(drawn.score, testing::NanSensitiveFloatEq(static_cast<float>(GetParam().score)));

  NmsHarness nms("meta-source=roi");
  const auto out = nms.pass(frame());
  ASSERT_THAT(rois(out.get()), SizeIs(1));
  const double clustered = std::isnan(GetParam().score) ? 1 : static_cast<float>(GetParam().score);
  EXPECT_EQ(rois(out.get())[0].score, clustered) << "a detection without a score has the score 1";
  EXPECT_EQ(nms.stat("candidates"), 1u);
}

INSTANTIATE_TEST_SUITE_P(
    all, region,
    testing::Values(
        Case{"confidence", {"detection, confidence=(double)0.75, label_id=(int)3;"}, .75, 3, "person"},
        Case{"without_confidence", {"detection, label_id=(int)3;"}, NAN, 3, "person"},
        Case{"first_of_two", {"a, confidence=(double)0.5;", "b, score=(double)0.25;"}, .5, -1, "person"},
        Case{"detection_first", {"a, confidence=(double)0.5;", "detection, score=(double)0.25;"}, .25, -1, "person"},
        Case{"label_id_of_another",
             {"age, label_id=(int)9;", "detection, confidence=(double)0.5;", "sex, label_id=(int)8;"},
             .5,
             -1,
             "person"},
        Case{"negative_label_id", {"detection, confidence=(double)0.5, label_id=(int)-7;"}, .5, -1, "person"},
        Case{"integer_confidence", {"detection, confidence=(int)80, label_id=(uint)3;"}, 80, 3, "person"},
        Case{"unsigned_confidence", {"detection, confidence=(uint)4000000000, label_id=(gint64)3;"}, 4e9, 3, "person"},
        Case{"long_confidence", {"a, confidence=(gint64)-7, label_id=(guint64)3;"}, -7, 3, "person"},
        Case{"label_id_out_of_range",
             {"detection, confidence=(guint64)2, label_id=(gint64)4294967296;"},
             2,
             -1,
             "person"},
        Case{"extra_data", {"extra-data, label=(string)dog, score=(double)0.5;"}, .5, -1, "dog"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(regions, that_are_no_detection_are_left_out_by_both) {
  for (const char* param : {"roi/x264enc, delta-qp=(double)-1;", "nms, score=(double)0.5;", "a, score=(string)1;"}) {
    const auto frame = [param] { return frame_with({gst_structure_from_string(param, nullptr)}); };
    Detections found;
    found.read(frame().get(), {640, 480});
    EXPECT_THAT(found.survivors, IsEmpty()) << param;
    NmsHarness nms("meta-source=roi");
    nms.pass(frame());
    EXPECT_EQ(nms.stat("candidates"), 0u) << param;
  }
}

Detections read(GstBuffer* buffer) {
  Detections found;
  found.read(buffer, {640, 480});
  return found;
}

TEST(boxes, count_the_overflow_as_candidates_up_to_the_maximum) {
  for (const std::uint32_t count : {3u, GST_CROWD_BOXES_MAX_CAPACITY}) {
    auto buffer = make_frame(640, 480);
    add_boxes(buffer.get(), row_of_three, {.count = count});
    const Detections found = read(buffer.get());
    EXPECT_THAT(found.candidates, SizeIs(3));
    EXPECT_EQ(found.summary.candidates, count);
    EXPECT_EQ(found.problem, nullptr);
  }
}

TEST(boxes, whose_count_cannot_be_are_a_problem_and_no_number) {
  for (const std::uint32_t count : {GST_CROWD_BOXES_MAX_CAPACITY + 1, 0xdeadbeefu}) {
    auto buffer = make_frame(640, 480);
    add_boxes(buffer.get(), row_of_three, {.count = count});
    const Detections found = read(buffer.get());
    EXPECT_THAT(found.candidates, IsEmpty());
    EXPECT_EQ(found.summary.candidates, 0u);
    EXPECT_THAT(found.problem, testing::HasSubstr("count"));
  }
}

TEST(boxes, that_crowdnms_annotates_are_read_once) {
  NmsHarness nms("mode=annotate");
  const auto out = nms.pass(row_of_three);
  const Detections found = read(out.get());
  EXPECT_THAT(found.survivors, SizeIs(2));
  EXPECT_THAT(found.candidates, SizeIs(3));
  EXPECT_EQ(found.summary.candidates, 3u);
  EXPECT_EQ(found.summary.survivors, 2u);
}

/// A region of crowdnms mode=annotate, as converters of GStreamer 1.22 leave it: without what it said.
Ref<GstBuffer> without_params(Ref<GstBuffer> buffer) {
  gpointer state = nullptr;
  while (GstMeta* meta =
             gst_buffer_iterate_meta_filtered(buffer.get(), &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto* roi = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    g_list_free_full(roi->params, reinterpret_cast<GDestroyNotify>(gst_structure_free));
    roi->params = nullptr;
  }
  return buffer;
}

TEST(regions, that_do_not_say_they_are_kept_are_no_survivors_where_crowdnms_marks_them) {
  NmsHarness nms("mode=annotate meta-source=boxes meta-output=roi");
  const auto out = without_params(nms.pass(row_of_three));
  gst_buffer_remove_crowd_boxes_meta(out.get(), gst_buffer_get_crowd_boxes_meta(out.get()));
  const Detections found = read(out.get());
  EXPECT_THAT(found.survivors, IsEmpty());
  EXPECT_THAT(found.candidates, SizeIs(3));
  EXPECT_THAT(found.problem, testing::HasSubstr("meta-output=all or mode=replace"));
}

TEST(regions, of_replaced_candidates_are_survivors_whatever_became_of_what_they_said) {
  NmsHarness nms;
  const auto out = without_params(nms.pass(row_of_three));
  const Detections found = read(out.get());
  EXPECT_THAT(found.survivors, SizeIs(2));
  EXPECT_EQ(found.problem, nullptr);
}

TEST(regions, that_do_not_say_they_are_kept_are_no_survivors_on_a_stream_where_others_did) {
  Detections found;
  const auto marked = frame_with({gst_structure_from_string("detection, confidence=(double)0.5;", nullptr),
                                  gst_structure_from_string("nms, kept=(boolean)false;", nullptr)});
  const auto plain = [] {
    return frame_with({gst_structure_from_string("detection, confidence=(double)0.5;", nullptr)});
  };
  found.read(plain().get(), {640, 480});
  EXPECT_THAT(found.survivors, SizeIs(1)) << "no region has said anything yet";
  found.read(marked.get(), {640, 480});
  EXPECT_THAT(found.survivors, IsEmpty());
  found.read(plain().get(), {640, 480});
  EXPECT_THAT(found.survivors, IsEmpty());
  EXPECT_THAT(found.candidates, SizeIs(1));
}

}  // namespace
