// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowdnms with settings of classes, by label or number, and with limits of size.

#include <gmock/gmock.h>
#include <gst/video/gstvideometa.h>

#include <limits>
#include <memory>

#include "nms_harness.hpp"
#if CROWD_HAVE_ANALYTICS
#include "analytics_support.hpp"
#endif

namespace {

using namespace crowd::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A pair with an IoU of 0.6 of each of three classes.
std::vector<Candidate> three_pairs() {
  std::vector<Candidate> all;
  for (int c = 0; c < 3; c++) {
    const float y = 100.f * float(c);
    all.push_back({0, y, 80, y + 50, .9f, c});
    all.push_back({20, y, 100, y + 50, .5f, c});
  }
  return all;
}

/// Of each survivor's class, in rank order.
std::vector<int> classes_of(GstBuffer* buffer) {
  std::vector<int> all;
  for (const Roi& roi : rois(buffer))
    all.push_back(roi.label_id.value_or(-1));
  return all;
}

class Labels {
 public:
  explicit Labels(std::initializer_list<const char*> names) : array_(g_ptr_array_new()) {
    for (const char* name : names)
      g_ptr_array_add(array_, const_cast<char*>(name));
  }
  ~Labels() {
    g_ptr_array_unref(array_);
  }
  Labels(const Labels&) = delete;

  Ref<GstBuffer> frame() const {
    Ref<GstBuffer> buffer = make_frame(640, 480);
    BoxesOptions options;
    options.frame_width = 640;
    options.frame_height = 480;
    options.labels = array_;
    add_boxes(buffer.get(), three_pairs(), options);
    return buffer;
  }

 private:
  GPtrArray* array_;
};

TEST(crowdnms_classes, have_thresholds_by_number_while_it_plays) {
  NmsHarness nms("meta-output=roi");
  EXPECT_THAT(classes_of(nms.pass(three_pairs()).get()), ElementsAre(0, 1, 2));
  g_object_set(nms.element(), "class-attrs", "1,iou=0.7", nullptr);
  EXPECT_THAT(classes_of(nms.pass(three_pairs()).get()), ElementsAre(0, 1, 2, 1));
  g_object_set(nms.element(), "class-attrs", " 1 , iou=0.7 ; 2 , score=0.95, iou=0.7 ;", nullptr);
  EXPECT_THAT(classes_of(nms.pass(three_pairs()).get()), ElementsAre(0, 1, 1));
  EXPECT_EQ(nms.stat("below-threshold"), 2u);
  g_object_set(nms.element(), "class-attrs", nullptr, nullptr);
  EXPECT_THAT(classes_of(nms.pass(three_pairs()).get()), ElementsAre(0, 1, 2));
  EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
}

TEST(crowdnms_classes, score_thresholds_are_exact) {
  NmsHarness nms("meta-output=roi class-attrs=\"0,score=0.1\"");
  // As floats one is above 0.1, the other below.
  const std::vector<Candidate> two = {{0, 0, 10, 10, .1f, 0}, {50, 50, 60, 60, std::nextafter(.1f, 0.f), 0}};
  EXPECT_THAT(rois(nms.pass(two).get()), SizeIs(1));
}

TEST(crowdnms_classes, are_found_by_the_labels_of_boxes) {
  NmsHarness nms("meta-output=roi class-attrs=\"traffic light,iou=0.7\" class-filter=\"traffic light,person\"");
  const Labels labels{"person", "car", "traffic light"}, others{"traffic light", "person", "car"};
  EXPECT_THAT(classes_of(nms.pass(labels.frame()).get()), ElementsAre(0, 2, 2));
  EXPECT_THAT(classes_of(nms.pass(others.frame()).get()), ElementsAre(0, 1, 0));
  EXPECT_THAT(classes_of(nms.pass(labels.frame()).get()), ElementsAre(0, 2, 2));
  EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
}

TEST(crowdnms_classes, that_no_label_names_are_warned_about_once) {
  NmsHarness nms("meta-output=roi class-attrs=\"persn,iou=0.7;7,iou=0.7;car,iou=0.7\"");
  const Labels labels{"person", "car", "traffic light"};
  EXPECT_THAT(classes_of(nms.pass(labels.frame()).get()), ElementsAre(0, 1, 2, 1)) << "car is as it says";
  nms.pass(labels.frame());
  EXPECT_THAT(take_warnings(nms.bus()), ElementsAre(AllOf(HasSubstr("\"persn\""), HasSubstr("Correct it"))));
  NmsHarness by_number("class-attrs=\"7,iou=0.7\"");
  by_number.pass(labels.frame());
  EXPECT_THAT(take_warnings(by_number.bus()), ElementsAre(HasSubstr("\"7\"")));
}

TEST(crowdnms_classes, are_found_by_the_labels_of_regions) {
  NmsHarness nms("class-attrs=\"car,iou=0.7\" class-filter=\"person,car\"");
  Ref<GstBuffer> buffer = make_frame(640, 480);
  const char* names[] = {"person", "car", "dog"};
  for (const Candidate& c : three_pairs()) {
    auto* roi = gst_buffer_add_video_region_of_interest_meta(buffer.get(), names[c.class_id], guint(c.x1), guint(c.y1),
                                                             guint(c.x2 - c.x1), guint(c.y2 - c.y1));
    gst_video_region_of_interest_meta_add_param(
        roi, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, double(c.score), nullptr));
  }
  EXPECT_THAT(rectangles(nms.pass(std::move(buffer)).get()),
              ElementsAre("person@0,0,80,50", "car@0,100,80,50", "car@20,100,80,50"));
}

TEST(crowdnms_classes, not_in_the_filter_are_dropped) {
  NmsHarness nms("meta-output=roi class-filter=2");
  EXPECT_THAT(classes_of(nms.pass(three_pairs()).get()), ElementsAre(2));
  g_object_set(nms.element(), "class-filter", "1,0", nullptr);
  EXPECT_THAT(classes_of(nms.pass(three_pairs()).get()), ElementsAre(0, 1));
  g_object_set(nms.element(), "class-filter", "person", nullptr);
  EXPECT_THAT(classes_of(nms.pass(three_pairs()).get()), IsEmpty()) << "boxes without labels have no person";
  g_object_set(nms.element(), "class-filter", "", nullptr);
  EXPECT_THAT(classes_of(nms.pass(three_pairs()).get()), ElementsAre(0, 1, 2));
}

TEST(crowdnms_classes, that_do_not_parse_are_an_error_at_the_start) {
  const std::pair<const char*, const char*> wrong[] = {
      {"class-attrs=\"person,iou=1.5\"", "\"iou=1.5\" of \"person\""},
      {"class-attrs=\"person,iuo=0.5\"", "iou=0 to 1 or score=NUMBER"},
      {"class-attrs=\"person,iou=\"", "\"iou=\""},
      {"class-attrs=\"person,score=nan\"", "\"score=nan\""},
      {"class-attrs=\"person,iou=0.5x\"", "\"iou=0.5x\""},
      {"class-attrs=\"iou=0.5\"", "no class before \"iou=0.5\""},
      {"class-attrs=\",iou=0.5\"", "no class before"},
      {"class-attrs=\"car,iou=0.5;car,score=0\"", "\"car\" twice"},
      {"class-filter=\"car,,person\"", "empty name"},
      {"class-filter=\"car,person,car\"", "\"car\" twice"},
  };
  for (const auto& [properties, words] : wrong)
    EXPECT_THAT(start_error(std::string("crowdnms ") + properties), HasSubstr(words)) << properties;
  std::string many;
  for (int i = 0; i < 129; i++)
    many += std::to_string(i) + (i < 128 ? "," : "");
  EXPECT_THAT(start_error("crowdnms class-filter=\"" + many + "\""), HasSubstr("more than 128 classes"));
}

TEST(crowdnms_classes, that_do_not_parse_leave_it_as_it_was_while_it_plays) {
  NmsHarness nms("meta-output=roi class-filter=2");
  g_object_set(nms.element(), "class-filter", "1,1", nullptr);
  for (int i = 0; i < 2; i++)
    EXPECT_THAT(classes_of(nms.pass(three_pairs()).get()), ElementsAre(2));
  EXPECT_THAT(take_warnings(nms.bus()), ElementsAre(HasSubstr("\"1\" twice")));
  g_object_set(nms.element(), "class-filter", "1", nullptr);
  EXPECT_THAT(classes_of(nms.pass(three_pairs()).get()), ElementsAre(1));
}

TEST(crowdnms_classes, come_back_as_they_were_set) {
  NmsHarness nms("class-attrs=\"car, iou=0.5\" class-filter=\"car,9\"");
  gchar *attrs = nullptr, *filter = nullptr;
  g_object_get(nms.element(), "class-attrs", &attrs, "class-filter", &filter, nullptr);
  EXPECT_STREQ(attrs, "car, iou=0.5");
  EXPECT_STREQ(filter, "car,9");
  g_free(attrs);
  g_free(filter);
}

TEST(crowdnms_sizes, outside_their_limits_are_dropped) {
  const std::vector<Candidate> four = {
      {0, 0, 10, 10, 1}, {100, 0, 120, 10, 1}, {200, 0, 210, 30, 1}, {300, 0, 320, 30, 1}};
  const auto left = [&](const std::string& limits) {
    NmsHarness nms("meta-output=roi " + limits);
    return rectangles(nms.pass(four).get());
  };
  EXPECT_THAT(left("min-width=11"), ElementsAre("object@100,0,20,10", "object@300,0,20,30"));
  EXPECT_THAT(left("min-width=11 pixel-offset=1"), SizeIs(4));
  EXPECT_THAT(left("min-height=30"), ElementsAre("object@200,0,10,30", "object@300,0,20,30"));
  EXPECT_THAT(left("max-width=19.5"), ElementsAre("object@0,0,10,10", "object@200,0,10,30"));
  EXPECT_THAT(left("max-height=10 max-width=20"), ElementsAre("object@0,0,10,10", "object@100,0,20,10"));
}

#if CROWD_HAVE_ANALYTICS
TEST(crowdnms_classes, are_found_by_the_names_of_objects) {
  NmsHarness nms("class-attrs=\"car,iou=0.7\" class-filter=\"person,car\"");
  for (int round = 0; round < 3; round++) {
    Ref<GstBuffer> buffer = make_frame(640, 480);
    GstAnalyticsRelationMeta* meta = add_relations(buffer.get());
    const char* names[] = {"dog", "car", "person"};
    for (const Candidate& c : three_pairs())
      add_od(meta, names[(c.class_id + round) % 3], int(c.x1), int(c.y1), int(c.x2 - c.x1), int(c.y2 - c.y1), c.score);
    const auto out = nms.pass(std::move(buffer));
    std::size_t cars = 0;
    for (const auto& od : ods(out.get()))
      cars += od.type == "car";
    EXPECT_THAT(ods(out.get()), SizeIs(3)) << round;
    EXPECT_EQ(cars, 2u) << round;
  }
  EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
}
#endif

}  // namespace
