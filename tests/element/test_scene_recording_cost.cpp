// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What it takes to read recordings. Processor time is compared with that of as many ordinary bytes, so that neither a
// busy machine nor a sanitizer matters.

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <limits>

#include "memory_limit.hpp"
#include "recording_cases.hpp"

namespace {

using namespace crowd::scene;

double seconds_of(const std::string& text) {
  double best = std::numeric_limits<double>::max();
  for (int run = 0; run < 3; run++) {
    const std::clock_t start = std::clock();
    const Parsed parsed = parse(text);
    best = std::min(best, double(std::clock() - start) / CLOCKS_PER_SEC);
    EXPECT_TRUE(parsed.recording) << parsed.failure.message;
  }
  return best;
}

std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; i++)
    result += text;
  return result;
}

TEST(recording_cost, repeated_members_cost_what_others_cost) {
  constexpr int n = 10'000;
  std::string distinct = "{\"objects\":[]", same;
  for (int i = 0; i < n; i++)
    distinct += ",\"" + std::to_string(100'000 + i) + "\":0";
  same = distinct;
  for (int i = 0; i < n; i++) {
    distinct += ",\"" + std::to_string(200'000 + i) + "\":0";
    same += ",\"" + std::to_string(100'000 + n - 1) + "\":0";
  }
  ASSERT_EQ(distinct.size(), same.size());
  EXPECT_LT(seconds_of(same + "}"), 10 * seconds_of(distinct + "}") + .1);
}

TEST(recording_cost, a_rejected_line_costs_what_it_has_bytes) {
  const std::string refused_after = R"("label":"x"},{"box":[0,0,1,1],"label":"y"}]})";
  const auto lines = [&](const std::string& object_class, const std::string& end) {
    return "{\"objects\":[]}\n" +
           repeated("{\"objects\":[{\"box\":[0,0,1,1],\"class\":" + object_class + "," + refused_after + end + "\n",
                    5'000);
  };
  ASSERT_EQ(parse(lines("65535", "")).recording->skipped_lines(), 5'000u);
  ASSERT_EQ(parse(lines("1", "}")).recording->skipped_lines(), 5'000u);
  EXPECT_LT(seconds_of(lines("65535", "")), 10 * seconds_of(lines("1", "}")) + .1);
}

TEST(recording_cost, a_long_line_takes_a_small_multiple_of_its_memory) {
  if (!crowd::test::MemoryLimit::limits_work)
    GTEST_SKIP() << "a sanitizer";
  constexpr int objects = 500'000;
  const std::string line = "{\"objects\":[" + repeated("{\"box\":[0,0,1,1]},", objects) + "{\"box\":[0,0,1,1]}]}\n";
  std::size_t size = 0;
  {
    const crowd::test::MemoryLimit limit(16 * line.size());
    const Parsed parsed = parse(line, true);
    size = parsed.recording ? parsed.recording->size() : 0;
  }
  EXPECT_EQ(size, objects + 1u);
}

}  // namespace
