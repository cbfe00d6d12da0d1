// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a region of interest says about a detection, for everyone who reads regions.
#pragma once

#include <gst/gst.h>
#include <gst/video/gstvideometa.h>

#include <optional>

namespace crowd::meta {

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

/// The first structure of that name, or null.
GstStructure* find_param(const GstVideoRegionOfInterestMeta& roi, GQuark name);

/// False, and `number` as it was, unless the field is a float or a double.
bool get_number(const GstStructure* structure, GQuark field, double& number);

}  // namespace crowd::meta
