// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowd/nms.h, sentence by sentence, with answers worked out by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstring>
#include <limits>
#include <vector>

#include "cases.hpp"

namespace crowd::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr std::uint32_t none = CROWD_NMS_NONE, rejected = CROWD_NMS_REJECTED;

CrowdNmsParams with(CrowdNmsMethod method, float threshold = 0.5f) {
  CrowdNmsParams params = default_params();
  params.method = method;
  params.overlap_threshold = threshold;
  return params;
}

Result run(const CrowdNmsParams& params, const Boxes& set) {
  Result result = run_cpu(params, Batch::of(set), {.max_survivors = set.size()});
  EXPECT_EQ(result.status, CROWD_NMS_OK) << crowd_nms_last_error();
  const std::uint32_t found = result.reports[0].survivors;
  result.survivors.resize(found);
  result.members.resize(found);
  return result;
}

Boxes boxes(std::initializer_list<CrowdNmsBox> boxes, std::initializer_list<float> scores) {
  Boxes set;
  for (const CrowdNmsBox& box : boxes)
    set.add(box, *(scores.begin() + set.size()), 3);
  return set;
}

// A suppresses B, B suppresses C; A and C do not overlap.
Boxes three_in_a_row() {
  return boxes({{28, 0, 52, 10}, {14, 0, 38, 10}, {0, 0, 24, 10}}, {0.7f, 0.8f, 0.9f});
}

TEST(Greedy, keeps_both_ends_of_three_in_a_row) {
  const Result result = run(with(CROWD_NMS_GREEDY, 0.2f), three_in_a_row());
  EXPECT_THAT(result.survivors, ElementsAre(2, 0));
  EXPECT_THAT(result.members, ElementsAre(2, 1));
  EXPECT_THAT(result.representatives, ElementsAre(0, 2, 2));
}

TEST(MapReduce, keeps_the_best_of_three_in_a_row) {
  const Result result = run(with(CROWD_NMS_MAP_REDUCE, 0.2f), three_in_a_row());
  EXPECT_THAT(result.survivors, ElementsAre(2));
  EXPECT_THAT(result.members, ElementsAre(2));
  EXPECT_THAT(result.representatives, ElementsAre(none, 2, 2));
}

TEST(Paper, keeps_the_best_of_three_in_a_row) {
  const Result result = run(with(CROWD_NMS_PAPER, 0.2f), three_in_a_row());
  EXPECT_THAT(result.survivors, ElementsAre(2));
  EXPECT_THAT(result.representatives, ElementsAre(none, 2, 2));
}

TEST(MapReduce, takes_only_a_better_ranked_representative) {
  // The one in the middle suppresses the big one. The small one survives and lies in the big one, but is worse-ranked.
  CrowdNmsParams params = with(CROWD_NMS_MAP_REDUCE, 0.5f);
  params.metric = CROWD_NMS_OVER_HIGHER;
  const Boxes set = boxes({{0, 0, 40, 40}, {0, 0, 39, 40}, {30, 30, 48, 36}}, {0.8f, 0.9f, 0.7f});
  const Result result = run(params, set);
  EXPECT_THAT(result.survivors, ElementsAre(1, 2));
  EXPECT_THAT(result.representatives, ElementsAre(1, 1, 2));
}

TEST(Rank, of_equal_scores_is_by_index) {
  const Boxes set = boxes({{0, 0, 10, 5}, {1, 0, 11, 5}, {0, 0, 10, 5}}, {0.5f, 0.5f, 0.5f});
  for (const CrowdNmsMethod method : {CROWD_NMS_GREEDY, CROWD_NMS_MAP_REDUCE}) {
    const Result result = run(with(method), set);
    EXPECT_THAT(result.survivors, ElementsAre(0));
    EXPECT_THAT(result.members, ElementsAre(3));
  }
  EXPECT_THAT(run(with(CROWD_NMS_PAPER), set).survivors, ElementsAre(0, 1, 2)) << "equal scores: all survive";
}

TEST(Rank, does_not_tell_the_zeros_apart) {
  const Boxes set = boxes({{0, 0, 10, 5}, {90, 0, 99, 5}, {0, 0, 10, 5}}, {-0.0f, 0.0f, 0.0f});
  EXPECT_THAT(run(with(CROWD_NMS_GREEDY), set).survivors, ElementsAre(0, 1));
}

TEST(Rank, takes_infinite_scores_as_scores) {
  const Boxes set = boxes({{0, 0, 9, 5}, {50, 0, 59, 5}, {90, 0, 99, 5}}, {-inf, inf, 1});
  const Result result = run(with(CROWD_NMS_GREEDY), set);
  EXPECT_THAT(result.survivors, ElementsAre(1, 2, 0));
  EXPECT_EQ(result.reports[0].invalid, 0u);
}

TEST(Overlap, on_the_threshold_depends_on_the_comparator) {
  const Boxes set = boxes({{0, 0, 10, 8}, {0, 0, 10, 4}}, {0.9f, 0.8f});
  CrowdNmsParams params = with(CROWD_NMS_GREEDY, 0.5f);
  EXPECT_THAT(run(params, set).survivors, ElementsAre(0, 1));
  params.comparator = CROWD_NMS_GREATER_EQUAL;
  EXPECT_THAT(run(params, set).survivors, ElementsAre(0));
}

TEST(Overlap, from_zero_on_reaches_boxes_apart) {
  CrowdNmsParams params = with(CROWD_NMS_GREEDY, 0);
  params.comparator = CROWD_NMS_GREATER_EQUAL;
  const Result result = run(params, distribution("disjoint_grid").make(500, 3));
  EXPECT_EQ(result.reports[0].survivors, 3u) << "one of each class";
  params.class_agnostic = 1;
  EXPECT_EQ(run(params, distribution("disjoint_grid").make(500, 3)).reports[0].survivors, 1u);
}

TEST(Overlap, of_a_small_box_in_a_big_one_is_the_metrics_matter) {
  // A small box in a big one, once better-ranked and once worse-ranked.
  const CrowdNmsBox big = {0, 0, 100, 40}, small = {10, 10, 20, 15};
  const auto kept = [&](CrowdNmsMetric metric, bool small_first) {
    CrowdNmsParams params = with(CROWD_NMS_GREEDY);
    params.metric = metric;
    return run(params, boxes({big, small}, {0.5f, small_first ? 0.9f : 0.1f})).survivors.size();
  };
  EXPECT_EQ(kept(CROWD_NMS_IOU, true), 2u);
  EXPECT_EQ(kept(CROWD_NMS_IOU, false), 2u);
  EXPECT_EQ(kept(CROWD_NMS_IOS, true), 1u);
  EXPECT_EQ(kept(CROWD_NMS_IOS, false), 1u);
  EXPECT_EQ(kept(CROWD_NMS_OVER_HIGHER, true), 1u);
  EXPECT_EQ(kept(CROWD_NMS_OVER_HIGHER, false), 2u);
  EXPECT_EQ(kept(CROWD_NMS_OVER_LOWER, true), 2u);
  EXPECT_EQ(kept(CROWD_NMS_OVER_LOWER, false), 1u);
}

TEST(PixelOffset, of_one_includes_the_last_pixel) {
  CrowdNmsParams params = with(CROWD_NMS_GREEDY, 0);
  const Boxes touching = boxes({{0, 0, 10, 8}, {10, 0, 20, 8}}, {0.9f, 0.8f});
  EXPECT_THAT(run(params, touching).survivors, ElementsAre(0, 1));
  params.pixel_offset = 1;
  EXPECT_THAT(run(params, touching).survivors, ElementsAre(0));
  const Boxes pixel = boxes({{5, 7, 5, 7}}, {0.9f});
  EXPECT_THAT(run(params, pixel).survivors, ElementsAre(0));
  params.pixel_offset = 0;
  EXPECT_THAT(run(params, pixel).survivors, IsEmpty());
}

TEST(Validity, keeps_bad_boxes_out_and_counts_them) {
  const Boxes set = boxes({{0, 0, nan, 10}, {0, 0, inf, 10}, {9, 0, 0, 10}, {0, 0, 0, 10}, {0, 0, 9, 10}, {0, 0, 9, 9}},
                          {1, 1, 1, 1, nan, 0.5f});
  const Result result = run(with(CROWD_NMS_GREEDY), set);
  EXPECT_THAT(result.survivors, ElementsAre(5));
  EXPECT_THAT(result.representatives, ElementsAre(rejected, rejected, rejected, rejected, rejected, 5));
  EXPECT_EQ(result.reports[0], (CrowdNmsReport{6, 0, 5, 0, 1, 0}));
}

TEST(ScoreThreshold, is_inclusive_and_counts_what_is_below) {
  const Boxes set = boxes({{0, 0, 9, 5}, {20, 0, 29, 5}, {40, 0, 49, 5}, {60, 0, 60, 5}}, {0.25f, 0.24f, -inf, 0.1f});
  CrowdNmsParams params = with(CROWD_NMS_GREEDY);
  params.score_threshold = 0.25f;
  const Result result = run(params, set);
  EXPECT_THAT(result.survivors, ElementsAre(0));
  EXPECT_THAT(result.representatives, ElementsAre(0, rejected, rejected, rejected));
  EXPECT_EQ(result.reports[0], (CrowdNmsReport{4, 0, 1, 2, 1, 0})) << "an empty box is invalid, whatever its score";
}

TEST(Classes, do_not_meet_unless_agnostic) {
  Boxes set = boxes({{0, 0, 10, 5}, {0, 0, 10, 5}, {0, 0, 10, 5}}, {0.9f, 0.8f, 0.7f});
  set.classes = {-1, 5, -1};
  CrowdNmsParams params = with(CROWD_NMS_GREEDY);
  EXPECT_THAT(run(params, set).survivors, ElementsAre(0, 1));
  EXPECT_THAT(run(params, set).representatives, ElementsAre(0, 1, 0));
  params.class_agnostic = 1;
  EXPECT_THAT(run(params, set).survivors, ElementsAre(0));
  Batch batch = Batch::of(set);
  batch.with_classes = false;
  params.class_agnostic = 0;
  EXPECT_EQ(run_cpu(params, batch, {.max_survivors = 3}).reports[0].survivors, 1u) << "NULL: all of one class";
}

TEST(Paper, lets_an_empty_box_wipe_the_frame) {
  const Boxes set = boxes({{0, 0, 9, 5}, {40, 0, 49, 5}, {70, 70, 70, 71}}, {0.5f, 0.6f, 0.9f});
  const Result result = run(with(CROWD_NMS_PAPER), set);
  EXPECT_THAT(result.survivors, ElementsAre(2));
  EXPECT_THAT(result.representatives, ElementsAre(2, 2, 2));
  EXPECT_EQ(result.reports[0].invalid, 0u);
}

TEST(Paper, loses_negative_scores_unless_the_frame_is_full) {
  const Boxes set = boxes({{0, 0, 9, 5}, {40, 0, 49, 5}}, {-0.5f, 0.5f});
  CrowdNmsParams params = with(CROWD_NMS_PAPER);
  params.paper_k = 2;
  params.paper_d_max = 4;
  EXPECT_THAT(run(params, set).survivors, ElementsAre(1));
  EXPECT_THAT(run(params, set).representatives, ElementsAre(none, 1)) << "an unused slot represents no candidate";
  params.paper_d_max = 2;
  EXPECT_THAT(run(params, set).survivors, ElementsAre(1, 0));
}

TEST(Paper, counts_what_does_not_fit_d_max) {
  const Boxes set = distribution("disjoint_grid").make(10, 1);
  CrowdNmsParams params = with(CROWD_NMS_PAPER);
  params.paper_k = 2;
  params.paper_d_max = 6;
  const Result result = run_cpu(params, Batch::of(set), {.max_survivors = 10});
  EXPECT_EQ(result.reports[0].overflow, 4u);
  EXPECT_THAT(result.representatives, ElementsAre(0, 1, 2, 3, 4, 5, rejected, rejected, rejected, rejected));
}

TEST(Paper, leaves_representatives_past_the_count_as_they_were) {
  CrowdNmsParams params = with(CROWD_NMS_PAPER);
  params.paper_k = 2;
  params.paper_d_max = 2;
  Batch batch = Batch::of(distribution("disjoint_grid").make(5, 1));
  batch.counts = {3};
  const Result result = run_cpu(params, batch, {.max_survivors = 5});
  EXPECT_THAT(result.representatives, ElementsAre(0, 1, rejected, Result::untouched, Result::untouched));
}

// Of Algorithm 1's min and max the first argument, box i's, is passed on if it is NaN; the second is passed over.
TEST(Paper, goes_by_the_order_of_arguments_where_a_coordinate_is_nan) {
  const auto kept = [](const CrowdNmsBox& higher, const CrowdNmsBox& lower) {
    return run(with(CROWD_NMS_PAPER, 0.3f), boxes({higher, lower}, {0.9f, 0.5f})).survivors.size();
  };
  const CrowdNmsBox whole = {0, 0, 9, 9};
  EXPECT_EQ(kept(whole, {0, 0, nan, 9}), 2u) << "nothing in common";
  EXPECT_EQ(kept(whole, {nan, 0, 9, 9}), 2u);
  EXPECT_EQ(kept(whole, {0, 0, 9, nan}), 2u);
  EXPECT_EQ(kept({0, 0, nan, 9}, whole), 1u) << "its area is NaN, and so the ratio, which is not below the threshold";
  EXPECT_EQ(kept({0, 0, nan, 9}, {90, 90, 99, 99}), 1u);
  EXPECT_EQ(kept({inf, 0, inf, 9}, {90, 90, 99, 99}), 1u) << "its width is NaN: not 0, but its area is NaN too";
}

TEST(Output, overflow_is_counted_and_not_looked_at) {
  Batch batch = Batch::of(distribution("disjoint_grid").make(9, 1));
  batch.capacity = 4;
  batch.counts = {9};
  const Result result = run_cpu(default_params(), batch, {.max_survivors = 4});
  EXPECT_EQ(result.reports[0], (CrowdNmsReport{9, 5, 0, 0, 4, 0}));
  for (const std::uint32_t survivor : result.survivors)
    EXPECT_LT(survivor, 4u);
}

TEST(Output, clipping_keeps_the_best_and_representatives_may_be_clipped) {
  Boxes set = boxes({{0, 0, 9, 5}, {0, 0, 9, 5}, {40, 0, 49, 5}}, {0.2f, 0.1f, 0.9f});
  const Result result = run_cpu(default_params(), Batch::of(set), {.max_survivors = 1});
  EXPECT_THAT(result.survivors, ElementsAre(2));
  EXPECT_THAT(result.members, ElementsAre(1));
  EXPECT_THAT(result.representatives, ElementsAre(0, 0, 2));
  EXPECT_EQ(result.reports[0], (CrowdNmsReport{3, 0, 0, 0, 2, 1}));
}

TEST(Output, may_be_nothing_but_reports) {
  const Batch batch = Batch::of(distribution("disjoint_grid").make(100, 1));
  const Result result =
      run_cpu(default_params(), batch, {.max_survivors = 0, .members = false, .representatives = false});
  EXPECT_EQ(result.status, CROWD_NMS_OK);
  EXPECT_EQ(result.reports[0], (CrowdNmsReport{100, 0, 0, 0, 100, 100}));
}

TEST(Output, adds_up) {
  for (const Distribution& from : distributions()) {
    for (const CrowdNmsMethod method : methods_of(CROWD_NMS_BACKEND_CPU)) {
      CrowdNmsParams params = with(method);
      params.score_threshold = 0.2f;
      const Batch batch = Batch::of(from.make(300, 9));
      const Result result = run_cpu(params, batch, {.max_survivors = 300});
      const CrowdNmsReport& r = result.reports[0];
      std::uint32_t members = 0, none_of_them = 0;
      for (std::uint32_t s = 0; s < r.survivors; ++s)
        members += result.members[s];
      for (const std::uint32_t by : result.representatives)
        none_of_them += by == none || by == rejected;
      EXPECT_EQ(members + none_of_them, 300u) << from.name;
      const bool all_found = method != CROWD_NMS_GREEDY || none_of_them == r.invalid + r.below_threshold;
      EXPECT_TRUE(all_found) << from.name;
    }
  }
}

TEST(Survivors, of_map_reduce_are_a_subset_of_those_of_greedy) {
  for (const Distribution& from : distributions()) {
    const Boxes set = from.make(400, 2);
    const auto greedy = run(with(CROWD_NMS_GREEDY), set).survivors;
    const auto some = run(with(CROWD_NMS_MAP_REDUCE), set).survivors;
    for (const std::uint32_t s : some)
      EXPECT_THAT(greedy, testing::Contains(s)) << from.name;
  }
}

TEST(Batch, gives_each_frame_what_it_gets_alone) {
  for (const CrowdNmsMethod method : methods_of(CROWD_NMS_BACKEND_CPU)) {
    for_each_batch(method, [](const Case& it) {
      const Result together = run_cpu(it.params, it.batch, it.wanted);
      for (std::uint32_t f = 0; f < it.batch.frames; ++f) {
        Batch alone = it.batch;
        alone.frames = 1;
        alone.offsets = {it.batch.offsets[f]};
        alone.counts = {it.batch.counts[f]};
        const Result result = run_cpu(it.params, alone, it.wanted);
        ASSERT_EQ(result.reports[0], together.reports[f]) << it.name;
        const auto part = together.survivors.begin() + f * it.wanted.max_survivors;
        ASSERT_TRUE(std::equal(result.survivors.begin(), result.survivors.end(), part)) << it.name;
      }
    });
  }
}

TEST(Call, keeps_its_input_and_repeats_itself) {
  for (const CrowdNmsMethod method : methods_of(CROWD_NMS_BACKEND_CPU)) {
    const Batch batch = Batch::of(distribution("quantised_scores").make(700, 8));
    const Batch before = batch;
    const Wanted wanted = {.max_survivors = 700};
    const Result first = run_cpu(with(method), batch, wanted);
    EXPECT_TRUE(same(first, run_cpu(with(method), batch, wanted), batch, wanted));
    EXPECT_EQ(std::memcmp(batch.all.boxes.data(), before.all.boxes.data(), 700 * sizeof(CrowdNmsBox)), 0);
    EXPECT_EQ(batch.all.scores, before.all.scores);
    EXPECT_EQ(batch.all.classes, before.all.classes);
  }
}

TEST(Call, does_not_allocate) {
  const Boxes set = distribution("dense").make(5000, 8);
  const CrowdNmsParams params = default_params();
  const Batch batch = Batch::of(set);
  const Wanted wanted = {.max_survivors = 5000};
  Result result = Result::sized(batch, wanted);
  const CrowdNmsCandidates candidates = batch.candidates();
  const CrowdNmsSurvivors outputs = result.outputs(wanted);
  std::vector<std::byte> memory(crowd_nms_cpu_workspace_bytes(&params, 1, 5000) + 64);
  void* workspace = memory.data();
  std::size_t space = memory.size();
  ASSERT_NE(std::align(64, memory.size() - 64, workspace, space), nullptr);
  // Freed memory would not show here, so look at the top of the heap as well.
  const struct mallinfo2 before = mallinfo2();
  ASSERT_EQ(crowd_nms_cpu(&params, &candidates, &outputs, workspace, memory.size() - 64), CROWD_NMS_OK);
  const struct mallinfo2 after = mallinfo2();
  EXPECT_EQ(after.uordblks, before.uordblks);
  EXPECT_EQ(after.arena, before.arena);
  EXPECT_EQ(after.hblkhd, before.hblkhd);
}

TEST(Workspace, is_at_most_64_bytes_a_candidate_plus_a_constant) {
  CrowdNmsParams params = default_params();
  for (const std::uint32_t n : {0u, 1u, 100u, 4096u, 100000u, 0x7fffffffu}) {
    const std::size_t bytes = crowd_nms_cpu_workspace_bytes(&params, 1, n);
    EXPECT_GT(bytes, 0u);
    EXPECT_LE(bytes, std::size_t{64} * n + 8192) << n;
  }
  EXPECT_EQ(crowd_nms_cpu_workspace_bytes(&params, 1000, 100), crowd_nms_cpu_workspace_bytes(&params, 1, 100));
}

}  // namespace
}  // namespace crowd::test
