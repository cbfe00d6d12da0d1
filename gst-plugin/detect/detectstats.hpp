// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** detectstats.hpp: what crowddetect counts, and its property `stats`. */
#pragma once

#include <gst/gst.h>

namespace crowd {

struct DetectStats {
  guint64 frames = 0;
  guint64 searched = 0;
  guint64 candidates = 0;
  guint64 overflow = 0;
  guint64 failures = 0;
  guint64 search_us = 0;

  /** The value of the property. */
  GstStructure* structure() const;
};

}  // namespace crowd
