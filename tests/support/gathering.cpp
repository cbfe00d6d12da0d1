// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gathering.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "rule_cases.hpp"

namespace crowd::test {

namespace {

constexpr std::uint32_t untouched = 0xdeadbeef;

std::size_t start_of(const Batch& batch, std::uint32_t frame) {
  return batch.offsets.empty() ? std::size_t{frame} * batch.capacity : batch.offsets[frame];
}

void add(CrowdNmsTotals& totals, const CrowdNmsReport& report) {
  totals.frames++;
  totals.candidates += report.candidates;
  totals.overflow += report.overflow;
  totals.invalid += report.invalid;
  totals.below_threshold += report.below_threshold;
  totals.survivors += report.survivors;
  totals.clipped += report.clipped;
  totals.last = report;
}

Gathered expected_of(const Case& it, const Result& found, bool with_totals = true) {
  Gathered expected(it.batch, it.wanted, with_totals);
  for (int twice = 0; twice < 2 && with_totals; ++twice)
    for (std::uint32_t f = 0; f < it.batch.frames; ++f)
      add(expected.totals, found.reports[f]);
  expected.totals_copy = expected.totals;
  expected.reports = found.reports;
  for (std::uint32_t f = 0; f < it.batch.frames; ++f) {
    const CrowdNmsReport& report = found.reports[f];
    expected.counts[f] = report.survivors - report.clipped;
    expected.candidates[f] = report.candidates;
    for (std::uint32_t rank = 0; rank < expected.counts[f]; ++rank) {
      const std::size_t at = std::size_t{f} * it.wanted.max_survivors + rank;
      const std::size_t from = start_of(it.batch, f) + found.survivors[at];
      expected.boxes[at] = found.boxes.empty() ? it.batch.all.boxes[from] : found.boxes[at];
      expected.scores[at] = found.scores.empty() ? it.batch.all.scores[from] : found.scores[at];
      expected.classes[at] = it.batch.with_classes ? it.batch.all.classes[from] : 0;
      if (it.wanted.members)
        expected.members[at] = found.members[at];
    }
  }
  return expected;
}

template <typename T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

void expect_same(const Gathered& expected, const Gathered& got, const std::string& name) {
  EXPECT_TRUE(same_bytes(expected.boxes, got.boxes)) << name;
  EXPECT_TRUE(same_bytes(expected.scores, got.scores)) << name;
  EXPECT_EQ(expected.classes, got.classes) << name;
  EXPECT_EQ(expected.members, got.members) << name;
  EXPECT_EQ(expected.counts, got.counts) << name;
  EXPECT_EQ(expected.candidates, got.candidates) << name;
  EXPECT_TRUE(same_bytes(expected.reports, got.reports)) << name;
  EXPECT_EQ(std::memcmp(&expected.totals, &got.totals, sizeof got.totals), 0) << name;
  EXPECT_EQ(std::memcmp(&expected.totals, &got.totals_copy, sizeof got.totals), 0) << name;
}

}  // namespace

Gathered::Gathered(const Batch& batch, const Wanted& wanted, bool totals_too) : with_totals(totals_too) {
  const std::size_t room = std::size_t{batch.frames} * wanted.max_survivors;
  boxes.assign(room, {-1, -2, -3, -4});
  scores.assign(room, -5);
  classes.assign(room, static_cast<std::int32_t>(untouched));
  members.assign(wanted.members ? room : 0, untouched);
  counts.assign(batch.frames, untouched);
  candidates.assign(batch.frames, untouched);
  reports.assign(batch.frames, {});
}

CrowdNmsGathered Gathered::arrays() {
  return {boxes.data(),
          scores.data(),
          classes.data(),
          members.empty() ? nullptr : members.data(),
          counts.data(),
          candidates.data(),
          reports.data(),
          with_totals ? &totals : nullptr,
          with_totals ? &totals_copy : nullptr,
          {}};
}

void expect_gathers(const Gather& gather) {
  std::size_t survivors = 0, clipped = 0;
  for_each_batch(CROWD_NMS_GREEDY, [&](const Case& original) {
    for (const std::uint32_t room : {original.wanted.max_survivors, 3u}) {
      Case it = original;
      it.params.merge = CROWD_NMS_MERGE_WEIGHTED;
      it.params.cluster_score = CROWD_NMS_CLUSTER_SCORE_SUM;
      it.wanted = {room, true, false, room % 2 == 1, room % 2 == 1};
      const Result found = run_oracle(it.params, it.batch, it.wanted);
      Gathered got(it.batch, it.wanted);
      gather(it, found, got);
      expect_same(expected_of(it, found), got, it.name);
      survivors += got.totals.survivors;
      clipped += got.totals.clipped;
    }
  });
  EXPECT_GT(survivors, 0u);
  EXPECT_GT(clipped, 0u);
}

namespace {

void expect_one(const Case& it, const CallAndGather& run) {
  const Result expected = run_oracle(it.params, it.batch, it.wanted);
  for (const bool with_totals : {true, false}) {
    Result found = Result::sized(it.batch, it.wanted);
    Gathered got(it.batch, it.wanted, with_totals);
    run(it, found, got);
    EXPECT_TRUE(same(expected, found, it.batch, it.wanted)) << it.name;
    expect_same(expected_of(it, expected, with_totals), got, it.name + (with_totals ? ", totals" : ""));
  }
}

// A frame of `n` in a call of that capacity, whose survivors are clipped if that is odd.
Case frame_of(const Distribution& from, std::uint32_t n, std::uint32_t capacity, CrowdNmsMethod method) {
  Case it{std::string(from.name) + ' ' + std::to_string(n) + " of " + std::to_string(capacity),
          default_params(),
          Batch::of(from.make(capacity, n)),
          {capacity % 2 ? 7 : capacity, n % 2 == 0, false}};
  it.params.method = method;
  if (n < capacity)
    it.batch.counts = {n};
  return it;
}

}  // namespace

void expect_calls_and_gathers(const CallAndGather& run) {
  struct Size {
    std::uint32_t n, capacity;
  };
  constexpr Size sizes[] = {{0, 0},     {0, 9},      {1, 1},      {60, 60},    {61, 256},    {256, 256},
                            {257, 257}, {61, 2001},  {256, 1001}, {257, 1001}, {900, 1000},  {1999, 2000},
                            {60, 4096}, {256, 4096}, {257, 4095}, {300, 3001}, {4096, 4096}, {4200, 4201}};
  for (const CrowdNmsMethod method : {CROWD_NMS_GREEDY, CROWD_NMS_MAP_REDUCE}) {
    for (const Size& size : sizes)
      expect_one(frame_of(distribution(size.capacity % 3 ? "dense" : "odd_scores"), size.n, size.capacity, method),
                 run);
    constexpr std::uint32_t ruled_sizes[] = {100, 300};
    for_each_ruled_case(ruled_sizes, method, 1, [&](const Case& original) {
      Case it = original;
      it.wanted.members = true;
      expect_one(it, run);
    });
    for_each_batch(method, [&](const Case& original) {
      Case it = original;
      it.params.merge = CROWD_NMS_MERGE_WEIGHTED;
      it.wanted.boxes = it.wanted.scores = it.batch.frames % 2 == 1;
      it.params.min_members = it.batch.frames % 4 == 2 ? 2 : 0;
      expect_one(it, run);
    });
  }
}

}  // namespace crowd::test
