// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Soft-NMS: candidates are taken in the order of the scores that they have by then.

#include <algorithm>

#include "core/decay.hpp"
#include "core/methods.hpp"
#include "core/order.hpp"
#include "cpu/soft_task.hpp"

namespace crowd {

using namespace cpu;

namespace {

template <typename Decay>
struct Soft {
  const SoftJob& soft;
  Decay decay;

  /// Lowers the score of `lo`; true if it is below the threshold then.
  static bool visit(const void* context, std::uint32_t hi, std::uint32_t lo) {
    const Soft& self = *static_cast<const Soft*>(context);
    if (!self.soft.counts(hi, lo))
      return false;
    self.soft.scores()[lo] *= self.decay(self.soft.ratio(hi, lo));
    return self.soft.is_below(lo);
  }
};

/// The best remaining candidate: a heap of rank keys, of which those whose score has fallen since are renewed as they
/// come up.
class Queue {
 public:
  Queue(const Task& task, const SoftJob& soft)
      : task_(task), scores_(soft.scores()), keys_(soft.job().scratch.keys), end_(keys_ + task.count) {
    for (std::uint32_t slot = 0; slot < task.count; ++slot)
      keys_[slot] = key_of(task.index[slot]);
    std::make_heap(keys_, end_);
  }

  /// False if there is none.
  bool take(std::uint32_t& candidate, const std::uint32_t* slot_of) {
    while (end_ != keys_) {
      candidate = rank_index(*keys_);
      const std::uint64_t key = key_of(candidate);
      const bool is_new = key == *keys_;
      std::pop_heap(keys_, end_--);
      const std::uint32_t slot = slot_of[candidate];
      if (!(task_.space.remaining[slot / width] >> slot % width & 1))
        continue;
      if (is_new)
        return true;
      *end_++ = key;
      std::push_heap(keys_, end_);
    }
    return false;
  }

 private:
  std::uint64_t key_of(std::uint32_t candidate) const {
    return rank_key(scores_[candidate], candidate);
  }

  const Task& task_;
  const float* scores_;
  std::uint64_t* keys_;
  std::uint64_t* end_;
};

template <typename Decay>
Outcome run(const Job& job, Overlaps overlaps, Decay decay) {
  const SoftJob soft(job, overlaps);
  const Soft<Decay> context{soft, decay};
  Outcome outcome;
  Task task = soft.arrange(Soft<Decay>::visit, &context, job.representatives, outcome);
  task.in_any_order = true;
  Queue queue(task, soft);
  const auto take = kernels().take;
  std::uint32_t candidate;
  while (queue.take(candidate, job.scratch.of)) {
    job.scratch.survivors[outcome.survivors++] = candidate;
    take(task, job.scratch.of[candidate]);
  }
  return outcome;
}

}  // namespace

Outcome SoftLinear::on_cpu(const Job& job) {
  return run(job, Overlaps::as_asked, linear_decay);
}

Outcome SoftGaussian::on_cpu(const Job& job) {
  return run(job, Overlaps::all, [sigma = job.params.sigma](float ratio) { return gaussian_decay(ratio, sigma); });
}

}  // namespace crowd
