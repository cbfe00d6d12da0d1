// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>

#include "cpu/arrange.hpp"

namespace crowd::cpu {

Outcome map_reduce(const CrowdNmsParams& params, const Frame& frame, const Scratch& scratch,
                   std::uint32_t* representatives) {
  Outcome outcome;
  Task task = arrange(params, frame, scratch, nullptr, outcome);
  task.all_suppress = true;
  outcome.survivors = kernels().suppress(task);
  if (representatives) {
    // suppress() names the first candidate that suppresses another, which need not survive. Representatives are
    // survivors: look for them anew.
    std::fill_n(representatives, frame.size(), CROWD_NMS_REJECTED);
    for (std::uint32_t slot = 0; slot < task.count; ++slot)
      representatives[task.index[slot]] = CROWD_NMS_NONE;
    restore_all(task);
    task.representatives = representatives;
    kernels().find_representatives(task, outcome.survivors);
  }
  slots_to_indices(task, outcome.survivors);
  return outcome;
}

}  // namespace crowd::cpu
