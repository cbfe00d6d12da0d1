// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The box of a region of interest that is a detection, in DL Streamer's dialect.
#pragma once

#include <gst/video/gstvideometa.h>

#include <optional>

#include "meta/adapter.hpp"

namespace crowd::meta {

/// The region's own rectangle.
CrowdNmsBox rectangle_of(const GstVideoRegionOfInterestMeta& roi);

/// What x_min, x_max, y_min and y_max of its structure say, in pixels; nothing without them.
std::optional<CrowdNmsBox> exact_box(const GstVideoRegionOfInterestMeta& roi, const GstStructure* detection,
                                     FrameSize size);

/// Gives the region of a survivor the box and the score of that candidate, where the verdict has new ones that differ.
/// A box is its rectangle, and x_min to y_max where it has them.
void write_values(GstVideoRegionOfInterestMeta& roi, const Candidates& candidates, std::uint32_t candidate,
                  const Verdict& verdict);

}  // namespace crowd::meta
