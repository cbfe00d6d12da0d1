// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <gst/gst.h>

#include <string>

#include "base/properties.hpp"
#include "inject/scene/recording.hpp"
#include "inject/scene/scene.hpp"

namespace crowd::inject {

/** How frames get their numbers. */
enum class Numbering { counter, timestamp };

/** What may change while playing: copied once a buffer. */
struct LiveSettings {
  int candidates = scene::own_number;
  guint max_candidates = 0;
  bool loop = false;
  bool truth = true;
};

/** The properties; the defaults are written here and nowhere else. */
struct Settings {
  LiveSettings live;
  scene::SceneSettings scene;
  std::string location;
  scene::Format format = scene::Format::automatic;
  bool strict = false;
  guint recorded_width = 0;
  guint recorded_height = 0;
  std::string labels;
  std::string truth_location;
  Numbering numbering = Numbering::counter;
};

const PropertyTable<Settings>& properties();

}  // namespace crowd::inject
