// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// GStreamer for fuzz targets: no registry, since no plugin is needed, and a warning of GLib ends the run.
#pragma once

#include <gst/gst.h>

extern "C" int LLVMFuzzerInitialize(int*, char***);

int LLVMFuzzerInitialize(int*, char***) {
  g_setenv("GST_REGISTRY_DISABLE", "yes", TRUE);
  g_setenv("GST_DEBUG", "0", TRUE);
  g_log_set_always_fatal(static_cast<GLogLevelFlags>(G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING));
  gst_registry_fork_set_enabled(FALSE);
  gst_init(nullptr, nullptr);
  return 0;
}
