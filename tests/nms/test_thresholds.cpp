// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The overlap threshold is a double that float ratios are compared with: where a ratio is a tenth, the last bit
// decides.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/paper_rule.hpp"
#include "core/rules.hpp"
#include "exact_ratios.hpp"

namespace crowd::test {
namespace {

/// The survivors of a box of 10 x 1 and, in it, one of `part` x 1 at `threshold`.
std::uint32_t survivors(float part, double threshold, CrowdNmsComparator comparator) {
  Boxes set;
  set.add({0, 0, 10, 1}, 0.9f);
  set.add({0, 0, part, 1}, 0.8f);
  CrowdNmsParams params = default_params();
  params.overlap_threshold = threshold;
  params.comparator = comparator;
  return run_cpu(params, Batch::of(set), {.max_survivors = 2}).reports[0].survivors;
}

struct Answer {
  double threshold;
  float part;  ///< ratio of the two boxes, in tenths
  std::uint32_t greater, greater_equal;
};

// torchvision.ops.nms(boxes, scores, threshold) on the CPU keeps `greater` boxes. It has no other comparator: what is
// one box more or less with >= is the ratio that is the threshold to the last bit.
constexpr Answer answers[] = {
    {0.1, 1, 1, 1},
    {0.2, 2, 1, 1},
    {0.3, 3, 1, 1},
    {0.4, 4, 1, 1},
    {0.5, 5, 2, 1},
    {0.6, 6, 1, 1},
    {0.7, 7, 2, 2},
    {0.8, 8, 1, 1},
    {0.9, 9, 2, 2},
    // The threshold that a float has: no double is between it and the ratio.
    {double{0.3f}, 3, 2, 1},
    {double{0.7f}, 7, 2, 1},
    {0.25, 2.5f, 2, 1},
    {0.75, 7.5f, 2, 1},
    // At the ends, where nothing is rounded.
    {0.0, 0.5f, 1, 1},
    {1.0, 10, 2, 1},
    // The next double to either side.
    {0.49999999999999994, 5, 1, 1},
    {0.5000000000000001, 5, 2, 2},
};

TEST(Threshold, gives_the_answers_of_torchvision) {
  for (const Answer& it : answers) {
    EXPECT_EQ(survivors(it.part, it.threshold, CROWD_NMS_GREATER), it.greater) << it.part << " > " << it.threshold;
    EXPECT_EQ(survivors(it.part, it.threshold, CROWD_NMS_GREATER_EQUAL), it.greater_equal)
        << it.part << " >= " << it.threshold;
  }
}

class Threshold : public testing::TestWithParam<CrowdNmsMethod> {};

TEST_P(Threshold, of_the_cpu_is_that_of_the_oracle_at_exact_ratios) {
  for_each_exact_ratio(GetParam(), [](const Case& it) { expect_as_oracle(run_cpu, it); });
}

TEST_P(Threshold, of_the_cpu_is_that_of_the_oracle_beside_exact_ratios) {
  for_each_near_ratio(GetParam(), [](const Case& it) { expect_as_oracle(run_cpu, it); });
}

INSTANTIATE_TEST_SUITE_P(Method, Threshold, testing::ValuesIn(methods_of(CROWD_NMS_BACKEND_CPU)),
                         [](const auto& info) { return test_name(info.param); });

TEST(Threshold, as_a_float_compares_as_the_double_does) {
  Dice dice(3);
  CrowdNmsParams greater = default_params(), greater_equal = default_params();
  greater_equal.comparator = CROWD_NMS_GREATER_EQUAL;
  for (int i = 0; i < 100000; ++i) {
    // All magnitudes, subnormal floats and doubles that no float reaches included.
    const double threshold =
        std::ldexp(static_cast<double>(dice.bits() >> 11), -53 - static_cast<int>(dice.below(180)));
    for (CrowdNmsParams* params : {&greater, &greater_equal})
      params->overlap_threshold = threshold;
    const float nearest = static_cast<float>(threshold);
    for (const float ratio : {nearest, std::nextafter(nearest, 2.0f), std::nextafter(nearest, -1.0f), 0.0f, 1.0f}) {
      const double exact = ratio;
      ASSERT_EQ(ratio > overlap_rule(greater).threshold, exact > threshold) << ratio << " > " << threshold;
      ASSERT_EQ(ratio >= overlap_rule(greater_equal).threshold, exact >= threshold) << ratio << " >= " << threshold;
      ASSERT_EQ(ratio < paper_threshold(greater), exact < threshold) << ratio << " < " << threshold;
    }
  }
}

}  // namespace
}  // namespace crowd::test
