// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Settings that a class has of its own (CrowdNmsClassSettings), for host and device.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/overlap.hpp"

namespace crowd {

/// Small enough to be a kernel's argument.
struct ClassTable {
  static constexpr std::uint32_t none = ~0u;

  std::uint32_t count = 0;
  std::int32_t label[CROWD_NMS_MAX_CLASS_SETTINGS];       ///< ascending
  float overlap_threshold[CROWD_NMS_MAX_CLASS_SETTINGS];  ///< rounded as OverlapRule::threshold
  float score_threshold[CROWD_NMS_MAX_CLASS_SETTINGS];

  /// The place of a class; none if it is not listed.
  CROWD_HD std::uint32_t find(std::int32_t of) const {
    std::uint32_t first = 0;
    for (std::uint32_t length = count; length;) {
      const std::uint32_t half = length / 2;
      const bool after = label[first + half] < of;
      first += after ? half + 1 : 0;
      length = after ? length - half - 1 : half;
    }
    return first < count && label[first] == of ? first : none;
  }
};

inline ClassTable class_table(const CrowdNmsParams& params) {
  ClassTable table;
  table.count = params.class_count;
  std::uint32_t order[CROWD_NMS_MAX_CLASS_SETTINGS];
  for (std::uint32_t i = 0; i < table.count; ++i)
    order[i] = i;
  const CrowdNmsClassSettings* const of = params.class_settings;
  std::sort(order, order + table.count, [of](std::uint32_t a, std::uint32_t b) { return of[a].label < of[b].label; });
  for (std::uint32_t i = 0; i < table.count; ++i) {
    const CrowdNmsClassSettings& own = of[order[i]];
    const bool has_overlap = !std::isnan(own.overlap_threshold);
    table.label[i] = own.label;
    table.overlap_threshold[i] =
        rounded_threshold(params, has_overlap ? own.overlap_threshold : params.overlap_threshold);
    table.score_threshold[i] = std::isnan(own.score_threshold) ? params.score_threshold : own.score_threshold;
  }
  return table;
}

}  // namespace crowd
