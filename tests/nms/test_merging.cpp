// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowd/nms.h, "Merging", with answers worked out by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "cases.hpp"

namespace crowd::test {
namespace {

using testing::ElementsAre;

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr std::uint32_t none = CROWD_NMS_NONE;

MATCHER_P4(IsBox, x1, y1, x2, y2, "") {
  const CrowdNmsBox& box = arg;
  return box.x1 == x1 && box.y1 == y1 && box.x2 == x2 && box.y2 == y2;
}

struct Asked {
  CrowdNmsMerge merge = CROWD_NMS_MERGE_NONE;
  CrowdNmsClusterScore cluster_score = CROWD_NMS_CLUSTER_SCORE_NONE;
  std::uint32_t min_members = 0;
};

CrowdNmsParams with(const Asked& asked, double threshold = 0.5) {
  CrowdNmsParams params = default_params();
  params.overlap_threshold = threshold;
  params.merge = asked.merge;
  params.cluster_score = asked.cluster_score;
  params.min_members = asked.min_members;
  return params;
}

Result run(const CrowdNmsParams& params, const Boxes& set) {
  Result result = run_cpu(params, Batch::of(set), {.max_survivors = set.size(), .boxes = true, .scores = true});
  EXPECT_EQ(result.status, CROWD_NMS_OK) << crowd_nms_last_error();
  const std::uint32_t found = result.reports[0].survivors;
  result.survivors.resize(found);
  result.members.resize(found);
  result.boxes.resize(found);
  result.scores.resize(found);
  return result;
}

Boxes boxes(std::initializer_list<CrowdNmsBox> boxes, std::initializer_list<float> scores) {
  Boxes set;
  for (const CrowdNmsBox& box : boxes)
    set.add(box, *(scores.begin() + set.size()), 3);
  return set;
}

// The last represents all three, the one in front another one.
Boxes three_and_one() {
  return boxes({{0, 4, 40, 28}, {100, 0, 108, 16}, {4, 0, 44, 24}, {2, 2, 42, 26}}, {0.25f, 0.75f, 0.25f, 0.5f});
}

TEST(Merge, of_none_leaves_boxes_and_scores) {
  const Result result = run(with({}), three_and_one());
  EXPECT_THAT(result.survivors, ElementsAre(1, 3));
  EXPECT_THAT(result.boxes, ElementsAre(IsBox(100, 0, 108, 16), IsBox(2, 2, 42, 26)));
  EXPECT_THAT(result.scores, ElementsAre(0.75f, 0.5f));
}

TEST(Merge, by_mean_is_the_mean_of_each_coordinate) {
  Boxes set = three_and_one();
  set.boxes[0].x1 = 3;
  EXPECT_THAT(run(with({CROWD_NMS_MERGE_MEAN}), set).boxes, ElementsAre(IsBox(100, 0, 108, 16), IsBox(3, 2, 42, 26)));
}

TEST(Merge, by_scores_is_the_weighted_mean) {
  Boxes set = three_and_one();
  set.boxes[0].x1 = 4;
  set.boxes[2].x2 = 46;
  EXPECT_THAT(run(with({CROWD_NMS_MERGE_WEIGHTED}), set).boxes,
              ElementsAre(IsBox(100, 0, 108, 16), IsBox(3, 2, 42.5f, 26)));
}

TEST(Merge, by_union_is_the_box_around_them) {
  EXPECT_THAT(run(with({CROWD_NMS_MERGE_UNION}), three_and_one()).boxes,
              ElementsAre(IsBox(100, 0, 108, 16), IsBox(0, 0, 44, 28)));
}

// A represents B and C represents D; B overlaps C as well, and ranks better. The class of E is another.
Boxes a_neighbourhood() {
  Boxes set = boxes({{0, 0, 24, 8}, {8, 0, 32, 8}, {16, 0, 40, 8}, {20, 0, 44, 8}, {16, 0, 40, 8}},
                    {1, 0.5f, 0.25f, 0.25f, 0.125f});
  set.classes[4] = 7;
  return set;
}

TEST(Merge, by_vote_takes_all_that_overlap_whoever_represents_them) {
  const CrowdNmsParams params = with({CROWD_NMS_MERGE_VOTE}, 0.3);
  const Result result = run(params, a_neighbourhood());
  EXPECT_THAT(result.survivors, ElementsAre(0, 2, 4));
  EXPECT_THAT(result.representatives, ElementsAre(0, 0, 2, 2, 4));
  // A: (1 * 0 + 0.5 * 8) / 1.5. C: (0.5 * 8 + 0.25 * 16 + 0.25 * 20) / 1.
  EXPECT_THAT(result.boxes,
              ElementsAre(IsBox(float(4 / 1.5), 0, float(40 / 1.5), 8), IsBox(13, 0, 37, 8), IsBox(16, 0, 40, 8)));
  EXPECT_THAT(run(with({CROWD_NMS_MERGE_WEIGHTED}, 0.3), a_neighbourhood()).boxes,
              ElementsAre(IsBox(float(4 / 1.5), 0, float(40 / 1.5), 8), IsBox(18, 0, 42, 8), IsBox(16, 0, 40, 8)));
}

TEST(Merge, by_vote_asks_the_metric_with_the_better_ranked_first) {
  // The survivor, in the middle, has the worst rank. A third of it is in the big one, which is a sixth of that.
  CrowdNmsParams params = with({CROWD_NMS_MERGE_VOTE}, 0.3);
  const Boxes set = boxes({{0, 0, 60, 8}, {2, 0, 62, 8}, {50, 0, 80, 8}}, {1, 0.5f, 0.25f});
  params.metric = CROWD_NMS_OVER_HIGHER;
  EXPECT_THAT(run(params, set).survivors, ElementsAre(0, 2));
  EXPECT_THAT(run(params, set).boxes[1], IsBox(50, 0, 80, 8));
  params.metric = CROWD_NMS_OVER_LOWER;
  params.overlap_threshold = 0.35;
  EXPECT_THAT(run(params, set).survivors, ElementsAre(0, 2));
  EXPECT_THAT(run(params, set).boxes[1], IsBox((0.5 * 2 + 0.25 * 50) / 0.75, 0, (0.5 * 62 + 0.25 * 80) / 0.75, 8));
}

TEST(Merge, by_vote_counts_those_of_dropped_survivors) {
  const Boxes set = boxes({{0, 0, 24, 8}, {8, 0, 32, 8}, {16, 0, 40, 8}, {20, 0, 44, 8}, {20, 0, 44, 8}},
                          {1, 0.5f, 0.25f, 0.125f, 0.125f});
  CrowdNmsParams params = with({.merge = CROWD_NMS_MERGE_VOTE, .min_members = 3}, 0.4);
  EXPECT_THAT(run(params, set).representatives, ElementsAre(none, none, 2, 2, 2));
  EXPECT_THAT(run(params, set).boxes, ElementsAre(IsBox(13, 0, 37, 8)));
}

TEST(Merge, takes_weights_below_zero_for_zero) {
  const Boxes set = boxes({{0, 0, 24, 8}, {4, 0, 28, 8}, {8, 0, 32, 8}}, {-1, 0.5f, -inf});
  EXPECT_THAT(run(with({CROWD_NMS_MERGE_WEIGHTED}), set).boxes, ElementsAre(IsBox(4, 0, 28, 8)));
  EXPECT_THAT(run(with({CROWD_NMS_MERGE_MEAN}), set).boxes, ElementsAre(IsBox(4, 0, 28, 8)));
}

TEST(Merge, without_weights_or_with_infinite_ones_leaves_the_box) {
  for (const CrowdNmsMerge merge : {CROWD_NMS_MERGE_WEIGHTED, CROWD_NMS_MERGE_VOTE}) {
    for (const auto& [best, other] : {std::pair{0.0f, -1.0f}, {-1.0f, -2.0f}, {inf, 1.0f}, {inf, inf}}) {
      const Boxes set = boxes({{2, 0, 26, 8}, {4, 0, 28, 8}}, {best, other});
      EXPECT_THAT(run(with({merge}), set).boxes, ElementsAre(IsBox(2, 0, 26, 8))) << best << ' ' << other;
    }
  }
}

TEST(Merge, takes_subnormal_and_huge_weights) {
  const float tiny = std::numeric_limits<float>::denorm_min(), huge = std::numeric_limits<float>::max();
  for (const float weight : {tiny, huge}) {
    const Boxes set = boxes({{2, 0, 26, 8}, {4, 0, 28, 8}}, {weight, weight});
    EXPECT_THAT(run(with({CROWD_NMS_MERGE_WEIGHTED}), set).boxes, ElementsAre(IsBox(3, 0, 27, 8))) << weight;
  }
}

TEST(Merge, tells_the_zeros_apart_by_index) {
  const Boxes set = boxes({{0.0f, -0.0f, 24, 8}, {-0.0f, 0.0f, 24, 8}}, {0.25f, 0.5f});
  const CrowdNmsBox around = run(with({CROWD_NMS_MERGE_UNION}), set).boxes[0];
  EXPECT_FALSE(std::signbit(around.x1));
  EXPECT_TRUE(std::signbit(around.y1));
  const CrowdNmsBox own = run(with({}), set).boxes[0];
  EXPECT_TRUE(std::signbit(own.x1));
  EXPECT_FALSE(std::signbit(own.y1));
}

TEST(ClusterScore, is_what_the_members_make_it) {
  const auto scores = [](CrowdNmsClusterScore kind) {
    return run(with({CROWD_NMS_MERGE_NONE, kind}), three_and_one()).scores;
  };
  EXPECT_THAT(scores(CROWD_NMS_CLUSTER_SCORE_MAX), ElementsAre(0.75f, 0.5f));
  EXPECT_THAT(scores(CROWD_NMS_CLUSTER_SCORE_MEAN), ElementsAre(0.75f, float(1.0 / 3)));
  EXPECT_THAT(scores(CROWD_NMS_CLUSTER_SCORE_SUM), ElementsAre(0.75f, 1)) << "in the order of their own scores";
}

TEST(ClusterScore, is_added_up_in_double_in_the_order_of_indices) {
  const auto sum = [](std::initializer_list<float> scores) {
    const Boxes set = boxes({{2, 0, 26, 8}, {2, 0, 26, 8}, {2, 0, 26, 8}}, scores);
    return run(with({CROWD_NMS_MERGE_NONE, CROWD_NMS_CLUSTER_SCORE_SUM}), set).scores;
  };
  EXPECT_THAT(sum({1, 0x1p60f, -0x1p60f}), ElementsAre(0));
  EXPECT_THAT(sum({0x1p60f, -0x1p60f, 1}), ElementsAre(1));
  EXPECT_THAT(sum({-0x1p40f, 1, 0x1p40f}), ElementsAre(1)) << "double has room for both";
}

TEST(ClusterScore, that_is_no_number_leaves_the_survivors_own) {
  const Boxes set = boxes({{2, 0, 26, 8}, {4, 0, 28, 8}}, {-inf, inf});
  for (const CrowdNmsClusterScore kind : {CROWD_NMS_CLUSTER_SCORE_MEAN, CROWD_NMS_CLUSTER_SCORE_SUM})
    EXPECT_THAT(run(with({CROWD_NMS_MERGE_NONE, kind}), set).scores, ElementsAre(inf));
}

TEST(MinMembers, drops_what_represents_fewer) {
  const Result result = run(with({CROWD_NMS_MERGE_UNION, CROWD_NMS_CLUSTER_SCORE_SUM, 2}), three_and_one());
  EXPECT_THAT(result.survivors, ElementsAre(3));
  EXPECT_THAT(result.members, ElementsAre(3));
  EXPECT_THAT(result.representatives, ElementsAre(3, none, 3, 3));
  EXPECT_THAT(result.boxes, ElementsAre(IsBox(0, 0, 44, 28)));
  EXPECT_THAT(result.scores, ElementsAre(1));
  EXPECT_EQ(result.reports[0], (CrowdNmsReport{4, 0, 0, 0, 1, 0})) << "the dropped one counts as suppressed";
  EXPECT_THAT(run(with({.min_members = 3}), three_and_one()).survivors, ElementsAre(3));
  const Result nothing = run(with({.min_members = 4}), three_and_one());
  EXPECT_THAT(nothing.survivors, ElementsAre());
  EXPECT_THAT(nothing.representatives, ElementsAre(none, none, none, none));
}

TEST(MinMembers, comes_before_the_clipping) {
  const Result result = run_cpu(with({.min_members = 2}), Batch::of(three_and_one()),
                                {.max_survivors = 1, .members = false, .representatives = false});
  EXPECT_THAT(result.survivors, ElementsAre(3));
  EXPECT_EQ(result.reports[0], (CrowdNmsReport{4, 0, 0, 0, 1, 0}));
}

TEST(Outputs, past_the_survivors_are_left_as_they_were) {
  const Result result = run_cpu(with({CROWD_NMS_MERGE_MEAN, CROWD_NMS_CLUSTER_SCORE_MEAN}), Batch::of(three_and_one()),
                                {.max_survivors = 3, .boxes = true, .scores = true});
  EXPECT_EQ(std::bit_cast<std::uint32_t>(result.scores[2]), Result::untouched);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(result.boxes[2].y2), Result::untouched);
}

TEST(Outputs, of_paper_are_the_survivors_own) {
  CrowdNmsParams params = with({CROWD_NMS_MERGE_UNION, CROWD_NMS_CLUSTER_SCORE_SUM, 9});
  params.method = CROWD_NMS_PAPER;
  const Result result = run(params, three_and_one());
  EXPECT_THAT(result.boxes, ElementsAre(IsBox(100, 0, 108, 16), IsBox(2, 2, 42, 26)));
  EXPECT_THAT(result.scores, ElementsAre(0.75f, 0.5f));
}

TEST(Box, that_is_merged_is_never_inverted) {
  for (const Distribution& from : distributions()) {
    for (const CrowdNmsMerge merge : all_merges()) {
      for (const CrowdNmsBox& box : run(with({merge}, 0.1), from.make(500, 3)).boxes)
        EXPECT_TRUE(box.x2 >= box.x1 && box.y2 >= box.y1) << from.name << ' ' << merge;
    }
  }
}

TEST(Vote, does_not_allocate) {
  const Batch batch = Batch::of(distribution("dense").make(5000, 8));
  const CrowdNmsParams params = with({CROWD_NMS_MERGE_VOTE, CROWD_NMS_CLUSTER_SCORE_MEAN, 2});
  const Wanted wanted = {.max_survivors = 5000, .boxes = true, .scores = true};
  Result result = Result::sized(batch, wanted);
  const CrowdNmsCandidates candidates = batch.candidates();
  const CrowdNmsSurvivors outputs = result.outputs(wanted);
  const std::size_t bytes = crowd_nms_cpu_workspace_bytes(&params, 1, 5000);
  const std::unique_ptr<void, void (*)(void*)> workspace(std::aligned_alloc(64, (bytes + 63) / 64 * 64), std::free);
  const struct mallinfo2 before = mallinfo2();
  ASSERT_EQ(crowd_nms_cpu(&params, &candidates, &outputs, workspace.get(), bytes), CROWD_NMS_OK);
  const struct mallinfo2 after = mallinfo2();
  EXPECT_EQ(after.uordblks, before.uordblks);
  EXPECT_EQ(after.arena, before.arena);
  EXPECT_EQ(after.hblkhd, before.hblkhd);
}

}  // namespace
}  // namespace crowd::test
