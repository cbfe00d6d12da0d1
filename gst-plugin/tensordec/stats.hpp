// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What crowdtensordec counts beside what is clustered.
#pragma once

#include <gst/gst.h>

namespace crowd {

struct TensorDecStats {
  guint64 frames = 0;
  guint64 decoded = 0;
  guint64 failures = 0;
  guint64 decode_us = 0;

  /// To the stats of an NmsStream.
  void add_to(GstStructure* all) const {
    guint64 not_clustered = 0;
    gst_structure_get_uint64(all, "failures", &not_clustered);
    gst_structure_set_name(all, "crowdtensordec-stats");
    gst_structure_set(all, "frames", G_TYPE_UINT64, frames, "decoded", G_TYPE_UINT64, decoded, "failures",
                      G_TYPE_UINT64, not_clustered + failures, "decode-time", G_TYPE_UINT64, decode_us * GST_USECOND,
                      nullptr);
  }
};

}  // namespace crowd
