// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Where the regions of interest of a buffer lie: GStreamer moves them with the picture, but does not say whether.
#pragma once

#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/gst.h>

#include <optional>

#include "lib/gstcrowdboxesplacement.hpp"
#include "lib/gstcrowdtrail.h"

namespace crowd::meta {

/// What is shown of a buffer's picture, as its caps say, and what scalers upstream do where the aspect ratio changes.
struct ShownSize {
  guint width = 0, height = 0;  ///< 0 if unknown
  gint par_n = 1, par_d = 1;    ///< shape of a pixel, width over height
  GstCrowdBoxesBorders borders = GST_CROWD_BOXES_BORDERS_UNKNOWN;
};

/// The trail of a buffer if it is of regions that are still there: what lies behind it was attached later.
const GstCrowdTrail* trail_of_regions(GstBuffer* buffer);

/// What is added to the rectangles of a buffer's regions, and of its objects of GstAnalytics, to be pixels of what is
/// shown. Nothing if that is not known: a part of the picture is shown that they are not of, or a scaler added borders
/// and did not say so.
std::optional<Shift> place_of_regions(GstBuffer* buffer, const ShownSize& shown);

/// For messages: why regions are left out, and what helps.
extern const char place_of_regions_unknown[];

}  // namespace crowd::meta
