// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What crowdinject counts.
#pragma once

#include <gst/gst.h>

namespace crowd::inject {

struct Stats {
  guint64 frames = 0;
  guint64 candidates = 0;
  guint64 overflow = 0;
  guint64 failures = 0;
  guint64 objects = 0;
  guint64 skipped_lines = 0;

  /// The value of the property.
  GstStructure* structure() const {
    return gst_structure_new("crowdinject-stats", "frames", G_TYPE_UINT64, frames, "candidates", G_TYPE_UINT64,
                             candidates, "overflow", G_TYPE_UINT64, overflow, "failures", G_TYPE_UINT64, failures,
                             "objects", G_TYPE_UINT64, objects, "skipped-lines", G_TYPE_UINT64, skipped_lines, nullptr);
  }
};

}  // namespace crowd::inject
