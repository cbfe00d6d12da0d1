// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <gst/gst.h>

#include <array>
#include <string>

#include "base/properties.hpp"
#include "overlay/draw/composer.hpp"

namespace crowd::overlay {

enum class Show { survivors, candidates, both };

/** What may change while playing: copied once a buffer. */
struct LiveSettings {
  Show show = Show::survivors;
  draw::Style style;
};

/** A colour as it was typed. */
struct ColorText {
  std::string property;
  std::string text;     ///< of the colour in use
  std::string refused;  ///< what came later and could not be read; no warning has been posted so far
};

/** The properties; the defaults are written here and in Style, and nowhere else. */
struct Settings {
  LiveSettings live;
  std::array<ColorText, 2> colors = {{{"color", "class", {}}, {"candidate-color", "0xffb300", {}}}};
};

const PropertyTable<Settings>& properties();

/** What to post of colours that could not be read, empty if nothing; it is forgotten. */
std::string take_problem(Settings& settings);

}  // namespace crowd::overlay
