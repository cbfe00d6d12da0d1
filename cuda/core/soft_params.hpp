// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The params of a soft method as its search takes them (crowd/nms.h, "Soft methods").
#pragma once

#include <cstdint>
#include <limits>

#include "core/minmax.hpp"
#include "crowd/nms.h"

namespace crowd {

/// How thresholds of overlaps are taken.
enum class Overlaps { as_asked, all };

inline CrowdNmsParams soft_params(const CrowdNmsParams& asked, Overlaps overlaps) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  CrowdNmsParams params = asked;
  params.score_threshold = larger(params.score_threshold, 0.0f);
  for (std::uint32_t k = 0; k < params.class_count; ++k)
    params.class_settings[k].score_threshold = larger(params.class_settings[k].score_threshold, 0.0f);
  if (overlaps == Overlaps::as_asked)
    return params;
  params.overlap_threshold = 0;
  params.min_overlap = 0;
  params.comparator = CROWD_NMS_GREATER;
  for (std::uint32_t k = 0; k < params.class_count; ++k)
    params.class_settings[k].overlap_threshold = nan;
  return params;
}

}  // namespace crowd
