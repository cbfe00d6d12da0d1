// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// NMS as a textbook has it: crowd/nms.h word by word, in O(n^2), sharing nothing with the backends but that header.
// And what it takes to hold a backend against it: a batch, a way to run it, a comparison.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "boxes.hpp"
#include "crowd/nms.h"
#include "tables.hpp"

namespace crowd::test {

/// What rules and methods read of candidates, an entry each; empty: NULL in the call.
struct Extras {
  std::vector<float> densities{};
  std::vector<std::uint32_t> proposals{};
  std::vector<std::uint32_t> models{};
  std::vector<CrowdNmsBox> visible{};
  std::vector<float> features{};
  std::uint32_t feature_length = 0;
};

/// The input of one call. Frames may lie anywhere in the arrays, in any order, with gaps.
struct Batch {
  Boxes all;
  std::vector<std::uint32_t> offsets;  ///< empty: NULL in the call
  std::vector<std::uint32_t> counts;   ///< empty: NULL in the call
  std::uint32_t frames = 1;
  std::uint32_t capacity = 0;
  bool with_classes = true;  ///< false: NULL in the call
  Extras extras{};

  /// One frame; count and capacity are the set's size.
  static Batch of(Boxes set);

  /// Points into this batch.
  CrowdNmsCandidates candidates() const;
};

/// Which outputs a call asks for.
struct Wanted {
  std::uint32_t max_survivors = 0;
  bool members = true;
  bool representatives = true;
  bool boxes = false;
  bool scores = false;
};

/// The outputs of one call. Entries that a call must not write hold `untouched`; arrays that are not asked for are
/// empty.
struct Result {
  static constexpr std::uint32_t untouched = 0xdeadbeef;

  CrowdNmsStatus status = CROWD_NMS_OK;
  std::vector<std::uint32_t> survivors;
  std::vector<std::uint32_t> members;
  std::vector<std::uint32_t> representatives;
  std::vector<CrowdNmsBox> boxes;  ///< of `untouched` bits
  std::vector<float> scores;       ///< of `untouched` bits
  std::vector<CrowdNmsReport> reports;

  /// With every array as long as the call needs it, filled with `untouched`.
  static Result sized(const Batch& batch, const Wanted& wanted);

  /// Points into this result; NULL where an array is empty.
  CrowdNmsSurvivors outputs(const Wanted& wanted);
};

/// A backend under test.
using Runner = std::function<Result(const CrowdNmsParams&, const Batch&, const Wanted&)>;

/// The oracle is one too. Expects legal arguments; paper: D_max up to 8192.
Result run_oracle(const CrowdNmsParams& params, const Batch& batch, const Wanted& wanted);

/// Whether calls are refused for want of an array that the rule or the method reads.
bool lacks_array(const CrowdNmsParams& params, const Extras& extras);

/// crowd_nms_cpu() with a workspace of exactly the size it asks for, full of garbage, between canaries.
Result run_cpu(const CrowdNmsParams& params, const Batch& batch, const Wanted& wanted);

/// Same bits everywhere; otherwise the first difference, with the box it is about.
testing::AssertionResult same(const Result& expected, const Result& actual, const Batch& batch, const Wanted& wanted);

/// The defaults.
CrowdNmsParams default_params();

}  // namespace crowd::test

bool operator==(const CrowdNmsReport& a, const CrowdNmsReport& b);
std::ostream& operator<<(std::ostream& out, const CrowdNmsReport& report);
std::ostream& operator<<(std::ostream& out, const CrowdNmsBox& box);
std::ostream& operator<<(std::ostream& out, const CrowdNmsParams& params);
