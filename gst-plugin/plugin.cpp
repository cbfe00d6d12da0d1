// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gst/gst.h>

#include "inject/gstcrowdinject.h"
#include "nms/gstcrowdnms.h"
#include "overlay/gstcrowdoverlay.h"
#if CROWD_HAVE_TENSORS
#include "tensordec/gstcrowdtensordec.h"
#endif

static gboolean plugin_init(GstPlugin* plugin) {
  gboolean registered = TRUE;
  registered &= GST_ELEMENT_REGISTER(crowdinject, plugin);
  registered &= GST_ELEMENT_REGISTER(crowdnms, plugin);
  registered &= GST_ELEMENT_REGISTER(crowdoverlay, plugin);
#if CROWD_HAVE_TENSORS
  registered &= GST_ELEMENT_REGISTER(crowdtensordec, plugin);
#endif
  return registered;
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, crowd, "Crowd video analytics: NMS of detections on the GPU",
                  plugin_init, PACKAGE_VERSION, GST_CROWD_LICENSE, PACKAGE, "gst-crowd")
