// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>

namespace crowd {

/// The survivors of a frame, its regions of interest that are not marked as suppressed, as a line of JSON with its end,
/// which crowdinject reads:
///
///     {"frame": 0, "pts": 0, "resolution": {"width": 1920, "height": 1080}, "objects": [
///       {"box": [x1, y1, x2, y2], "score": 0.9, "class": 0, "label": "person", "members": 7, "raw-score": 0.8}, ...]}
///
/// "pts" is in nanoseconds, -1 without one. "resolution" is the caps', left out where they have none. "box" is in
/// pixels of it: x_min, y_min, x_max and y_max of the region's "detection" times the resolution, which is the float
/// that crowdnms was given; the region's own rectangle where these are missing, or not finite. "score" is the
/// detection's confidence, else that of crowdnms, else left out. "class" is the label_id, left out where that is
/// missing or negative. "members" is 1 for a region that crowdnms has not seen. "raw-score" is the detector's own, left
/// out where it is the confidence.
///
/// Numbers read back as the same float, whatever the locale; what is not finite is null, which crowdinject refuses.
/// Bytes of a label that are no UTF-8 become U+FFFD.
std::string survivors_line(guint64 frame, GstSample* sample);

}  // namespace crowd
