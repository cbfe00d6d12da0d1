// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>

#include "frame.hpp"
#include "order.hpp"
#include "overlap.hpp"

namespace crowd::cpu {

/// Sorts the valid candidates into Scratch::keys, best first, counts the others, and leaves `stand_ins` (if any) empty.
inline std::span<std::uint64_t> rank(const CrowdNmsParams& params, const Frame& frame, const Scratch& scratch,
                                     std::uint32_t* stand_ins, Outcome& outcome) {
  if (stand_ins)
    std::fill_n(stand_ins, frame.size(), CROWD_NMS_NONE);
  const float offset = overlap_rule(params).offset;
  std::size_t n = 0;
  for (std::uint32_t i = 0; i < frame.size(); ++i) {
    const float score = frame.scores[i];
    if (score != score || !is_well_formed(frame.boxes[i], offset))
      ++outcome.invalid;
    else if (score < params.score_threshold)
      ++outcome.below_threshold;
    else
      scratch.keys[n++] = rank_key(score, i);
  }
  const std::span<std::uint64_t> keys(scratch.keys, n);
  std::sort(keys.begin(), keys.end(), std::greater<>());
  return keys;
}

}  // namespace crowd::cpu
