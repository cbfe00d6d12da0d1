// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <optional>
#include <string>

#include "tally.hpp"

namespace crowd {

/** The counts of a "crowdnms" element message, or nothing if it is another one. */
std::optional<FrameCounts> read_frame_counts(const GstStructure* message);

/** How much of the run is over, from 0 to 1: by frames where their number is expected, else by the stream's duration;
 *  negative if nobody knows. */
double progress(GstElement* pipeline, std::uint64_t frames, std::optional<std::uint64_t> expected_frames);

/** One line, no newline: `frame 120/795  candidates 153  survivors 9  nms 0.12 ms  9.8 fps  15 %  1:08 to go`. */
std::string progress_line(const Tally& tally, std::optional<std::uint64_t> expected_frames, double fps, double done,
                          double seconds);

/** Some lines on a whole run, the last of them its outcome. stats: the property of crowdnms, null without one. */
std::string summary(const Tally& tally, const GstStructure* stats, double seconds, bool interrupted);

}  // namespace crowd
