// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The boxes and scores that survivors leave with, in place of those that candidates came with.
#pragma once

#include <vector>

#include "meta/adapter.hpp"

namespace crowd {

class SurvivorValues {
 public:
  /// The candidates with the verdict's boxes and scores, until the next call. Memory is made for the largest frame.
  meta::Candidates of(const meta::Candidates& candidates, const meta::Verdict& verdict) {
    meta::Candidates result = candidates;
    if (!verdict.boxes.empty())
      result.boxes = replace(boxes_, candidates.boxes, verdict.survivors, verdict.boxes);
    if (!verdict.scores.empty())
      result.scores = replace(scores_, candidates.scores, verdict.survivors, verdict.scores);
    return result;
  }

 private:
  template <typename T>
  static std::span<const T> replace(std::vector<T>& all, std::span<const T> before,
                                    std::span<const std::uint32_t> survivors, std::span<const T> after) {
    all.assign(before.begin(), before.end());
    for (std::size_t rank = 0; rank < survivors.size(); ++rank)
      all[survivors[rank]] = after[rank];
    return all;
  }

  std::vector<CrowdNmsBox> boxes_;
  std::vector<float> scores_;
};

}  // namespace crowd
