// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What crowd_nms_cuda_gather() has to make of a call's results.
#pragma once

#include "cases.hpp"

namespace crowd::test {

/// Host arrays, each as long as the call needs it.
struct Gathered {
  std::vector<CrowdNmsBox> boxes;
  std::vector<float> scores;
  std::vector<std::int32_t> classes;
  std::vector<std::uint32_t> members, counts, candidates;
  std::vector<CrowdNmsReport> reports;
  CrowdNmsTotals totals{}, totals_copy{};

  explicit Gathered(const Batch& batch, const Wanted& wanted);
};

/// Gathers `found`, which are the results of the oracle for a case, twice into the same totals.
using Gather = std::function<void(const Case& it, const Result& found, Gathered& out)>;

/// On ragged batches, with survivors clipped and not.
void expect_gathers(const Gather& gather);

}  // namespace crowd::test
