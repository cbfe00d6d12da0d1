// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cluster/setting_types.hpp"

#include <crowd/nms.h>

#include <vector>

#include "base/properties.hpp"
#include "cluster/backends.hpp"
#include "meta/adapter.hpp"

namespace crowd {

namespace {

constexpr GEnumValue comparator_values[] = {
    {CROWD_NMS_GREATER, "overlap > iou-threshold suppresses (torchvision, OpenCV)", "greater"},
    {CROWD_NMS_GREATER_EQUAL, "overlap >= iou-threshold suppresses", "greater-equal"},
    {0, nullptr, nullptr}};

constexpr GEnumValue cluster_score_values[] = {
    {CROWD_NMS_CLUSTER_SCORE_NONE, "the survivor's own score", "none"},
    {CROWD_NMS_CLUSTER_SCORE_MAX, "the largest score of the candidates that it represents", "max"},
    {CROWD_NMS_CLUSTER_SCORE_MEAN, "the mean of their scores", "mean"},
    {CROWD_NMS_CLUSTER_SCORE_SUM, "the sum of their scores", "sum"},
    {0, nullptr, nullptr}};

constexpr GEnumValue backend_values[] = {
    {int(BackendChoice::automatic), "the GPU for frames of 500 candidates or more where there is one, else the CPU",
     "auto"},
    {int(BackendChoice::cuda), "the GPU; an error where there is none", "cuda"},
    {int(BackendChoice::cpu), "the CPU", "cpu"},
    {0, nullptr, nullptr}};
static_assert(gpu_crossover == 500, "backend_values says 500");

constexpr GEnumValue mode_values[] = {
    {int(meta::Mode::replace), "only survivors are left", "replace"},
    {int(meta::Mode::annotate), "all candidates are left, each marked as kept or not", "annotate"},
    {0, nullptr, nullptr}};

// An enumeration of what the library has, by its numbers and names.
template <typename Info>
GType register_table(const char* name, const Info* (*info)(std::uint32_t)) {
  static std::vector<GEnumValue> values;
  for (std::uint32_t value = 0; const Info* row = info(value); ++value)
    values.push_back({int(value), row->description, row->name});
  values.push_back({0, nullptr, nullptr});
  return register_enum(name, values.data());
}

// The values are the ids of the rows of the table of adapters.
GType register_kinds(const char* name, bool sources) {
  static std::vector<GEnumValue> values[2];
  std::vector<GEnumValue>& own = values[sources];
  own.push_back(
      {int(meta::KindId::automatic),
       sources ? "the first of the others that the frame carries"
               : "boxes in device memory where downstream reads them there, else roi and, if it is there, analytics",
       "auto"});
  for (const meta::AdapterRow& row : meta::adapter_rows()) {
    if (sources || row.writes)
      own.push_back({int(row.id), row.description, row.nick});
  }
  if (!sources)
    own.push_back({int(meta::KindId::all), "as each of the others", "all"});
  own.push_back({0, nullptr, nullptr});
  return register_enum(name, own.data());
}

}  // namespace

GType method_type() {
  static const GType type = register_table("GstCrowdNmsMethod", crowd_nms_method_info);
  return type;
}

GType metric_type() {
  static const GType type = register_table("GstCrowdNmsMetric", crowd_nms_metric_info);
  return type;
}

GType comparator_type() {
  static const GType type = register_enum("GstCrowdNmsComparator", comparator_values);
  return type;
}

GType rule_type() {
  static const GType type = register_table("GstCrowdNmsRule", crowd_nms_rule_info);
  return type;
}

GType merge_type() {
  static const GType type = register_table("GstCrowdNmsMerge", crowd_nms_merge_info);
  return type;
}

GType cluster_score_type() {
  static const GType type = register_enum("GstCrowdNmsClusterScore", cluster_score_values);
  return type;
}

GType backend_type() {
  static const GType type = register_enum("GstCrowdNmsBackend", backend_values);
  return type;
}

GType mode_type() {
  static const GType type = register_enum("GstCrowdNmsMode", mode_values);
  return type;
}

GType source_type() {
  static const GType type = register_kinds("GstCrowdNmsMetaSource", true);
  return type;
}

GType output_type() {
  static const GType type = register_kinds("GstCrowdNmsMetaOutput", false);
  return type;
}

}  // namespace crowd
