// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>

#include "core/methods.hpp"
#include "cpu/arrange.hpp"

namespace crowd {

using namespace cpu;

Outcome MapReduce::on_cpu(const Job& job) {
  Outcome outcome;
  Task task = arrange(job.params, job.frame, job.scratch, nullptr, outcome);
  task.all_suppress = true;
  outcome.survivors = kernels().suppress(task);
  if (job.representatives) {
    // suppress() names the first candidate that suppresses another, which need not survive. Representatives are
    // survivors: look for them anew.
    std::fill_n(job.representatives, job.frame.size(), CROWD_NMS_REJECTED);
    for (std::uint32_t slot = 0; slot < task.count; ++slot)
      job.representatives[task.index[slot]] = CROWD_NMS_NONE;
    restore_all(task);
    task.representatives = job.representatives;
    kernels().find_representatives(task, outcome.survivors);
  }
  slots_to_indices(task, outcome.survivors);
  return outcome;
}

}  // namespace crowd
