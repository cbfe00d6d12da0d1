// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The params of a soft method as its search takes them (crowd/nms.h, "Soft methods"), and of others that look for all
// overlaps.
#pragma once

#include <cstdint>
#include <limits>

#include "core/minmax.hpp"
#include "crowd/nms.h"

namespace crowd {

/// How thresholds of overlaps are taken.
enum class Overlaps { as_asked, all };

/// With no ratio too small.
inline CrowdNmsParams all_overlaps(const CrowdNmsParams& asked) {
  CrowdNmsParams params = asked;
  params.overlap_threshold = 0;
  params.min_overlap = 0;
  params.comparator = CROWD_NMS_GREATER;
  for (std::uint32_t k = 0; k < params.class_count; ++k)
    params.class_settings[k].overlap_threshold = std::numeric_limits<double>::quiet_NaN();
  return params;
}

inline CrowdNmsParams soft_params(const CrowdNmsParams& asked, Overlaps overlaps) {
  CrowdNmsParams params = overlaps == Overlaps::all ? all_overlaps(asked) : asked;
  params.score_threshold = larger(params.score_threshold, 0.0f);
  for (std::uint32_t k = 0; k < params.class_count; ++k)
    params.class_settings[k].score_threshold = larger(params.class_settings[k].score_threshold, 0.0f);
  return params;
}

}  // namespace crowd
