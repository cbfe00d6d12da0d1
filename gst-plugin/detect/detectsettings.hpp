// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** detectsettings.hpp: the properties of crowddetect and where their values go. */
#pragma once

#include <gst/gst.h>

#include <string>

#include "base/properties.hpp"
#include "detect/windows.hpp"

namespace crowd {

enum Detector { DETECTOR_PEOPLE, DETECTOR_FACE_HAAR, DETECTOR_FACE_LBP };
enum Fit { FIT_WINDOW, FIT_BODY };

/** What start() loads. */
struct Model {
  Detector detector = DETECTOR_PEOPLE;
  std::string cascade;
  std::string label;
};

/** What each buffer is searched with; may change while playing. */
struct PerFrame {
  crowd::Search search;
  guint max_candidates = 4096;
  guint interval = 1;
};

struct DetectSettings {
  Model model;
  PerFrame per_frame;
};

const PropertyTable<DetectSettings>& detect_properties();

}  // namespace crowd
