// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "frame.hpp"
#include "rank.hpp"

namespace crowd::cpu {

Outcome greedy(const CrowdNmsParams& params, const Frame& frame, const Scratch& scratch, std::uint32_t* stand_ins) {
  Outcome outcome;
  const OverlapRule rule = overlap_rule(params);
  const auto keys = rank(params, frame, scratch, stand_ins, outcome);
  for (const std::uint64_t key : keys) {
    const std::uint32_t i = rank_index(key);
    std::uint32_t by = i;
    for (std::uint32_t s = 0; s < outcome.survivors && by == i; ++s) {
      const std::uint32_t j = scratch.survivors[s];
      if ((!frame.classes || frame.classes[i] == frame.classes[j]) && overlaps(frame.boxes[j], frame.boxes[i], rule))
        by = j;
    }
    if (by == i)
      scratch.survivors[outcome.survivors++] = i;
    if (stand_ins)
      stand_ins[i] = by;
  }
  return outcome;
}

}  // namespace crowd::cpu
