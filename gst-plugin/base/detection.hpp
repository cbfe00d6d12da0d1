// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a region of interest says about a detection, for all code that reads regions.
#pragma once

#include <gst/gst.h>
#include <gst/video/gstvideometa.h>

#include <optional>

namespace crowd::meta {

/// The names of DL Streamer's dialect and of ours.
struct RegionQuarks {
  GQuark detection = g_quark_from_static_string("detection");
  GQuark extra_data = g_quark_from_static_string("extra-data");
  GQuark nms = g_quark_from_static_string("nms");
  GQuark confidence = g_quark_from_static_string("confidence");
  GQuark score = g_quark_from_static_string("score");
  GQuark label = g_quark_from_static_string("label");
  GQuark label_id = g_quark_from_static_string("label_id");
  GQuark x_min = g_quark_from_static_string("x_min");
  GQuark y_min = g_quark_from_static_string("y_min");
  GQuark x_max = g_quark_from_static_string("x_max");
  GQuark y_max = g_quark_from_static_string("y_max");
  GQuark cluster_id = g_quark_from_static_string("cluster-id");
  GQuark members = g_quark_from_static_string("members");
  GQuark suppressed = g_quark_from_static_string("suppressed");
  GQuark kept = g_quark_from_static_string("kept");
};

const RegionQuarks& quarks();

struct RegionDetection {
  const GstStructure* structure;  ///< that makes the region a detection
  std::optional<double> score;    ///< its `confidence`, else its `score`
  std::optional<int> label_id;    ///< its `label_id`, if that is not negative
  GQuark label;                   ///< name of the class: `label` of an "extra-data", else the region's type
};

/// A region is a detection if one of its structures is "detection", else by the first one but "nms" that has a numeric
/// `confidence` or `score` ("extra-data" of GStreamer 1.22's onnxobjectdetector and others). Other regions, say hints
/// for an encoder, are none.
std::optional<RegionDetection> read_detection(const GstVideoRegionOfInterestMeta& roi);

/// The structure that makes a region a detection, or null.
GstStructure* find_detection(const GstVideoRegionOfInterestMeta& roi);

/// Writes a field that get_number() reads, as a float if it is one, else as a double.
void write_number(GstStructure* structure, GQuark field, double number);

/// Writes what read_detection() reads as the score of a region that is a detection, where it has another one.
void write_score(GstVideoRegionOfInterestMeta& roi, double score);

/// The first structure of that name, or null.
GstStructure* find_param(const GstVideoRegionOfInterestMeta& roi, GQuark name);

/// False, and `number` as it was, unless the field is a float, a double or an integer of any width.
bool get_number(const GstStructure* structure, GQuark field, double& number);

}  // namespace crowd::meta
