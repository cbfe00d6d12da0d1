// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which candidates count (crowd/nms.h, "Valid" and "Settings of classes, limits of size"), for host and device.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/class_table.hpp"
#include "core/overlap.hpp"

namespace crowd {

/// Whether a candidate is valid or why not. `absent`: the thread has no candidate.
enum class Validity : std::uint32_t { valid, absent, invalid, below_threshold };

/// Which candidates are valid, made from the params.
struct Admission {
  float offset;
  float score_threshold;  ///< of classes that have none of their own
  float min_width, min_height, max_width, max_height;
  bool listed_only;
  ClassTable classes;

  CROWD_HD bool fits(const CrowdNmsBox& box) const {
    const float width = box.x2 - box.x1 + offset;
    const float height = box.y2 - box.y1 + offset;
    return width >= min_width && width <= max_width && height >= min_height && height <= max_height;
  }

  CROWD_HD bool is_enough(float score, std::int32_t label) const {
    const std::uint32_t place = classes.find(label);
    if (place == ClassTable::none)
      return !listed_only && score >= score_threshold;
    return score >= classes.score_threshold[place];
  }

  /// `visible`: the box itself where only that matters.
  CROWD_HD Validity of(const CrowdNmsBox& box, const CrowdNmsBox& visible, float score, std::int32_t label) const {
    if (score != score || !is_well_formed(box, offset) || !is_well_formed(visible, offset))
      return Validity::invalid;
    return fits(box) && is_enough(score, label) ? Validity::valid : Validity::below_threshold;
  }
};

inline Admission admission(const CrowdNmsParams& params) {
  return {static_cast<float>(params.pixel_offset),
          params.score_threshold,
          params.min_width,
          params.min_height,
          params.max_width,
          params.max_height,
          params.listed_only != 0,
          class_table(params)};
}

/// Whether there are limits of class or size.
inline bool has_admission_limits(const CrowdNmsParams& params) {
  return params.class_count || params.listed_only || params.min_width > 0 || params.min_height > 0 ||
         params.max_width < INFINITY || params.max_height < INFINITY;
}

/// Whether validity depends on more than score_threshold and one box that is well-formed: on limits, or a visible box.
inline bool needs_admission(const CrowdNmsParams& params) {
  return has_admission_limits(params) || params.rule == CROWD_NMS_VISIBLE;
}

}  // namespace crowd
