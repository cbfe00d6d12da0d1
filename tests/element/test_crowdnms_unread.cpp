// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What crowdnms says of frames whose detections it does not read.

#include <gmock/gmock.h>
#include <gst/video/gstvideometa.h>

#if CROWD_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#include "nms_harness.hpp"

namespace {

using namespace crowd::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

GstVideoRegionOfInterestMeta* add_region(GstBuffer* buffer, GstStructure* structure = nullptr) {
  auto* roi = gst_buffer_add_video_region_of_interest_meta(buffer, "face", 10, 20, 30, 40);
  if (structure)
    gst_video_region_of_interest_meta_add_param(roi, structure);
  return roi;
}

/// A meta of an API that GStreamer has from some version on, in whose place stands one of the test's own before.
void add_foreign(GstBuffer* buffer, const char* api) {
  static const gchar* tags[] = {nullptr};
  const GType type = g_type_from_name(api) ? g_type_from_name(api) : gst_meta_api_type_register(api, tags);
  const std::string name = std::string("Test") + api;
  const GstMetaInfo* info = gst_meta_get_info(name.c_str());
  if (!info)
    info = gst_meta_register(
        type, g_intern_string(name.c_str()), sizeof(GstMeta),
        [](GstMeta*, gpointer, GstBuffer*) -> gboolean { return TRUE; }, nullptr, nullptr);
  gst_buffer_add_meta(buffer, info, nullptr);
}

template <typename Attach>
Ref<GstBuffer> pass(NmsHarness& nms, Attach attach) {
  auto buffer = make_frame(640, 480);
  attach(buffer.get());
  return nms.pass(std::move(buffer));
}

void pass_region(NmsHarness& nms, GstStructure* structure = nullptr) {
  pass(nms, [structure](GstBuffer* buffer) { add_region(buffer, structure); });
}

TEST(crowdnms_unread, regions_without_a_score_are_told_once_and_stay) {
  for (const char* properties : {"", "meta-source=roi", "mode=annotate"}) {
    NmsHarness nms(properties);
    for (int i = 0; i < 3; i++)
      EXPECT_EQ(rois(pass(nms, [](GstBuffer* buffer) { add_region(buffer); }).get()).size(), 1u);
    EXPECT_THAT(take_warnings(nms.bus()),
                ElementsAre(AllOf(HasSubstr("no score"), HasSubstr("\"detection\""), HasSubstr("\"confidence\""))))
        << properties;
    EXPECT_EQ(nms.stat("candidates"), 0u);
    nms.restart();
    pass_region(nms);
    EXPECT_EQ(take_warnings(nms.bus()).size(), 1u) << "again after a restart";
  }
}

TEST(crowdnms_unread, a_score_that_is_no_number_is_none) {
  NmsHarness nms;
  pass_region(nms, gst_structure_new("extra-data", "confidence", G_TYPE_STRING, "high", nullptr));
  EXPECT_EQ(take_warnings(nms.bus()).size(), 1u);
}

TEST(crowdnms_unread, regions_with_structures_of_another_purpose_are_no_detections) {
  NmsHarness nms;
  pass_region(nms, gst_structure_new("roi/x264enc", "delta-qp", G_TYPE_INT, -10, nullptr));
  pass_region(nms, gst_structure_new("nms", "score", G_TYPE_DOUBLE, .5, "kept", G_TYPE_BOOLEAN, TRUE, nullptr));
  pass_region(nms, gst_structure_new("roi/omx", "quality", G_TYPE_STRING, "high", nullptr));
  EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
}

TEST(crowdnms_unread, frames_whose_candidates_are_read_are_not_told_of) {
  NmsHarness nms;
  const auto with_boxes = [](GstBuffer* buffer) {
    add_region(buffer);
    add_boxes(buffer, row_of_three, {.frame_width = 640, .frame_height = 480});
  };
  pass(nms, with_boxes);
  EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
  pass_region(nms);
  EXPECT_THAT(take_warnings(nms.bus()), IsEmpty()) << "there have been candidates";
}

TEST(crowdnms_unread, one_region_with_a_score_is_enough) {
  NmsHarness nms;
  pass(nms, [](GstBuffer* buffer) {
    add_region(buffer);
    add_region(buffer, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, .5, nullptr));
  });
  EXPECT_EQ(nms.stat("candidates"), 1u);
  EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
}

TEST(crowdnms_unread, metas_of_newer_gstreamers_are_told_once) {
  if (CROWD_HAVE_ANALYTICS)
    GTEST_SKIP() << "this build reads them";
  NmsHarness nms;
  for (int i = 0; i < 3; i++)
    pass(nms, [](GstBuffer* buffer) { add_foreign(buffer, "GstAnalyticsRelationMetaAPI"); });
  EXPECT_THAT(take_warnings(nms.bus()),
              ElementsAre(AllOf(HasSubstr("a GstAnalyticsRelationMeta"), HasSubstr("GstCrowdBoxesMeta"))));
}

using Attach = void (*)(GstBuffer*);

void add_tensors(GstBuffer* buffer) {
  add_foreign(buffer, "GstTensorMetaAPI");
}

/// Frames with tensors, and maybe what decoders leave.
void pass_tensors(
    NmsHarness& nms, int frames, Attach more = [](GstBuffer*) {}) {
  for (int i = 0; i < frames; i++)
    pass(nms, [more](GstBuffer* buffer) {
      add_tensors(buffer);
      more(buffer);
    });
}

const auto of_tensors = AllOf(HasSubstr("a GstTensorMeta"), HasSubstr("GstCrowdBoxesMeta"));

TEST(crowdnms_unread, tensors_are_told_of_once_they_have_been_on_many_frames) {
  std::vector<std::string> sources = {"auto", "roi"};
  if (CROWD_HAVE_ANALYTICS)
    sources.emplace_back("analytics");
  for (const std::string& source : sources) {
    NmsHarness nms("meta-source=" + source);
    pass_tensors(nms, 29);
    EXPECT_THAT(take_warnings(nms.bus()), IsEmpty()) << source;
    pass_tensors(nms, 31);
    EXPECT_THAT(take_warnings(nms.bus()), ElementsAre(of_tensors)) << source;
    nms.restart();
    pass_tensors(nms, 29);
    EXPECT_THAT(take_warnings(nms.bus()), IsEmpty()) << "counted anew";
  }
}

TEST(crowdnms_unread, or_at_the_end_of_the_stream) {
  NmsHarness nms;
  pass_tensors(nms, 2);
  EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
  gst_harness_push_event(nms.harness(), gst_event_new_eos());
  EXPECT_THAT(take_warnings(nms.bus()), ElementsAre(of_tensors));
}

TEST(crowdnms_unread, tensors_that_a_decoder_has_read_are_not_told_of) {
  const Attach traces[] = {
#if CROWD_HAVE_ANALYTICS
    [](GstBuffer* buffer) { gst_buffer_add_analytics_relation_meta(buffer); },
#endif
    [](GstBuffer* buffer) { add_foreign(buffer, "GstCrowdDecodedMarkAPI"); }
  };
  for (const Attach trace : traces) {
    NmsHarness nms;
    pass_tensors(nms, 40, trace);
    gst_harness_push_event(nms.harness(), gst_event_new_eos());
    EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
  }
}

TEST(crowdnms_unread, nor_are_those_of_a_stream_that_had_candidates) {
  for (const bool first : {false, true}) {
    NmsHarness nms;
    for (const bool candidates : {first, !first}) {
      if (candidates)
        nms.pass(row_of_three);
      else
        pass_tensors(nms, first ? 40 : 20);
    }
    gst_harness_push_event(nms.harness(), gst_event_new_eos());
    EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
  }
}

TEST(crowdnms_unread, other_metas_are_none_of_its_business) {
  NmsHarness nms;
  pass(nms, [](GstBuffer* buffer) {
    add_foreign(buffer, "CrowdTestOtherMetaAPI");
    gst_buffer_add_video_meta(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12, 640, 480);
  });
  pass(nms, [](GstBuffer*) {});
  EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
}

TEST(crowdnms_unread, what_meta_source_leaves_out_is_left_out_on_purpose) {
  NmsHarness nms("meta-source=boxes");
  pass_region(nms);
  pass_tensors(nms, 40);
  EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
}

#if CROWD_HAVE_ANALYTICS
TEST(crowdnms_unread, regions_are_left_out_on_purpose_where_objects_are_read) {
  NmsHarness nms("meta-source=analytics");
  pass_region(nms);
  EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
}
#endif

}  // namespace
