// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What crowdoverlay and others see of GstAnalytics.

#include <gmock/gmock.h>
#include <gst/video/gstvideometa.h>

#include "analytics_support.hpp"
#include "meta/objects.hpp"
#include "nms_harness.hpp"

namespace {

using namespace crowd::test;
using crowd::meta::Object;
using crowd::meta::Objects;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr crowd::meta::ShownSize shown = {640, 480, 1, 1, GST_CROWD_BOXES_BORDERS_UNKNOWN};

Objects objects_of(GstBuffer* buffer) {
  Objects objects;
  crowd::meta::ObjectReaders().read(buffer, shown, objects);
  return objects;
}

/// "label@x1,y1,x2,y2" of each.
std::vector<std::string> names(const std::vector<Object>& objects) {
  std::vector<std::string> all;
  for (const Object& o : objects)
    all.push_back(std::string(o.label) + "@" + std::to_string(int(o.x1)) + "," + std::to_string(int(o.y1)) + "," +
                  std::to_string(int(o.x2)) + "," + std::to_string(int(o.y2)));
  return all;
}

TEST(analytics_objects, are_called_as_their_classification_says) {
  const Ref<GstBuffer> buffer = make_frame(640, 480);
  GstAnalyticsRelationMeta* meta = add_relations(buffer.get());
  add_od(meta, "cat", 10, 20, 30, 40, .5f);
  add_classified(meta, "cow", -5, 20, 30, 40, .25f);
  add_classified(meta, "cow", 50, 20, 30, 40, .25f);
  const Objects found = objects_of(buffer.get());
  EXPECT_THAT(names(found.survivors), ElementsAre("cat@10,20,40,60", "cow@-5,20,25,60", "cow@50,20,80,60"));
  EXPECT_EQ(found.survivors[0].score, .5f);
  EXPECT_EQ(found.survivors[1].score, .9f);
  EXPECT_NE(found.survivors[0].class_id, found.survivors[1].class_id);
  EXPECT_EQ(found.survivors[2].class_id, found.survivors[1].class_id);
  EXPECT_THAT(found.candidates, IsEmpty());
  EXPECT_EQ(found.problem, nullptr);
}

TEST(analytics_objects, that_crowdnms_suppressed_are_candidates) {
  NmsHarness nms("mode=annotate meta-output=analytics");
  Ref<GstBuffer> buffer = make_frame(640, 480);
  GstAnalyticsRelationMeta* meta = add_relations(buffer.get());
  add_classified(meta, "cat", 10, 20, 30, 40, .5f);
  const guint cow = add_classified(meta, "cow", 10, 20, 30, 40, .5f);
  const guint head = add_classified(meta, "head", 11, 21, 10, 10, .5f);
  relate(meta, head, cow, GST_ANALYTICS_REL_TYPE_IS_PART_OF);
  add_classified(meta, "cat", 11, 20, 30, 40, .75f);
  const auto out = nms.pass(std::move(buffer));
  const Objects found = objects_of(out.get());
  EXPECT_THAT(names(found.survivors), ElementsAre("cow@10,20,40,60", "head@11,21,21,31", "cat@11,20,41,60"));
  EXPECT_THAT(names(found.candidates), ElementsAre("cat@10,20,40,60"));
}

void add_part(GstAnalyticsRelationMeta* meta, guint part, guint whole) {
  relate(meta, part, whole, GST_ANALYTICS_REL_TYPE_IS_PART_OF);
}

TEST(analytics_objects, that_are_parts_of_each_other_are_all_kept) {
  const Ref<GstBuffer> buffer = make_frame(640, 480);
  GstAnalyticsRelationMeta* meta = add_relations(buffer.get());
  for (int i = 0; i < 6; i++)
    add_od(meta, "cat", i, 0, 10, 10, .5f);
  add_part(meta, 0, 1), add_part(meta, 1, 0);
  add_part(meta, 2, 3), add_part(meta, 3, 4), add_part(meta, 4, 2);
  add_part(meta, 5, 5);
  const Objects found = objects_of(buffer.get());
  EXPECT_THAT(found.survivors, SizeIs(6));
  EXPECT_THAT(found.candidates, IsEmpty());
}

TEST(analytics_objects, are_candidates_where_a_whole_is_above_those_that_are_parts_of_each_other) {
  const Ref<GstBuffer> buffer = make_frame(640, 480);
  GstAnalyticsRelationMeta* meta = add_relations(buffer.get());
  for (int i = 0; i < 4; i++)
    add_od(meta, "cat", i, 0, 10, 10, .5f);
  add_part(meta, 0, 1), add_part(meta, 1, 0), add_part(meta, 1, 2), add_part(meta, 3, 0);
  const Objects found = objects_of(buffer.get());
  EXPECT_THAT(names(found.survivors), ElementsAre("cat@2,0,12,10"));
  EXPECT_THAT(found.candidates, SizeIs(3));
}

TEST(analytics_objects, are_candidates_below_those_that_are_parts_of_each_other) {
  const Ref<GstBuffer> buffer = make_frame(640, 480);
  GstAnalyticsRelationMeta* meta = add_relations(buffer.get());
  for (int i = 0; i < 6; i++)
    add_od(meta, "cat", i, 0, 10, 10, .5f);
  add_part(meta, 2, 3), add_part(meta, 3, 2);
  add_part(meta, 1, 2), add_part(meta, 0, 1), add_part(meta, 0, 3);
  add_part(meta, 4, 5);
  const Objects found = objects_of(buffer.get());
  EXPECT_THAT(names(found.survivors), ElementsAre("cat@2,0,12,10", "cat@3,0,13,10", "cat@5,0,15,10"));
  EXPECT_THAT(found.candidates, SizeIs(3));
}

TEST(analytics_objects, give_way_to_regions) {
  NmsHarness nms;
  const auto out = nms.pass(row_of_three);
  ASSERT_THAT(ods(out.get()), SizeIs(2));
  const Objects found = objects_of(out.get());
  EXPECT_THAT(found.survivors, SizeIs(2));
  EXPECT_EQ(found.survivors[0].members, 2u) << "which only regions say";
}

TEST(analytics_objects, of_a_part_of_the_picture_that_is_not_shown_are_a_problem) {
  const Ref<GstBuffer> buffer = make_frame(1280, 960);
  gst_buffer_add_video_meta(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12, 1280, 960);
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(buffer.get());
  crop->x = 10;
  crop->width = 640;
  crop->height = 480;
  add_od(add_relations(buffer.get()), "cat", 10, 20, 30, 40, .5f);
  const Objects found = objects_of(buffer.get());
  EXPECT_TRUE(found.empty());
  EXPECT_NE(found.problem, nullptr);
}

TEST(analytics_objects, are_none_in_a_meta_of_other_things) {
  const Ref<GstBuffer> buffer = make_frame(640, 480);
  add_track(add_relations(buffer.get()), 1);
  EXPECT_TRUE(objects_of(buffer.get()).empty());
}

}  // namespace
