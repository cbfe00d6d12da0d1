// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "core/methods.hpp"
#include "cpu/arrange.hpp"

namespace crowd {

using namespace cpu;

Outcome Greedy::on_cpu(const Job& job) {
  Outcome outcome;
  const Task task = arrange(job.params, job.frame, job.scratch, job.representatives, outcome);
  outcome.survivors = kernels().suppress(task);
  slots_to_indices(task, outcome.survivors);
  return outcome;
}

}  // namespace crowd
