// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "core/methods.hpp"
#include "cpu/arrange.hpp"

namespace crowd {

using namespace cpu;

Outcome Greedy::on_cpu(const Job& job) {
  return in_either_order([&job](Order order) {
    Outcome outcome;
    const Task task = arrange(job, job.representatives, order, outcome);
    add(outcome, kernels().suppress(task));
    if (outcome.whole)
      slots_to_indices(task, outcome.survivors);
    return outcome;
  });
}

}  // namespace crowd
