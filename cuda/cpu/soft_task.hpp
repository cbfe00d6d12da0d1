// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the soft methods share: the search of greedy, with a function that lowers scores where pairs overlap.
#pragma once

#include "core/soft_params.hpp"
#include "cpu/arrange.hpp"
#include "cpu/frame.hpp"

namespace crowd::cpu {

/// The job of a soft method: scores below 0 are below the threshold.
class SoftJob {
 public:
  SoftJob(const Job& job, Overlaps overlaps);
  SoftJob(const SoftJob&) = delete;

  const Job& job() const {
    return job_;
  }
  /// By candidate, as they are now; of valid ones.
  float* scores() const {
    return scores_;
  }
  /// Whether a candidate's score, as it is now, is below the threshold of its class.
  bool is_below(std::uint32_t candidate) const;
  /// Whether the pair, which overlaps by the rule of the search, counts.
  bool counts(std::uint32_t hi, std::uint32_t lo) const {
    return rule_.pair_test.counts(hi, lo, job_.frame.boxes[hi], job_.frame.boxes[lo], job_.frame.arrays);
  }
  float ratio(std::uint32_t hi, std::uint32_t lo) const {
    return rule_.pair_test.ratio(job_.frame.boxes[hi], job_.frame.boxes[lo]);
  }

  /// A task that calls visit(context, hi, lo) for pairs that overlap: it returns whether `lo` is suppressed. Scores are
  /// set; Scratch::of has the slot of each valid candidate. Scratch::keys is free from then on.
  Task arrange(bool (*visit)(const void* context, std::uint32_t hi, std::uint32_t lo), const void* context,
               std::uint32_t* representatives, Outcome& outcome) const;

 private:
  CrowdNmsParams params_;
  Rule rule_;
  Job job_;
  float* scores_;
};

}  // namespace crowd::cpu
