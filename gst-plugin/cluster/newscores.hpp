// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The scores that a method left survivors with, in place of those that candidates came with.
#pragma once

#include <vector>

#include "meta/adapter.hpp"

namespace crowd {

class NewScores {
 public:
  /// The candidates with the verdict's scores, until the next call. Memory is made for the largest frame.
  meta::Candidates of(const meta::Candidates& candidates, const meta::Verdict& verdict) {
    if (verdict.scores.empty())
      return candidates;
    scores_.assign(candidates.scores.begin(), candidates.scores.end());
    for (std::size_t rank = 0; rank < verdict.survivors.size(); ++rank)
      scores_[verdict.survivors[rank]] = verdict.scores[rank];
    meta::Candidates result = candidates;
    result.scores = scores_;
    return result;
  }

 private:
  std::vector<float> scores_;
};

}  // namespace crowd
