// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/crowd/gstcrowdversion.h"

void gst_crowd_version(guint* major, guint* minor, guint* micro) {
  g_return_if_fail(major != nullptr && minor != nullptr && micro != nullptr);
  *major = GST_CROWD_VERSION_MAJOR;
  *minor = GST_CROWD_VERSION_MINOR;
  *micro = GST_CROWD_VERSION_MICRO;
}
