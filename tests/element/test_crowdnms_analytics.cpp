// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowdnms with candidates in GstAnalytics: what it reads, and what it leaves of their relation meta.

#include <gmock/gmock.h>
#include <gst/video/gstvideometa.h>

#include <cmath>

#include "analytics_support.hpp"
#include "nms_harness.hpp"

namespace {

using namespace crowd::test;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// A frame with room for 64 things in its relation meta, which `fill` fills, through crowdnms.
template <typename Fill>
Ref<GstBuffer> pass(NmsHarness& nms, Fill fill) {
  Ref<GstBuffer> buffer = make_frame(640, 480);
  fill(buffer.get(), add_relations(buffer.get()));
  return nms.pass(std::move(buffer));
}

template <typename Fill>
Ref<GstBuffer> pass(const char* properties, Fill fill) {
  NmsHarness nms(properties);
  return pass(nms, fill);
}

constexpr char only_analytics[] = "meta-output=analytics";

TEST(crowdnms_analytics, leaves_the_best_object_of_each_cluster_in_the_order_they_came) {
  NmsHarness nms;
  const auto out = pass(nms, [](GstBuffer*, GstAnalyticsRelationMeta* meta) {
    add_od(meta, "a", 10, 10, 40, 40, .5f);
    add_od(meta, "a", 12, 10, 40, 40, .75f);
    add_od(meta, "a", 200, 100, 40, 40, .875f);
  });
  EXPECT_THAT(od_rectangles(out.get()), ElementsAre("a@12,10,40,40", "a@200,100,40,40"));
  EXPECT_EQ(ods(out.get())[0].confidence, .75f);
  EXPECT_EQ(nms.stat("candidates"), 3u);
  EXPECT_EQ(nms.stat("suppressed"), 1u);
  EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
}

TEST(crowdnms_analytics, the_class_is_that_of_the_classification) {
  const auto out = pass("", [](GstBuffer*, GstAnalyticsRelationMeta* meta) {
    add_classified(meta, "face", 10, 10, 40, 40, .5f);
    add_classified(meta, "person", 10, 10, 40, 40, .75f);
    add_classified(meta, "face", 11, 10, 40, 40, .25f);
  });
  EXPECT_THAT(ods(out.get()), SizeIs(2));
  EXPECT_THAT(rectangles(out.get()), ElementsAre("person@10,10,40,40", "face@10,10,40,40"));
}

TEST(crowdnms_analytics, the_best_level_decides_and_none_above_zero_is_no_class) {
  const float nan = std::nanf("");
  const auto out = pass("", [nan](GstBuffer*, GstAnalyticsRelationMeta* meta) {
    const guint labels = add_cls(meta, {{"wolf", 0.f}, {"bear", 0.f}});
    const guint first = add_od(meta, "dog", 10, 10, 40, 40, .5f);
    relate(meta, first, add_cls(meta, {{"hen", nan}, {"cat", .25f}, {"cow", .5f}, {"pig", .375f}}));
    const guint second = add_od(meta, "dog", 10, 10, 40, 40, .75f);
    relate(meta, first, labels);
    relate(meta, second, labels);
    add_od(meta, "cow", 10, 10, 40, 40, .25f);
    relate(meta, second, add_cls(meta, {{"hat", .5f}}), GST_ANALYTICS_REL_TYPE_CONTAIN);
  });
  EXPECT_THAT(rectangles(out.get()), ElementsAre("dog@10,10,40,40", "cow@10,10,40,40"));
}

TEST(crowdnms_analytics, classifications_may_lie_anywhere) {
  const auto out = pass("", [](GstBuffer*, GstAnalyticsRelationMeta* meta) {
    const guint a = add_od(meta, "", 10, 10, 40, 40, .5f), b = add_od(meta, "", 10, 10, 40, 40, .75f);
    const guint c = add_od(meta, "", 10, 10, 40, 40, .25f), d = add_od(meta, "", 10, 10, 40, 40, .125f);
    const guint cat = add_cls(meta, {{"cat", 1.f}}), cow = add_cls(meta, {{"cow", 1.f}});
    for (const auto& [object, classification] : {std::pair{a, cat}, {b, cow}, {c, cow}, {d, cat}})
      relate(meta, object, classification);
  });
  EXPECT_THAT(rectangles(out.get()), ElementsAre("cow@10,10,40,40", "cat@10,10,40,40"));
  EXPECT_THAT(mtd_names(out.get()), ElementsAre("object", "object", "classification", "classification"));
  EXPECT_EQ(related(out.get(), 0, 2), GST_ANALYTICS_REL_TYPE_RELATE_TO);
  EXPECT_EQ(related(out.get(), 1, 3), GST_ANALYTICS_REL_TYPE_RELATE_TO);
  EXPECT_EQ(related(out.get(), 0, 3), 0);
}

TEST(crowdnms_analytics, names_keep_their_numbers_from_frame_to_frame) {
  NmsHarness nms("meta-output=roi");
  const auto frame = [&nms](const char* name) {
    return rois(pass(nms,
                     [name](GstBuffer*, GstAnalyticsRelationMeta* meta) { add_od(meta, name, 10, 10, 40, 40, .5f); })
                    .get())[0]
        .label_id;
  };
  EXPECT_EQ(frame("cat"), 0);
  EXPECT_EQ(frame("cow"), 1);
  EXPECT_EQ(frame("cat"), 0);
}

TEST(crowdnms_analytics, a_frame_without_suppressed_objects_keeps_its_meta) {
  guint64 before = 0;
  const auto out = pass("", [&before](GstBuffer*, GstAnalyticsRelationMeta* meta) {
    before = number_of(meta);
    add_od(meta, "a", 10, 10, 40, 40, .5f);
    add_od(meta, "a", 100, 10, 40, 40, .5f);
  });
  EXPECT_EQ(number_of(relations(out.get())), before);
  EXPECT_THAT(ods(out.get()), SizeIs(2));
}

TEST(crowdnms_analytics, a_meta_without_objects_has_no_candidates) {
  guint64 before = 0;
  NmsHarness nms;
  const auto out = pass(nms, [&before](GstBuffer*, GstAnalyticsRelationMeta* meta) {
    before = number_of(meta);
    add_track(meta, 7);
  });
  EXPECT_EQ(number_of(relations(out.get())), before);
  EXPECT_THAT(mtd_names(out.get()), ElementsAre("tracking"));
  EXPECT_EQ(nms.stat("candidates"), 0u);
  EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
  pass(nms, [](GstBuffer*, GstAnalyticsRelationMeta*) {});
  EXPECT_EQ(nms.stat("failures"), 0u);
}

TEST(crowdnms_analytics, what_belongs_to_kept_objects_stays_with_its_relations) {
  const auto out = pass(only_analytics, [](GstBuffer*, GstAnalyticsRelationMeta* meta) {
    const guint frame = add_cls(meta, {{"indoors", 1.f}});
    const guint dropped = add_classified(meta, "face", 10, 10, 40, 40, .5f);
    relate(meta, dropped, add_track(meta, 1));
    const guint kept = add_classified(meta, "face", 12, 10, 40, 40, .75f);
    const guint track = add_track(meta, 2);
    relate(meta, kept, track, GST_ANALYTICS_REL_TYPE_CONTAIN);
    relate(meta, track, kept, GST_ANALYTICS_REL_TYPE_IS_PART_OF);
    const guint body = add_classified(meta, "body", 100, 100, 40, 140, .75f);
    relate(meta, body, kept, GST_ANALYTICS_REL_TYPE_CONTAIN);
    relate(meta, body, dropped, GST_ANALYTICS_REL_TYPE_CONTAIN);
    relate(meta, kept, frame, GST_ANALYTICS_REL_TYPE_IS_PART_OF);
  });
  ASSERT_THAT(mtd_names(out.get()),
              ElementsAre("classification", "object", "classification", "tracking", "object", "classification"));
  std::vector<std::string> found;
  for (guint from = 0; from < 6; from++) {
    for (guint to = 0; to < 6; to++) {
      if (const int types = related(out.get(), from, to))
        found.push_back(std::to_string(from) + (types == 2 ? "<" : types == 4 ? ">" : "-") + std::to_string(to));
    }
  }
  EXPECT_THAT(found, ElementsAre("1<0", "1-2", "1>3", "3<1", "4>1", "4-5"));
  GstAnalyticsTrackingMtd track = {3, relations(out.get())};
  guint64 number = 0;
  GstClockTime first, last;
  gboolean lost;
  ASSERT_TRUE(gst_analytics_tracking_mtd_get_info(&track, &number, &first, &last, &lost));
  EXPECT_EQ(number, 2u);
}

TEST(crowdnms_analytics, what_several_objects_share_goes_with_the_last_of_them) {
  for (const float other_score : {.25f, .75f}) {
    const auto out = pass(only_analytics, [other_score](GstBuffer*, GstAnalyticsRelationMeta* meta) {
      const guint a = add_od(meta, "cat", 10, 10, 40, 40, .5f);
      const guint shared = add_cls(meta, {{"cat", 0.f}, {"cow", 0.f}});
      const guint b = add_od(meta, "cat", 12, 10, 40, 40, other_score);
      relate(meta, a, shared);
      relate(meta, b, shared);
      const guint far = add_track(meta, 1), farther = add_track(meta, 2), alone = add_track(meta, 3);
      relate(meta, other_score < .5f ? b : a, far);
      relate(meta, far, farther);
      relate(meta, farther, far);
      relate(meta, alone, far);
    });
    if (other_score < .5f)
      EXPECT_THAT(mtd_names(out.get()), ElementsAre("object", "classification", "tracking"));
    else
      EXPECT_THAT(mtd_names(out.get()), ElementsAre("classification", "object", "tracking"));
  }
}

TEST(crowdnms_analytics, annotate_relates_members_to_their_keeper) {
  guint64 before = 0;
  const auto out = pass("mode=annotate max-detections=2", [&before](GstBuffer*, GstAnalyticsRelationMeta* meta) {
    before = number_of(meta);
    const guint a = add_od(meta, "a", 10, 10, 40, 40, .5f);
    const guint b = add_od(meta, "a", 12, 10, 40, 40, .75f);
    relate(meta, a, b);
    add_od(meta, "a", 200, 10, 40, 40, .75f);
    add_od(meta, "a", 400, 10, 40, 40, .25f);
    add_od(meta, "a", 402, 10, 40, 40, .125f);
    add_od(meta, "a", 402, 10, -1, 40, .125f);
  });
  EXPECT_EQ(number_of(relations(out.get())), before);
  EXPECT_THAT(ods(out.get()), SizeIs(6));
  EXPECT_EQ(related(out.get(), 1, 0), GST_ANALYTICS_REL_TYPE_CONTAIN);
  EXPECT_EQ(related(out.get(), 0, 1), GST_ANALYTICS_REL_TYPE_IS_PART_OF | GST_ANALYTICS_REL_TYPE_RELATE_TO);
  for (guint id = 2; id < 6; id++) {
    for (guint other = 0; other < 6; other++)
      EXPECT_EQ(related(out.get(), id, other), 0) << id << other;
  }
  const std::vector<Roi> regions = rois(out.get());
  ASSERT_THAT(regions, SizeIs(5)) << "all but the invalid one";
  for (guint i = 0; i < 5; i++)
    EXPECT_EQ(regions[i].id, static_cast<int>(i));
  EXPECT_TRUE(regions[1].kept && !regions[0].kept && !regions[3].kept);
}

TEST(crowdnms_analytics, meta_output_says_as_what_they_leave) {
  const auto fill = [](GstBuffer*, GstAnalyticsRelationMeta* meta) {
    add_od(meta, "a", 10, 10, 40, 40, .5f);
    add_od(meta, "a", 12, 10, 40, 40, .75f);
    add_track(meta, 5);
  };
  const auto out_roi = pass("meta-output=roi", fill);
  EXPECT_THAT(mtd_names(out_roi.get()), ElementsAre("tracking")) << "what belongs to no object stays";
  EXPECT_THAT(rectangles(out_roi.get()), ElementsAre("a@12,10,40,40"));
  const auto out_boxes = pass("meta-output=boxes", fill);
  EXPECT_THAT(mtd_names(out_boxes.get()), ElementsAre("tracking"));
  EXPECT_THAT(rois(out_boxes.get()), IsEmpty());
  EXPECT_NE(gst_buffer_get_crowd_survivors_meta(out_boxes.get()), nullptr);
  const auto out_od = pass(only_analytics, fill);
  EXPECT_THAT(mtd_names(out_od.get()), ElementsAre("object", "tracking"));
  EXPECT_THAT(rois(out_od.get()), IsEmpty());
  for (const char* properties : {"", "meta-output=all"}) {
    const auto out = pass(properties, fill);
    EXPECT_THAT(mtd_names(out.get()), ElementsAre("object", "tracking"));
    EXPECT_THAT(rois(out.get()), SizeIs(1));
  }
  const auto none = pass("meta-output=roi",
                         [](GstBuffer*, GstAnalyticsRelationMeta* meta) { add_od(meta, "a", 10, 10, 40, 40, .5f); });
  EXPECT_EQ(relations(none.get()), nullptr) << "nothing is left to hold";
}

// Their relations take memory and time with the square of their number.
TEST(crowdnms_analytics, more_than_4096_objects_are_written_only_where_asked_for) {
  std::vector<Candidate> candidates;
  for (int i = 0; i < 4097; i++)
    candidates.push_back({.x1 = float(i % 64) * 10,
                          .y1 = float(i / 64) * 7,
                          .x2 = float(i % 64) * 10 + 9,
                          .y2 = float(i / 64) * 7 + 6,
                          .score = .5f,
                          .class_id = 0});
  for (const char* mode : {"", " mode=annotate"}) {
    NmsHarness automatic(std::string("max-candidates=5000") + mode);
    for (int i = 0; i < 2; i++) {
      const auto out = automatic.pass(candidates);
      EXPECT_EQ(relations(out.get()), nullptr) << mode;
      EXPECT_THAT(rois(out.get()), SizeIs(4097)) << mode;
    }
    EXPECT_THAT(take_warnings(automatic.bus()),
                ElementsAre(testing::AllOf(testing::HasSubstr("more than 4096 objects"),
                                           testing::HasSubstr("meta-output=analytics"))));
  }
  NmsHarness asked("max-candidates=5000 meta-output=analytics");
  EXPECT_THAT(ods(asked.pass(candidates).get()), SizeIs(4097));
  EXPECT_THAT(take_warnings(asked.bus()), IsEmpty());
  candidates.pop_back();
  NmsHarness fewer("max-candidates=5000");
  EXPECT_THAT(ods(fewer.pass(candidates).get()), SizeIs(4096));
  EXPECT_THAT(take_warnings(fewer.bus()), IsEmpty());
}

TEST(crowdnms_analytics, other_kinds_are_left_alone_where_meta_source_says_so) {
  const auto fill = [](GstBuffer*, GstAnalyticsRelationMeta* meta) { add_od(meta, "a", 1, 1, 40, 40, .5f); };
  NmsHarness nms("meta-source=boxes");
  EXPECT_THAT(ods(pass(nms, fill).get()), SizeIs(1));
  EXPECT_EQ(nms.stat("candidates"), 0u);
}

TEST(crowdnms_analytics, counts_what_is_invalid_and_beyond_the_limit) {
  NmsHarness nms("max-candidates=5");
  const auto out = pass(nms, [](GstBuffer*, GstAnalyticsRelationMeta* meta) {
    add_od(meta, "a", 10, 10, 0, 40, .5f);
    add_od(meta, "a", 10, 10, 40, -7, .5f);
    add_od(meta, "a", 10, 10, 40, 40, std::nanf(""));
    add_od(meta, "a", G_MAXINT, G_MININT, G_MAXINT, G_MAXINT, .5f);
    add_od(meta, "a", -5, -5, 40, 40, .5f);
    add_od(meta, "a", 300, 10, 40, 40, .5f);
  });
  EXPECT_EQ(nms.stat("invalid"), 3u);
  EXPECT_EQ(nms.stat("overflow"), 1u);
  EXPECT_THAT(od_rectangles(out.get()), ElementsAre("a@2147483647,-2147483648,2147483647,2147483647", "a@-5,-5,40,40"));
  EXPECT_THAT(rois(out.get()), SizeIs(2));
}

TEST(crowdnms_analytics, a_locked_meta_stays) {
  for (const char* properties : {"", "meta-output=roi"}) {
    guint64 before = 0;
    const auto out = pass(properties, [&before](GstBuffer*, GstAnalyticsRelationMeta* meta) {
      before = number_of(meta);
      add_od(meta, "a", 10, 10, 40, 40, .5f);
      add_od(meta, "a", 12, 10, 40, 40, .75f);
      GstMetaFlags& flags = reinterpret_cast<GstMeta*>(meta)->flags;
      flags = static_cast<GstMetaFlags>(flags | GST_META_FLAG_LOCKED);
    });
    EXPECT_EQ(number_of(relations(out.get())), before);
    EXPECT_THAT(rectangles(out.get()), ElementsAre("a@12,10,40,40"));
  }
}

TEST(crowdnms_analytics, survives_cycles_and_relations_that_lead_nowhere) {
  const auto out = pass(only_analytics, [](GstBuffer*, GstAnalyticsRelationMeta* meta) {
    const guint a = add_od(meta, "a", 10, 10, 40, 40, .5f), b = add_od(meta, "a", 12, 10, 40, 40, .75f);
    const guint track = add_track(meta, 1), cls = add_cls(meta, {{"b", 0.f}});
    for (const guint from : {a, b, track, cls}) {
      for (guint to = 0; to < 64; to++)
        relate(meta, from, to);
    }
  });
  EXPECT_THAT(mtd_names(out.get()), ElementsAre("object", "tracking", "classification"));
  for (guint from = 0; from < 3; from++) {
    for (guint to = 0; to < 3; to++)
      EXPECT_EQ(related(out.get(), from, to), GST_ANALYTICS_REL_TYPE_RELATE_TO);
  }
}

TEST(crowdnms_analytics, says_in_the_allocation_query_that_it_reads_objects) {
  NmsHarness nms;
  const Ref<GstCaps> caps(gst_caps_from_string(video_caps(640, 480).c_str()));
  const Ref<GstQuery> query(gst_query_new_allocation(caps.get(), FALSE));
  ASSERT_TRUE(gst_pad_peer_query(nms.harness()->srcpad, query.get()));
  EXPECT_TRUE(gst_query_find_allocation_meta(query.get(), GST_ANALYTICS_RELATION_META_API_TYPE, nullptr));
}

}  // namespace
