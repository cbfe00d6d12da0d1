// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What crowd_nms_cuda_gather() and crowd_nms_cuda_and_gather() have to make of a call's results.
#pragma once

#include "cases.hpp"

namespace crowd::test {

/// Host arrays, each as long as the call needs it; empty where it is not asked for.
struct Gathered {
  std::vector<CrowdNmsBox> boxes;
  std::vector<float> scores;
  std::vector<std::int32_t> classes;
  std::vector<std::uint32_t> members, counts, candidates;
  std::vector<CrowdNmsReport> reports;
  bool with_totals;
  CrowdNmsTotals totals{}, totals_copy{};

  explicit Gathered(const Batch& batch, const Wanted& wanted, bool with_totals = true);
  /// On these arrays.
  CrowdNmsGathered arrays();
};

/// Gathers `found`, which are the results of the oracle for a case, twice into the same totals.
using Gather = std::function<void(const Case& it, const Result& found, Gathered& out)>;

/// On ragged batches, with survivors clipped and not.
void expect_gathers(const Gather& gather);

/// Finds survivors and gathers them, both twice, into the same totals.
using CallAndGather = std::function<void(const Case& it, Result& found, Gathered& out)>;

/// On frames of all sizes, full and not, and on ragged batches, merged and not, with totals and without: survivors are
/// the oracle's, and what is gathered is what expect_gathers() expects.
void expect_calls_and_gathers(const CallAndGather& run);

}  // namespace crowd::test
