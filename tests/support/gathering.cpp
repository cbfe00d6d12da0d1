// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gathering.hpp"

#include <gtest/gtest.h>

#include <cstring>

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

Gathered expected_of(const Case& it, const Result& found) {
  Gathered expected(it.batch, it.wanted);
  for (int twice = 0; twice < 2; ++twice)
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

Gathered::Gathered(const Batch& batch, const Wanted& wanted) {
  const std::size_t room = std::size_t{batch.frames} * wanted.max_survivors;
  boxes.assign(room, {-1, -2, -3, -4});
  scores.assign(room, -5);
  classes.assign(room, static_cast<std::int32_t>(untouched));
  members.assign(room, untouched);
  counts.assign(batch.frames, untouched);
  candidates.assign(batch.frames, untouched);
  reports.assign(batch.frames, {});
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

}  // namespace crowd::test
