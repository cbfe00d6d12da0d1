// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cpu/soft_task.hpp"

#include <limits>

#include "core/soft_params.hpp"

namespace crowd::cpu {

SoftJob::SoftJob(const Job& job, Overlaps overlaps)
    : params_(soft_params(job.params, overlaps)),
      rule_(params_),
      job_{params_, rule_, job.frame, job.scratch, job.representatives, 0},
      scores_(reinterpret_cast<float*>(job.scratch.spare)) {}

bool SoftJob::is_below(std::uint32_t candidate) const {
  const std::int32_t* const classes = job_.frame.arrays.classes;
  return !rule_.admission.is_enough(scores_[candidate], classes ? classes[candidate] : 0);
}

Task SoftJob::arrange(bool (*visit)(const void* context, std::uint32_t hi, std::uint32_t lo), const void* context,
                      std::uint32_t* representatives, Outcome& outcome) const {
  Task task = cpu::arrange(job_, representatives, Order::place, outcome);
  task.max_steps = std::numeric_limits<std::uint64_t>::max();
  task.counts = visit;
  task.context = context;
  for (std::uint32_t slot = 0; slot < task.count; ++slot) {
    const std::uint32_t i = task.index[slot];
    job_.scratch.of[i] = slot;
    scores_[i] = job_.frame.scores[i];
  }
  outcome.scores = scores_;
  return task;
}

}  // namespace crowd::cpu
