// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/detectstats.hpp"

namespace crowd {

GstStructure* DetectStats::structure() const {
  return gst_structure_new("crowddetect-stats", "frames", G_TYPE_UINT64, frames, "searched", G_TYPE_UINT64, searched,
                           "candidates", G_TYPE_UINT64, candidates, "overflow", G_TYPE_UINT64, overflow, "failures",
                           G_TYPE_UINT64, failures, "search-time", G_TYPE_UINT64, search_us * GST_USECOND, nullptr);
}

void install_detect_stats(GObjectClass* object_class, guint id) {
  g_object_class_install_property(
      object_class, id,
      g_param_spec_boxed("stats", "Statistics",
                         "Since the start, all uint64: frames, searched (searches, failed ones included), candidates "
                         "(handed on), overflow (candidates beyond max-candidates), failures (searches that could not "
                         "be done, or could find nothing), search-time in nanoseconds",
                         GST_TYPE_STRUCTURE, static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
}

}  // namespace crowd
