// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CPU backend against the oracle: every distribution, size, method, metric, comparator and option.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "cases.hpp"
#include "quick.hpp"
#include "rule_cases.hpp"

namespace crowd::test {
namespace {

std::size_t large_cases() {
  return is_quick() ? 2 : std::numeric_limits<std::size_t>::max();
}
/// 0: all.
std::uint32_t per_size() {
  return is_quick() ? 1 : 0;
}

class CpuAgainstOracle : public testing::TestWithParam<CrowdNmsMethod> {
 protected:
  // The oracle looks at all pairs again for each survivor.
  static bool is_slow() {
    return crowd_nms_method_info(GetParam())->changes_scores || crowd_nms_method_info(GetParam())->changes_boxes;
  }
  void run(std::span<const std::uint32_t> sizes, std::uint32_t of_a_size) {
    for_each_case(sizes, GetParam(), of_a_size, [](const Case& it) { expect_as_oracle(run_cpu, merging(it)); });
  }
};

TEST_P(CpuAgainstOracle, agrees_on_small_frames) {
  run(small_sizes, per_size());
}

TEST_P(CpuAgainstOracle, agrees_on_medium_frames) {
  run(medium_sizes, is_slow() && !is_quick() ? 2 : per_size());
}

// Up to 384 candidates no tree, from then on one.
TEST_P(CpuAgainstOracle, agrees_around_the_crossover) {
  constexpr std::uint32_t sizes[] = {383, 384, 385, 511, 512, 513};
  run(sizes, is_quick() ? 1 : 4);
}

TEST_P(CpuAgainstOracle, agrees_on_large_frames) {
  std::size_t ran = 0;
  const std::size_t limit = is_slow() ? std::min<std::size_t>(large_cases(), 4) : large_cases();
  for_each_case(large_sizes, GetParam(), 1, [&](const Case& it) {
    if (ran++ < limit)
      expect_as_oracle(run_cpu, merging(it));
  });
}

TEST_P(CpuAgainstOracle, agrees_on_huge_frames) {
  std::size_t ran = 0;
  if (!reads(GetParam(), CROWD_NMS_READS_D_MAX) && !is_slow())
    for_each_huge_case(GetParam(), [&ran](const Case& it) {
      if (ran++ < large_cases())
        expect_as_oracle(run_cpu, merging(it));
    });
}

TEST_P(CpuAgainstOracle, agrees_on_hard_frames) {
  std::size_t ran = 0;
  if (reads(GetParam(), CROWD_NMS_READS_D_MAX))
    GTEST_SKIP() << "looks at all pairs";
  for_each_hard_case(GetParam(), [&](const Case& it) {
    // Eleven, so that each comes with other metrics and thresholds.
    const bool taken = !is_slow() || ran % 11 == 0;
    if (ran++ < large_cases() && taken)
      expect_as_oracle(run_cpu, merging(it));
  });
}

TEST_P(CpuAgainstOracle, agrees_with_rules) {
  const auto agrees = [](const Case& it) { expect_as_oracle(run_cpu, merging(it)); };
  for_each_ruled_case(small_sizes, GetParam(), per_size(), agrees);
  for_each_ruled_case(medium_sizes, GetParam(), is_slow() || is_quick() ? 1 : 5, agrees);
  constexpr std::uint32_t around_the_crossover[] = {383, 385, 512};
  for_each_ruled_case(around_the_crossover, GetParam(), is_quick() ? 1 : 5, agrees);
  for_each_ruled_batch(GetParam(), agrees);
}

TEST_P(CpuAgainstOracle, agrees_on_ragged_batches) {
  for_each_batch(GetParam(), [](const Case& it) { expect_as_oracle(run_cpu, merging(it)); });
  expect_as_oracle(run_cpu, merging(sorted_crowds(GetParam())));
}

TEST(CpuWbf, agrees_where_fused_boxes_reach_over_corners) {
  for_each_case_of_corners([](const Case& it) { expect_as_oracle(run_cpu, it); });
}

INSTANTIATE_TEST_SUITE_P(Method, CpuAgainstOracle, testing::ValuesIn(methods_of(CROWD_NMS_BACKEND_CPU)),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace crowd::test
