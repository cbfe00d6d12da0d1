// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Non-maximum weighted: greedy's survivors, and a second look at which of them is closest.

#include <algorithm>

#include "core/methods.hpp"
#include "cpu/members.hpp"
#include "cpu/merge.hpp"

namespace crowd {

using namespace cpu;

namespace {

void find_closest(const Job& job, std::uint32_t survivors) {
  const CrowdNmsBox* const boxes = job.frame.boxes.data();
  const PairTest& pair_test = job.rule.pair_test;
  const Neighbours neighbours(job);
  auto* const ratios = reinterpret_cast<float*>(job.scratch.keys);
  std::fill_n(ratios, job.frame.size(), -1.0f);
  for (std::uint32_t r = 0; r < survivors; ++r) {
    const std::uint32_t survivor = job.scratch.survivors[r];
    neighbours.of(survivor, [&](std::uint32_t i, bool better) {
      const float ratio = better ? -1 : pair_test.ratio(boxes[survivor], boxes[i]);
      if (ratio > ratios[i]) {
        ratios[i] = ratio;
        job.representatives[i] = survivor;
      }
    });
  }
}

void write_boxes(const Job& job, std::uint32_t count) {
  const Frame& frame = job.frame;
  const MemberLists members(frame, job.scratch, job.representatives);
  for (std::uint32_t r = 0; r < count; ++r) {
    const std::uint32_t survivor = job.scratch.survivors[r];
    MergedBox<WeightedMerge> merged;
    for (const std::uint32_t i : members.of(survivor)) {
      const double ratio = i == survivor ? 1 : job.rule.pair_test.ratio(frame.boxes[survivor], frame.boxes[i]);
      merged.add_weighted(frame.whole[i], merge_weight(frame.scores[i]) * ratio);
    }
    job.out.boxes[r] = merged.box(frame.whole[survivor]);
  }
}

}  // namespace

Outcome Nmw::on_cpu(const Job& asked) {
  Job job = asked;
  if (!job.representatives && job.out.boxes)
    job.representatives = job.scratch.representatives;
  Outcome outcome = Greedy::on_cpu(job);
  if (!job.representatives)
    return outcome;
  find_closest(job, outcome.survivors);
  const std::uint32_t count = std::min(outcome.survivors, job.out.room);
  write_own(job, count);
  if (job.out.boxes)
    write_boxes(job, count);
  outcome.merged = true;
  return outcome;
}

}  // namespace crowd
