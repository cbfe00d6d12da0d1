// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>

#include "cpu/arrange.hpp"

namespace crowd::cpu {

Outcome map_reduce(const CrowdNmsParams& params, const Frame& frame, const Scratch& scratch,
                   std::uint32_t* representatives) {
  Outcome outcome;
  Task task = arrange(params, frame, scratch, nullptr, outcome);
  task.dead_suppress = true;
  outcome.survivors = kernels().suppress(task);
  if (representatives) {
    // Only survivors stand for others, and who died first by a dead one's hand may still find one.
    std::fill_n(representatives, frame.size(), CROWD_NMS_REJECTED);
    for (std::uint32_t slot = 0; slot < task.count; ++slot)
      representatives[task.index[slot]] = CROWD_NMS_NONE;
    refill(task);
    task.representatives = representatives;
    kernels().elect(task, outcome.survivors);
  }
  name_survivors(task, outcome.survivors);
  return outcome;
}

}  // namespace crowd::cpu
