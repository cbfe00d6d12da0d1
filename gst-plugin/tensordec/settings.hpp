// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What an application sets of crowdtensordec.
#pragma once

#include <string>

#include "base/properties.hpp"
#include "cluster/settings.hpp"
#include "meta/candidatewriter.hpp"

namespace crowd {

/// Defaults of GStreamer's yolov8tensordec, which suppresses across classes.
inline NmsSettings stock_nms_settings() {
  NmsSettings settings;
  settings.params.overlap_threshold = 0.7F;
  settings.params.class_agnostic = 1;
  settings.max_detections = 100;
  settings.source = CandidateWriter::kind();
  return settings;
}

enum class Compatibility {
  none,
  stock  ///< the boxes of GStreamer's decoder for the layout, where it has one
};

struct TensorDecSettings {
  NmsSettings nms = stock_nms_settings();
  float class_threshold = 0.4F;
  float box_threshold = 0.4F;
  std::string model_info;
  std::string label_file;
  Compatibility compatibility = Compatibility::none;
};

const PropertyTable<TensorDecSettings>& tensordec_properties();

}  // namespace crowd
