// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** detectsettings.hpp: the properties of crowddetect and where their values go. */
#pragma once

#include <gst/gst.h>

#include <string>

#include "base/properties.hpp"
#include "detect/net/tiles.hpp"
#include "detect/search.hpp"

namespace crowd {

/** Names of GstCrowdDetectDetector's values: rows of detectors.cpp. */
enum DetectorKind {
  DETECTOR_PEOPLE,
  DETECTOR_FACE_HAAR,
  DETECTOR_FACE_LBP,
  DETECTOR_PERSON_NET,
  DETECTOR_FACE_NET,
  DETECTOR_NETWORK,
};
enum Fit { FIT_WINDOW, FIT_BODY };
enum EngineChoice { ENGINE_AUTO, ENGINE_OPENCV, ENGINE_ONNXRUNTIME };

/** What start() loads. */
struct Model {
  DetectorKind detector = DETECTOR_PEOPLE;
  std::string cascade;
  std::string label;
  std::string file;          ///< of a network
  std::string description;   ///< of its tensors: a file, or the name of one that is shipped
  std::string label_file;    ///< in place of the description's
  std::string class_filter;  ///< labels or ids, separated by commas
  EngineChoice engine = ENGINE_AUTO;
  guint threads = 0;
  bool cuda_graph = false;
};

/** What each buffer is searched with; may change while playing. */
struct PerFrame {
  crowd::Search search;
  double score_threshold = 0.1;
  net::TileGrid tiles;  ///< of no columns where the property is no grid
  guint max_candidates = 4096;
  guint interval = 1;
};

struct DetectSettings {
  Model model;
  PerFrame per_frame;
  std::string tiles = "1x1";  ///< as it was set
};

const PropertyTable<DetectSettings>& detect_properties();

}  // namespace crowd
