// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/detectstats.hpp"

namespace crowd {

GstStructure* DetectStats::structure() const {
  return gst_structure_new("crowddetect-stats", "frames", G_TYPE_UINT64, frames, "searched", G_TYPE_UINT64, searched,
                           "candidates", G_TYPE_UINT64, candidates, "overflow", G_TYPE_UINT64, overflow, "failures",
                           G_TYPE_UINT64, failures, "search-time", G_TYPE_UINT64, search_us * GST_USECOND, nullptr);
}

}  // namespace crowd
