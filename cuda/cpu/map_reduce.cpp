// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "frame.hpp"
#include "rank.hpp"

namespace crowd::cpu {

Outcome map_reduce(const CrowdNmsParams& params, const Frame& frame, const Scratch& scratch, std::uint32_t* stand_ins) {
  Outcome outcome;
  const OverlapRule rule = overlap_rule(params);
  const auto keys = rank(params, frame, scratch, stand_ins, outcome);
  const auto suppresses = [&](std::uint32_t j, std::uint32_t i) {
    return (!frame.classes || frame.classes[i] == frame.classes[j]) && overlaps(frame.boxes[j], frame.boxes[i], rule);
  };
  for (std::size_t r = 0; r < keys.size(); ++r) {
    const std::uint32_t i = rank_index(keys[r]);
    bool dead = false;
    for (std::size_t q = 0; q < r && !dead; ++q)
      dead = suppresses(rank_index(keys[q]), i);
    if (!dead)
      scratch.survivors[outcome.survivors++] = i;
    if (!stand_ins)
      continue;
    if (!dead)
      stand_ins[i] = i;
    for (std::uint32_t s = 0; dead && s < outcome.survivors && stand_ins[i] == CROWD_NMS_NONE; ++s) {
      if (suppresses(scratch.survivors[s], i))
        stand_ins[i] = scratch.survivors[s];
    }
  }
  return outcome;
}

}  // namespace crowd::cpu
