// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gst/gst.h>

#include "detect/gstcrowddetect.h"

static gboolean plugin_init(GstPlugin* plugin) {
  return GST_ELEMENT_REGISTER(crowddetect, plugin);
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, crowdopencv, "Crowd video analytics: detectors from OpenCV",
                  plugin_init, PACKAGE_VERSION, GST_CROWD_LICENSE, PACKAGE, "gst-crowd")
