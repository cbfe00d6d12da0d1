// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What crowdnms adds to regions of interest, and the trail that it leaves behind them.
#pragma once

#include <gst/video/gstvideometa.h>

#include "meta/adapter.hpp"
#include "meta/written.hpp"

namespace crowd::meta {

/// Adds a structure "nms" with what became of a candidate.
void mark(GstVideoRegionOfInterestMeta* roi, const Cluster& cluster, float score);

/// Of all regions; 0 if there is none.
int largest_region_id(GstBuffer* buffer);

/// After so many regions of detections were left on the frame.
void leave_trail(GstBuffer* buffer, FrameSize size, guint regions, Mode mode);

/// After objects of GstAnalytics were left on the frame, before leave_trail() if both are.
void leave_trail_of_objects(GstBuffer* buffer, FrameSize size);

}  // namespace crowd::meta
