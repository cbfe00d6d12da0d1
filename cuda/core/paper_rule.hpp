// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The element of the matrix B that Algorithm 1 of Oro et al. 2020 writes, for rectangles, on host and device.
#pragma once

#include "core/overlap.hpp"

namespace crowd {

/// The params' threshold, rounded such that a ratio is below it as it is below the params' double.
inline float paper_threshold(const CrowdNmsParams& params) {
  return float_above(params.overlap_threshold);
}

/// B[i, j] once s_i < s_j: false means that j discards i. An empty j (x2 == x1) discards whatever it meets.
CROWD_HD inline bool paper_keeps(const CrowdNmsBox& i, const CrowdNmsBox& j, float threshold) {
  const float ratio = intersection(i, j, 1.0f) / area(j, 1.0f);
  return ratio < threshold && j.x2 - j.x1 != 0;
}

}  // namespace crowd
