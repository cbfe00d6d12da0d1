// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <optional>
#include <string>

#include "counts.hpp"
#include "losses.hpp"

namespace crowd {

/** How far a run is. */
struct Progress {
  std::optional<double> share;          // of the whole, from 0 to 1
  std::optional<std::uint64_t> frames;  // in the whole
};

/** Asks `element` for the stream's position, duration and frame rate; `limit` is the number of frames that the pipeline
 *  will stop after, if there is one. */
Progress query_progress(GstElement* element, std::uint64_t frames, std::optional<std::uint64_t> limit);

/** One line, no newline: `frame 120/795  candidates 153  survivors 9  nms 0.12 ms  9.8 fps  15 %  1:08 to go`.
 *  counts: null without a crowdnms. lately: those since the line before, whose mean time it is. */
std::string progress_line(const Counts* counts, const Counts& lately, const Progress& progress, double fps,
                          double seconds);

/** Some lines on a whole run, the last of them its outcome. counts: null without a crowdnms. */
std::string summary(const Counts* counts, const Losses& losses, double seconds, bool interrupted);

}  // namespace crowd
