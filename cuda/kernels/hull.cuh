// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Bounds of the boxes of a warp: one look leaves out what overlaps none of them.
#pragma once

#include "kernels/near.cuh"

namespace crowd {

/// Of numbers.
__device__ inline float min_of_lanes(float value) {
  return key_score(warp_min(number_key(value)));
}
__device__ inline float max_of_lanes(float value) {
  return -min_of_lanes(-value);
}

/// Where boxes are, and how wide and high they are. Of no boxes: one that may_overlap() none of finite size.
struct Hull {
  float4 box;
  float min_width, max_width, min_height, max_height;
};

/// Of the boxes of lanes that are `open`. For a whole warp.
__device__ inline Hull hull_of_lanes(const float4& box, bool open, float offset) {
  const float w = width(box, offset), h = height(box, offset);
  return {{min_of_lanes(open ? box.x : INFINITY), min_of_lanes(open ? box.y : INFINITY),
           max_of_lanes(open ? box.z : -INFINITY), max_of_lanes(open ? box.w : -INFINITY)},
          min_of_lanes(open ? w : INFINITY),
          max_of_lanes(open ? w : -INFINITY),
          min_of_lanes(open ? h : INFINITY),
          max_of_lanes(open ? h : -INFINITY)};
}

/// Whether two boxes meet along an axis.
__device__ inline bool meet_along(float from, float to, float other_from, float other_to, float offset) {
  return fminf(to, other_to) - fmaxf(from, other_from) + offset > 0;
}

/// False if `box` is too small or too large to overlap one of the boxes: PairRule::reach bounds the ratio of extents.
__device__ inline bool may_fit(const float4& box, const Hull& hull, const PairRule& rule) {
  const float w = width(box, rule.overlap.offset);
  const float h = height(box, rule.overlap.offset);
  if (w * h < tiny_area || hull.min_width * hull.min_height < tiny_area || !(rule.reach < INFINITY))
    return true;
  const float ratio = (1 + 2 * rule.reach) * (1 + 1e-5f);
  return w * ratio >= hull.min_width && h * ratio >= hull.min_height && hull.max_width * ratio >= w &&
         hull.max_height * ratio >= h;
}

/// False if `box` overlaps none of the boxes. Rounding is monotone: none has more in common with it than their bounds.
__device__ inline bool may_overlap(const float4& box, const Hull& hull, const PairRule& rule) {
  const float offset = rule.overlap.offset;
  return rule.disjoint_too || (meet_along(box.x, box.z, hull.box.x, hull.box.z, offset) &&
                               meet_along(box.y, box.w, hull.box.y, hull.box.w, offset) && may_fit(box, hull, rule));
}

}  // namespace crowd
