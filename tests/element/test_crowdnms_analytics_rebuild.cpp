// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Relation metas that crowdnms makes anew: of many objects, with whatever types, and at what cost.

#include <gmock/gmock.h>
#include <gst/video/gstvideometa.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <random>

#include "analytics_support.hpp"
#include "meta/relationmeta.hpp"
#include "meta/relationobjects.hpp"
#include "nms_harness.hpp"

namespace {

using namespace crowd::test;
using testing::ElementsAre;
using testing::SizeIs;

/// A type that crowdnms does not know: holds a reference, which its functions count.
struct Foreign {
  GstBuffer* held;
  char text[13];
};

gboolean transform_foreign(GstBuffer* to, GstAnalyticsMtd* mtd, GstBuffer* from, GQuark type, gpointer data) {
  EXPECT_NE(to, from);
  EXPECT_TRUE(GST_META_TRANSFORM_IS_COPY(type) && data);
  gst_buffer_ref(static_cast<Foreign*>(gst_analytics_relation_meta_get_mtd_data(mtd->meta, mtd->id))->held);
  return TRUE;
}

void clear_foreign(GstBuffer*, GstAnalyticsMtd* mtd) {
  gst_clear_buffer(&static_cast<Foreign*>(gst_analytics_relation_meta_get_mtd_data(mtd->meta, mtd->id))->held);
}

const GstAnalyticsMtdImpl foreign_impl = {"foreign", transform_foreign, clear_foreign, {}};
const GstAnalyticsMtdImpl plain_impl = {"plain", nullptr, nullptr, {}};

guint add_foreign(GstAnalyticsRelationMeta* meta, GstBuffer* held, const char* text) {
  GstAnalyticsMtd mtd;
  auto* data = static_cast<Foreign*>(gst_analytics_relation_meta_add_mtd(meta, &foreign_impl, sizeof(Foreign), &mtd));
  data->held = gst_buffer_ref(held);
  std::strcpy(data->text, text);
  return mtd.id;
}

TEST(crowdnms_analytics_rebuild, references_of_types_it_does_not_know_are_taken_and_dropped) {
  const Ref<GstBuffer> held(gst_buffer_new());
  {
    NmsHarness nms("meta-output=analytics");
    Ref<GstBuffer> buffer = make_frame(640, 480);
    GstAnalyticsRelationMeta* meta = add_relations(buffer.get());
    GstAnalyticsMtd plain;
    gst_analytics_relation_meta_add_mtd(meta, &plain_impl, 0, &plain);
    const guint a = add_od(meta, "a", 10, 10, 40, 40, .5f);
    relate(meta, a, add_foreign(meta, held.get(), "suppressed"));
    const guint b = add_od(meta, "a", 12, 10, 40, 40, .75f);
    relate(meta, b, add_foreign(meta, held.get(), "kept"));
    EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(held.get()), 3);
    const auto out = nms.pass(std::move(buffer));
    ASSERT_THAT(mtd_names(out.get()), ElementsAre("plain", "object", "foreign"));
    EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(held.get()), 2);
    const auto* data = static_cast<Foreign*>(gst_analytics_relation_meta_get_mtd_data(relations(out.get()), 2));
    EXPECT_EQ(data->held, held.get());
    EXPECT_STREQ(data->text, "kept");
  }
  EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(held.get()), 1);
}

#if GST_CHECK_VERSION(1, 26, 0)
guint add_mask(GstAnalyticsRelationMeta* meta, GstBuffer* mask) {
  GstAnalyticsSegmentationMtd mtd;
  guint regions[] = {0, 7, 12};
  EXPECT_TRUE(gst_analytics_relation_meta_add_segmentation_mtd(
      meta, gst_buffer_ref(mask), GST_SEGMENTATION_TYPE_INSTANCE, 3, regions, 1, 2, 30, 40, &mtd));
  return mtd.id;
}

TEST(crowdnms_analytics_rebuild, masks_go_with_their_objects) {
  const Ref<GstBuffer> mask(gst_buffer_new_allocate(nullptr, 64, nullptr));
  gst_buffer_add_video_meta(mask.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 8, 8);
  {
    NmsHarness nms("meta-output=analytics");
    Ref<GstBuffer> buffer = make_frame(640, 480);
    GstAnalyticsRelationMeta* meta = add_relations(buffer.get());
    const guint a = add_classified(meta, "a", 10, 10, 40, 40, .75f);
    relate(meta, a, add_mask(meta, mask.get()), GST_ANALYTICS_REL_TYPE_CONTAIN);
    const guint b = add_classified(meta, "a", 12, 10, 40, 40, .5f);
    relate(meta, b, add_mask(meta, mask.get()), GST_ANALYTICS_REL_TYPE_CONTAIN);
    EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(mask.get()), 3);
    const auto out = nms.pass(std::move(buffer));
    ASSERT_THAT(mtd_names(out.get()), ElementsAre("object", "classification", "segmentation"));
    EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(mask.get()), 2);
    EXPECT_EQ(related(out.get(), 0, 2), GST_ANALYTICS_REL_TYPE_CONTAIN);
    GstAnalyticsSegmentationMtd mtd = {2, relations(out.get())};
    EXPECT_EQ(gst_analytics_segmentation_mtd_get_region_id(&mtd, 2), 12u);
    gint x, y;
    guint w, h;
    const Ref<GstBuffer> found(gst_analytics_segmentation_mtd_get_mask(&mtd, &x, &y, &w, &h));
    EXPECT_EQ(found.get(), mask.get());
    EXPECT_EQ(h, 40u);
  }
  EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(mask.get()), 1);
}

TEST(crowdnms_analytics_rebuild, oriented_boxes_keep_their_angle) {
  NmsHarness nms("meta-output=analytics");
  Ref<GstBuffer> buffer = make_frame(640, 480);
  GstAnalyticsRelationMeta* meta = add_relations(buffer.get());
  for (const float confidence : {.5f, .75f}) {
    GstAnalyticsODMtd mtd;
    gst_analytics_relation_meta_add_oriented_od_mtd(meta, g_quark_from_string("a"), 10, 10, 40, 20, confidence,
                                                    confidence, &mtd);
  }
  const auto out = nms.pass(std::move(buffer));
  ASSERT_THAT(ods(out.get()), SizeIs(1));
  GstAnalyticsODMtd mtd = {0, relations(out.get())};
  gint x, y, w, h;
  gfloat angle = 0, confidence = 0;
  gst_analytics_od_mtd_get_oriented_location(&mtd, &x, &y, &w, &h, &angle, &confidence);
  EXPECT_EQ(angle, .75f);
}
#endif

// Textbook: what stays, by looking at all relations.
std::vector<bool> expected_stays(GstAnalyticsRelationMeta* meta, guint n, const std::vector<bool>& is_object,
                                 const std::vector<bool>& is_kept) {
  const auto related = [meta](guint a, guint b) { return gst_analytics_relation_meta_get_relation(meta, a, b) != 0; };
  const auto reached = [&](bool kept) {
    std::vector<bool> found(n, false);
    for (bool grown = true; grown;) {
      grown = false;
      for (guint to = 0; to < n; to++) {
        bool reach = false;
        for (guint from = 0; from < n && !is_object[to]; from++) {
          const bool of_object = is_object[from] && is_kept[from] == kept;
          reach |= of_object && (related(from, to) || related(to, from));
          reach |= found[from] && related(from, to);
        }
        grown |= reach && !found[to];
        found[to] = found[to] || reach;
      }
    }
    return found;
  };
  const std::vector<bool> by_kept = reached(true), by_dropped = reached(false);
  std::vector<bool> stays(n);
  for (guint i = 0; i < n; i++)
    stays[i] = is_object[i] ? bool(is_kept[i]) : by_kept[i] || !by_dropped[i];
  return stays;
}

TEST(crowdnms_analytics_rebuild, what_stays_is_what_a_search_of_all_relations_finds) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; round++) {
    const Ref<GstBuffer> buffer(gst_buffer_new());
    GstAnalyticsRelationMeta* meta = add_relations(buffer.get());
    const guint objects = 1 + random() % 6, others = random() % 8;
    const guint n = objects + others;
    std::vector<bool> is_object, is_kept, kept_objects;
    for (guint i = 0; i < n; i++) {
      is_object.push_back(i < objects);
      is_kept.push_back(random() % 2);
    }
    std::shuffle(is_object.begin(), is_object.end(), random);
    for (guint i = 0; i < n; i++) {
      is_object[i] ? add_od(meta, "a", 0, 0, 1, 1, .5f) : add_track(meta, i);
      if (is_object[i])
        kept_objects.push_back(is_kept[i]);
    }
    for (guint i = 0; i < 2 * n; i++)
      relate(meta, random() % n, random() % n);
    crowd::meta::RelationObjects found;
    found.read(meta);
    std::vector<bool> expected = expected_stays(meta, n, is_object, is_kept);
    ASSERT_EQ(found.what_stays(kept_objects), expected) << round;
  }
}

TEST(crowdnms_analytics_rebuild, of_many_objects_each_is_followed_by_its_own) {
  constexpr guint objects = 400;
  const Ref<GstBuffer> buffer(gst_buffer_new());
  GstAnalyticsRelationMeta* meta = add_relations(buffer.get(), 5 * objects);
  std::vector<bool> kept(objects), expected;
  guint shared = 0, before = 0;
  for (guint i = 0; i < objects; i++) {
    kept[i] = i % 3 == 1;
    const guint object = add_classified(meta, "a", 0, 0, 1, 1, .5f);
    if (i == 0)
      shared = add_cls(meta, {{"a", 0.f}});
    relate(meta, object, shared);
    const guint skeleton = add_track(meta, i), joint = add_track(meta, i);
    relate(meta, skeleton, object, GST_ANALYTICS_REL_TYPE_IS_PART_OF);
    relate(meta, skeleton, joint, GST_ANALYTICS_REL_TYPE_CONTAIN);
    relate(meta, object, before);
    before = object;
    expected.insert(expected.end(), i == 0 ? 5 : 4, kept[i]);
  }
  expected[shared] = true;
  add_track(meta, 0);
  expected.push_back(true);
  crowd::meta::RelationObjects found;
  found.read(meta);
  ASSERT_EQ(found.ids().size(), objects);
  EXPECT_EQ(found.what_stays(kept), expected);
}

// A large relation meta, whose things relate as detectors rarely have it.
TEST(crowdnms_analytics_rebuild, of_many_objects_the_odd_ones_keep_what_is_theirs) {
  constexpr guint objects = 400;
  const Ref<GstBuffer> buffer(gst_buffer_new());
  GstAnalyticsRelationMeta* meta = add_relations(buffer.get(), 3 * objects);
  std::vector<guint> ids, classifications;
  guint before = 0;
  for (guint i = 0; i < objects; i++) {
    if (i == 40)
      before = add_cls(meta, {{"before", 1.f}});
    ids.push_back(add_od(meta, "a", 0, 0, 1, 1, .5f));
    if (i != 40 && i != 60 && i != 90)
      classifications.push_back(add_cls(meta, {{std::to_string(i).c_str(), 1.f}}));
    if (i != 40 && i != 60 && i != 90 && i != 70)
      relate(meta, ids[i], classifications.back());
    if (i == 70)
      relate(meta, classifications.back(), ids[i]);
  }
  const auto behind = [&ids](guint i) { return ids[i] + 1; };
  relate(meta, ids[40], before);
  relate(meta, ids[60], behind(20));
  relate(meta, ids[90], behind(30));
  relate(meta, behind(50), ids[20]);
  relate(meta, behind(50), behind(80));
  const guint of_several = add_track(meta, 1), of_dropped = add_track(meta, 2);
  relate(meta, behind(20), of_several);
  relate(meta, ids[31], of_several);
  relate(meta, behind(31), of_dropped);

  std::vector<bool> kept(objects);
  for (guint i = 0; i < objects; i += 10)
    kept[i] = i != 30;
  crowd::meta::RelationObjects found;
  found.read(meta);
  const auto name = [&found](guint i) { return std::string(g_quark_to_string(found.class_of(i).name)); };
  for (guint i = 0; i < objects; i++)
    ASSERT_EQ(name(i), i == 40 ? "before" : i == 60 ? "20" : i == 70 ? "a" : i == 90 ? "30" : std::to_string(i));
  const std::vector<bool> stays = found.what_stays(kept);
  std::vector<guint> expected;
  for (guint i = 0; i < objects; i += 10) {
    if (i == 40)
      expected.push_back(before);
    if (i != 30)
      expected.push_back(ids[i]);
    if (i != 40 && i != 60 && i != 90)
      expected.push_back(behind(i));
  }
  expected.push_back(of_several);
  std::vector<guint> staying;
  for (guint id = 0; id < stays.size(); id++) {
    if (stays[id])
      staying.push_back(id);
  }
  ASSERT_EQ(staying, expected);

  const std::vector<int> now = crowd::meta::rebuild(buffer.get(), meta, stays, {});
  const auto are_related = [&](guint from, guint to) {
    return related(buffer.get(), guint(now[from]), guint(now[to])) == GST_ANALYTICS_REL_TYPE_RELATE_TO;
  };
  EXPECT_TRUE(are_related(ids[40], before));
  EXPECT_TRUE(are_related(ids[20], behind(20)));
  EXPECT_TRUE(are_related(ids[60], behind(20)));
  EXPECT_TRUE(are_related(behind(70), ids[70]));
  EXPECT_FALSE(are_related(ids[70], behind(70)));
  EXPECT_TRUE(are_related(ids[90], behind(30)));
  EXPECT_TRUE(are_related(behind(50), ids[20]));
  EXPECT_TRUE(are_related(behind(50), behind(80)));
  EXPECT_TRUE(are_related(behind(20), of_several));
  EXPECT_FALSE(are_related(ids[10], behind(20)));
}

double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

/// Least of several: to read so many objects with their classes, and to find what stays where one in 14 does.
double seconds_for(guint objects, bool behind) {
  const Ref<GstBuffer> buffer(gst_buffer_new());
  GstAnalyticsRelationMeta* meta = add_relations(buffer.get(), 2 * objects);
  for (guint i = 0; i < objects; i++)
    behind ? add_classified(meta, "a", 0, 0, 1, 1, .5f) : add_od(meta, "a", 0, 0, 1, 1, .5f);
  for (guint i = 0; i < objects && !behind; i++)
    relate(meta, i, add_cls(meta, {{"b", 1.f}}));
  std::vector<bool> kept(objects);
  for (guint i = 0; i < objects; i++)
    kept[i] = i % 14 == 0;
  crowd::meta::RelationObjects found;
  double least = 1e9;
  for (int round = 0; round < 7; round++) {
    const double start = cpu_seconds();
    found.read(meta);
    for (guint i = 0; i < objects; i++)
      EXPECT_STREQ(g_quark_to_string(found.class_of(i).name), behind ? "a" : "b");
    const std::vector<bool> stays = found.what_stays(kept);
    least = std::min(least, cpu_seconds() - start);
    EXPECT_EQ(std::ranges::count(stays, true), 2 * std::ranges::count(kept, true));
  }
  return least;
}

TEST(crowdnms_analytics_rebuild, relations_are_the_same_whether_few_or_many_stay) {
  for (const unsigned part : {1u, 2u, 5u, 20u}) {
    SCOPED_TRACE(part);
    std::mt19937 random(part);
    constexpr guint n = 1300;
    const Ref<GstBuffer> buffer(gst_buffer_new());
    GstAnalyticsRelationMeta* meta = add_relations(buffer.get(), n);
    for (guint i = 0; i < n; i++)
      add_track(meta, i);
    constexpr GstAnalyticsRelTypes types[] = {GST_ANALYTICS_REL_TYPE_IS_PART_OF, GST_ANALYTICS_REL_TYPE_CONTAIN,
                                              GST_ANALYTICS_REL_TYPE_RELATE_TO};
    for (guint i = 0; i < 20 * n; i++)
      relate(meta, random() % n, random() % n, types[random() % 3]);
    std::vector<bool> keep(n);
    std::vector<std::vector<int>> expected;
    for (guint i = 0; i < n; i++)
      keep[i] = random() % part == 0;
    for (guint from = 0; from < n; from++) {
      if (!keep[from])
        continue;
      auto& row = expected.emplace_back();
      for (guint to = 0; to < n; to++)
        if (keep[to])
          row.push_back(related(buffer.get(), from, to));
    }
    crowd::meta::rebuild(buffer.get(), meta, keep, {});
    ASSERT_EQ(gst_analytics_relation_get_length(relations(buffer.get())), expected.size());
    for (guint from = 0; from < expected.size(); from++)
      for (guint to = 0; to < expected.size(); to++)
        ASSERT_EQ(related(buffer.get(), from, to), expected[from][to]) << from << " " << to;
  }
}

TEST(crowdnms_analytics_rebuild, cost_grows_with_the_objects_and_not_with_their_pairs) {
  // Objects with their classes behind them, and all classes behind all objects. 16 times the objects take some 16 times
  // as long, more where the matrix leaves a cache; a search of all pairs would take 256 times.
  for (const bool behind : {true, false})
    EXPECT_LT(seconds_for(4096, behind), 120 * seconds_for(256, behind)) << behind;
}

}  // namespace
