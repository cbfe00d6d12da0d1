// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>

#include "core/methods.hpp"
#include "cpu/arrange.hpp"

namespace crowd {

using namespace cpu;

namespace {

// suppress() names the first candidate that suppresses another, which need not survive. Representatives are survivors:
// they are looked for anew.
void find_representatives(const Job& job, Task& task, Outcome& outcome) {
  std::fill_n(job.representatives, job.frame.size(), CROWD_NMS_REJECTED);
  for (std::uint32_t slot = 0; slot < task.count; ++slot)
    job.representatives[task.index[slot]] = CROWD_NMS_NONE;
  restore_all(task);
  task.representatives = job.representatives;
  add(outcome, kernels().find_representatives(task, outcome.survivors));
}

}  // namespace

Outcome MapReduce::on_cpu(const Job& job) {
  return in_either_order([&job](Order order) {
    Outcome outcome;
    Task task = arrange(job, nullptr, order, outcome);
    task.all_suppress = true;
    add(outcome, kernels().suppress(task));
    if (outcome.whole && job.representatives)
      find_representatives(job, task, outcome);
    if (outcome.whole)
      slots_to_indices(task, outcome.survivors);
    return outcome;
  });
}

}  // namespace crowd
