// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// CROWD_ELEMENTS, from the folders' meson.build, calls ELEMENT(name) for each element.

#include <gst/gst.h>

#define ELEMENT(name) GST_ELEMENT_REGISTER_DECLARE(name)
CROWD_ELEMENTS
#undef ELEMENT

static gboolean plugin_init(GstPlugin* plugin) {
  gboolean registered = TRUE;
#define ELEMENT(name) registered &= GST_ELEMENT_REGISTER(name, plugin);
  CROWD_ELEMENTS
#undef ELEMENT
  return registered;
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, crowd, "Crowd video analytics: NMS of detections on the GPU",
                  plugin_init, PACKAGE_VERSION, GST_CROWD_LICENSE, PACKAGE, "gst-crowd")
