// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <gst/gst.h>

#include <array>
#include <string>

#include "overlay/draw/scene.hpp"

namespace crowd::overlay {

enum class Show { survivors, candidates, both };
GType show_type();

/** What may change while playing: copied once a buffer. */
struct LiveSettings {
  Show show = Show::survivors;
  draw::Style style;
};

/** A colour as it was typed. */
struct ColorText {
  std::string property;
  std::string text;     ///< of the colour in use
  std::string refused;  ///< what came later and could not be read; no complaint was posted so far
};

/** The properties; the defaults are written here and in Style, and nowhere else. */
struct Settings {
  LiveSettings live;
  std::array<ColorText, 2> colors = {{{"color", "class", {}}, {"candidate-color", "0xffb300", {}}}};
};

/** Installs the properties, "stats" included, which is the element's own to answer. */
void install_properties(GObjectClass* object_class);

/** Set and get by the id that install_properties() gave; false if the id is none of the settings'. */
bool set_property(Settings& settings, guint id, const GValue* value);
bool get_property(const Settings& settings, guint id, GValue* value);

/** What to post of colours that could not be read, empty if nothing; it is forgotten. */
std::string take_complaint(Settings& settings);

}  // namespace crowd::overlay
