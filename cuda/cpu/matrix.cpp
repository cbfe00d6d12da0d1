// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Matrix NMS: two passes over the pairs that overlap, the better one first.

#include <algorithm>
#include <functional>

#include "core/decay.hpp"
#include "core/methods.hpp"
#include "core/order.hpp"
#include "cpu/soft_task.hpp"
#include "cpu/sort.hpp"

namespace crowd {

using namespace cpu;

namespace {

/// By candidate.
struct Covered {
  const SoftJob& soft;
  float* largest;  ///< ratio of a better one with it

  static bool visit(const void* context, std::uint32_t hi, std::uint32_t lo) {
    const Covered& self = *static_cast<const Covered*>(context);
    if (self.soft.counts(hi, lo))
      self.largest[lo] = larger(self.largest[lo], self.soft.ratio(hi, lo));
    return false;
  }
};

/// By candidate.
template <typename Decay>
struct Decays {
  const SoftJob& soft;
  const float* covered;
  float* min_factors;
  std::uint32_t* by;  ///< whose factor that is
  Decay decay;

  static bool visit(const void* context, std::uint32_t hi, std::uint32_t lo) {
    const Decays& self = *static_cast<const Decays*>(context);
    if (!self.soft.counts(hi, lo))
      return false;
    const float factor = self.decay(self.soft.ratio(hi, lo), self.covered[hi]);
    if (factor < self.min_factors[lo]) {
      self.min_factors[lo] = factor;
      self.by[lo] = hi;
    }
    return false;
  }
};

/// Each candidate with all that rank worse.
void visit_all(Task task, bool (*visit)(const void*, std::uint32_t, std::uint32_t), const void* context) {
  task.counts = visit;
  task.context = context;
  task.representatives = nullptr;
  restore_all(task);
  const auto take = kernels().take;
  for (std::uint32_t rank = 0; rank < task.count; ++rank)
    take(task, task.by_rank ? task.by_rank[rank] : rank);
}

/// Survivors in the order of their new scores.
void rank_survivors(const SoftJob& soft, const Task& task, Outcome& outcome) {
  const Scratch& scratch = soft.job().scratch;
  for (std::uint32_t slot = 0; slot < task.count; ++slot) {
    const std::uint32_t i = task.index[slot];
    if (!soft.is_below(i))
      scratch.keys[outcome.survivors++] = rank_key(soft.scores()[i], i);
  }
  std::sort(scratch.keys, scratch.keys + outcome.survivors, std::greater<>());
  for (std::uint32_t r = 0; r < outcome.survivors; ++r)
    scratch.survivors[r] = rank_index(scratch.keys[r]);
}

template <typename Decay>
Outcome run(const Job& job, Decay decay) {
  const SoftJob soft(job, Overlaps::all);
  const Scratch& scratch = job.scratch;
  Outcome outcome;
  const Task task = soft.arrange(nullptr, nullptr, job.representatives, outcome);
  const std::uint32_t n = job.frame.size();
  // The keys' memory, and the half of the spare keys' that scores leave.
  auto* const covered = reinterpret_cast<float*>(scratch.keys);
  float* const min_factors = soft.scores() + n;
  std::uint32_t* const by = scratch.survivors;
  std::fill_n(covered, n, 0.0f);
  std::fill_n(min_factors, n, 1.0f);
  const Covered covering{soft, covered};
  visit_all(task, Covered::visit, &covering);
  const Decays<Decay> decays{soft, covered, min_factors, by, decay};
  visit_all(task, Decays<Decay>::visit, &decays);

  for (std::uint32_t slot = 0; slot < task.count; ++slot)
    soft.scores()[task.index[slot]] *= min_factors[task.index[slot]];
  for (std::uint32_t slot = 0; job.representatives && slot < task.count; ++slot) {
    const std::uint32_t i = task.index[slot];
    const std::uint32_t representative = soft.is_below(i) ? by[i] : i;
    job.representatives[i] = soft.is_below(representative) ? CROWD_NMS_NONE : representative;
  }
  rank_survivors(soft, task, outcome);
  return outcome;
}

}  // namespace

Outcome MatrixLinear::on_cpu(const Job& job) {
  return run(job, linear_matrix_decay);
}

Outcome MatrixGaussian::on_cpu(const Job& job) {
  return run(job, [sigma = job.params.sigma](float ratio, float covered) {
    return gaussian_matrix_decay(ratio, covered, sigma);
  });
}

}  // namespace crowd
