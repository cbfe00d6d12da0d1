// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cpu/arrange.hpp"

namespace crowd::cpu {

Outcome greedy(const CrowdNmsParams& params, const Frame& frame, const Scratch& scratch,
               std::uint32_t* representatives) {
  Outcome outcome;
  const Task task = arrange(params, frame, scratch, representatives, outcome);
  outcome.survivors = kernels().suppress(task);
  slots_to_indices(task, outcome.survivors);
  return outcome;
}

}  // namespace crowd::cpu
