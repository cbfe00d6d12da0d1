// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Relation metas as detectors leave them, and what is in them, for the tests.
#pragma once

#include <gst/analytics/analytics.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support.hpp"

namespace crowd::test {

/// A GstAnalyticsODMtd.
struct Od {
  guint id;
  std::string type;
  int x, y, w, h;
  float confidence;
};

inline GstAnalyticsRelationMeta* relations(GstBuffer* buffer) {
  return gst_buffer_get_analytics_relation_meta(buffer);
}

/// Of a relation meta, which no other one ever has.
inline guint64 number_of(GstAnalyticsRelationMeta* meta) {
  return gst_meta_get_seqnum(reinterpret_cast<GstMeta*>(meta));
}

inline GstAnalyticsRelationMeta* add_relations(GstBuffer* buffer, gsize order = 64) {
  GstAnalyticsRelationMetaInitParams room = {order, order * 128};
  return gst_buffer_add_analytics_relation_meta_full(buffer, &room);
}

inline guint add_od(GstAnalyticsRelationMeta* meta, const char* type, int x, int y, int w, int h, float confidence) {
  GstAnalyticsODMtd mtd;
  EXPECT_TRUE(gst_analytics_relation_meta_add_od_mtd(meta, g_quark_from_string(type), x, y, w, h, confidence, &mtd));
  return mtd.id;
}

inline guint add_cls(GstAnalyticsRelationMeta* meta, std::vector<std::pair<const char*, float>> classes) {
  std::vector<gfloat> levels;
  std::vector<GQuark> names;
  for (const auto& [name, level] : classes) {
    names.push_back(g_quark_from_string(name));
    levels.push_back(level);
  }
  GstAnalyticsClsMtd mtd;
  EXPECT_TRUE(gst_analytics_relation_meta_add_cls_mtd(meta, levels.size(), levels.data(), names.data(), &mtd));
  return mtd.id;
}

inline guint add_track(GstAnalyticsRelationMeta* meta, guint64 number) {
  GstAnalyticsTrackingMtd mtd;
  EXPECT_TRUE(gst_analytics_relation_meta_add_tracking_mtd(meta, number, 0, &mtd));
  return mtd.id;
}

inline void relate(GstAnalyticsRelationMeta* meta, guint from, guint to,
                   GstAnalyticsRelTypes type = GST_ANALYTICS_REL_TYPE_RELATE_TO) {
  EXPECT_TRUE(gst_analytics_relation_meta_set_relation(meta, type, from, to));
}

inline int related(GstBuffer* buffer, guint from, guint to) {
  return gst_analytics_relation_meta_get_relation(relations(buffer), from, to);
}

/// An object with its class right behind it, as tensor decoders have it.
inline guint add_classified(GstAnalyticsRelationMeta* meta, const char* name, int x, int y, int w, int h,
                            float confidence) {
  const guint id = add_od(meta, "object", x, y, w, h, confidence);
  relate(meta, id, add_cls(meta, {{name, .9f}}));
  return id;
}

inline std::vector<Od> ods(GstBuffer* buffer) {
  std::vector<Od> all;
  gpointer state = nullptr;
  GstAnalyticsMtd mtd;
  GstAnalyticsRelationMeta* meta = relations(buffer);
  while (meta && gst_analytics_relation_meta_iterate(meta, &state, gst_analytics_od_mtd_get_mtd_type(), &mtd)) {
    Od& od = all.emplace_back();
    od.id = mtd.id;
    od.type = g_quark_to_string(gst_analytics_od_mtd_get_obj_type(&mtd));
    EXPECT_TRUE(gst_analytics_od_mtd_get_location(&mtd, &od.x, &od.y, &od.w, &od.h, &od.confidence));
  }
  return all;
}

/// "type@x,y,w,h" of each.
inline std::vector<std::string> od_rectangles(GstBuffer* buffer) {
  std::vector<std::string> all;
  for (const Od& od : ods(buffer))
    all.push_back(od.type + "@" + std::to_string(od.x) + "," + std::to_string(od.y) + "," + std::to_string(od.w) + "," +
                  std::to_string(od.h));
  return all;
}

/// Names of the types of all that is in the buffer's relation meta, in order, as "object" and "tracking" in short.
inline std::vector<std::string> mtd_names(GstBuffer* buffer) {
  std::vector<std::string> all;
  GstAnalyticsRelationMeta* meta = relations(buffer);
  const gsize n = meta ? gst_analytics_relation_get_length(meta) : 0;
  for (guint id = 0; id < n; id++) {
    GstAnalyticsMtd mtd = {id, meta};
    const std::string name = gst_analytics_mtd_type_get_name(gst_analytics_mtd_get_mtd_type(&mtd));
    all.push_back(name == "object-detection" ? "object" : name == "object-tracking" ? "tracking" : name);
  }
  return all;
}

}  // namespace crowd::test
