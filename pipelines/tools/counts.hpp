// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <string>

namespace crowd {

/** What a crowdnms counts in its `stats`: sums since its start, but for the last frame and the backend. */
struct Counts {
  std::uint64_t frames = 0;
  std::uint64_t candidates = 0;
  std::uint64_t survivors = 0;
  std::uint64_t nms_ns = 0;         // of frames with candidates in system memory
  std::uint64_t device_frames = 0;  // with candidates in CUDA memory
  std::uint64_t device_timed = 0;   // of those
  std::uint64_t device_ns = 0;      // of the timed ones
  std::uint64_t last_candidates = 0;
  std::uint64_t last_survivors = 0;
  std::string backend = "none";

  /** The sums of later frames than those of `before` alone. */
  Counts since(const Counts& before) const;
};

Counts read_counts(const GstStructure* stats);

/** Of an element with such `stats`, now. */
Counts read_counts(GstElement* nms);

}  // namespace crowd
