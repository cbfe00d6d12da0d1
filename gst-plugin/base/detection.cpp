// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "base/detection.hpp"

#include <cmath>

#include "base/confidence.hpp"

namespace crowd::meta {

namespace {

/// The field that the score is in, 0 if there is none.
GQuark score_field_of(const GstStructure* structure, double& score) {
  for (const GQuark field : {quarks().confidence, quarks().score}) {
    if (get_number(structure, field, score))
      return field;
  }
  return 0;
}

std::optional<double> score_of(const GstStructure* structure) {
  double score;
  return score_field_of(structure, score) ? std::optional(score) : std::nullopt;
}

std::optional<int> label_id_of(const GstStructure* structure) {
  double id;
  const bool usable =
      get_number(structure, quarks().label_id, id) && id >= 0 && id <= G_MAXINT32 && id == std::floor(id);
  return usable ? std::optional(static_cast<int>(id)) : std::nullopt;
}

GQuark label_of(const GstVideoRegionOfInterestMeta& roi, const GstStructure* structure) {
  const bool extra_data = gst_structure_get_name_id(structure) == quarks().extra_data;
  const GValue* label = extra_data ? gst_structure_id_get_value(structure, quarks().label) : nullptr;
  const bool named = label && G_VALUE_HOLDS_STRING(label) && g_value_get_string(label);
  return named ? g_quark_from_string(g_value_get_string(label)) : roi.roi_type;
}

}  // namespace

const RegionQuarks& quarks() {
  static const RegionQuarks all;
  return all;
}

GstStructure* find_param(const GstVideoRegionOfInterestMeta& roi, GQuark name) {
  for (GList* link = roi.params; link; link = link->next) {
    auto* structure = static_cast<GstStructure*>(link->data);
    if (gst_structure_get_name_id(structure) == name)
      return structure;
  }
  return nullptr;
}

bool get_number(const GstStructure* structure, GQuark field, double& number) {
  const GValue* value = gst_structure_id_get_value(structure, field);
  if (!value)
    return false;
  switch (G_VALUE_TYPE(value)) {
    case G_TYPE_DOUBLE:
      number = g_value_get_double(value);
      break;
    case G_TYPE_FLOAT:
      number = g_value_get_float(value);
      break;
    case G_TYPE_INT:
      number = g_value_get_int(value);
      break;
    case G_TYPE_UINT:
      number = g_value_get_uint(value);
      break;
    case G_TYPE_LONG:
      number = static_cast<double>(g_value_get_long(value));
      break;
    case G_TYPE_ULONG:
      number = static_cast<double>(g_value_get_ulong(value));
      break;
    case G_TYPE_INT64:
      number = static_cast<double>(g_value_get_int64(value));
      break;
    case G_TYPE_UINT64:
      number = static_cast<double>(g_value_get_uint64(value));
      break;
    default:
      return false;
  }
  return true;
}

GstStructure* find_detection(const GstVideoRegionOfInterestMeta& roi) {
  if (GstStructure* detection = find_param(roi, quarks().detection))
    return detection;
  for (const GList* link = roi.params; link; link = link->next) {
    auto* structure = static_cast<GstStructure*>(link->data);
    if (gst_structure_get_name_id(structure) != quarks().nms && score_of(structure))
      return structure;
  }
  return nullptr;
}

std::optional<RegionDetection> read_detection(const GstVideoRegionOfInterestMeta& roi) {
  const GstStructure* structure = find_detection(roi);
  if (!structure)
    return std::nullopt;
  return RegionDetection{structure, score_of(structure), label_id_of(structure), label_of(roi, structure)};
}

void write_score(GstVideoRegionOfInterestMeta& roi, double score) {
  GstStructure* structure = find_detection(roi);
  double before;
  const GQuark field = structure ? score_field_of(structure, before) : 0;
  if (field && float(before) != float(score))
    write_number(structure, field, in_place_of(before, score));
}

void write_number(GstStructure* structure, GQuark field, double number) {
  const GType type = gst_structure_id_has_field_typed(structure, field, G_TYPE_FLOAT) ? G_TYPE_FLOAT : G_TYPE_DOUBLE;
  gst_structure_id_set(structure, field, type, number, nullptr);
}

}  // namespace crowd::meta
