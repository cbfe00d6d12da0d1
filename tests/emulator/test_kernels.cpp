// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernels against the oracle without a GPU: the code that a GPU runs, run by the emulator.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <random>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "core/derived_metrics.hpp"
#include "emulated.hpp"
#include "exact_ratios.hpp"
#include "hard_boxes.hpp"
#include "rule_cases.hpp"

namespace crowd::test {
namespace {

/// Candidates: more than a warp goes through (tuning::staged_refill_window); of soft methods, more than lists have room
/// for.
std::uint32_t crowd_in_one_spot(CrowdNmsMethod method) {
  return is_soft(method) ? 1500 : 4500;
}

/// Whether frames of one call may take the direct path and the stages. Method nmw takes the launches of greedy.
bool takes_both_paths(CrowdNmsMethod method) {
  return method == CROWD_NMS_GREEDY || method == CROWD_NMS_MAP_REDUCE;
}

TEST_P(Emulated, agrees_on_small_frames) {
  constexpr std::uint32_t sizes[] = {0, 1, 2, 9, 33, 65};
  run(sizes, 2);
}

TEST_P(Emulated, agrees_on_medium_frames) {
  constexpr std::uint32_t sizes[] = {256, 257, 385};
  run(sizes, 1);
}

TEST_P(Emulated, agrees_with_rules) {
  if (!reads(method(), CROWD_NMS_READS_RULE))
    GTEST_SKIP() << "the method reads no rules";
  const auto agrees = [](const Case& it) { expect_as_oracle(run_emulated, it); };
  constexpr std::uint32_t small[] = {0, 1, 9, 33, 65};
  for_each_ruled_case(small, method(), is_soft(method()) ? 2 : 6, agrees);
  constexpr std::uint32_t medium[] = {257, 385};
  for_each_ruled_case(medium, method(), is_soft(method()) ? 1 : 3, agrees);
  for_each_ruled_batch(method(), agrees);
  if (takes_both_paths(method()))
    for_each_ruled_case_of_tiny_frames(method(), agrees);
}

// Windows that are looked through by whole blocks, and what is left settled in blocks.
TEST_P(Emulated, agrees_with_rules_on_a_crowd_in_one_spot) {
  if (!reads(method(), CROWD_NMS_READS_RULE))
    GTEST_SKIP() << "the method reads no rules";
  for (const CrowdNmsRule rule : all_rules()) {
    const std::uint32_t n = crowd_in_one_spot(method());
    Case it{"crowd in one spot", default_params(), Batch::of(crowd(n, 4, 100, 100, 5)), {n, true, true}};
    Dice dice(rule + 1);
    draw_rule(it, dice);
    it.params.method = method();
    it.params.rule = rule;
    it.params.overlap_threshold = rule == CROWD_NMS_PLAIN ? 0.9 : 0.5;
    it.params.min_overlap = 0.2;
    it.params.metric = CROWD_NMS_IOU;
    expect_as_oracle(run_emulated, it);
  }
}

// Metrics that are no ratio of the search, on such windows.
TEST_P(Emulated, agrees_with_derived_metrics_on_a_crowd_in_one_spot) {
  if (!reads(method(), CROWD_NMS_READS_RULE))
    GTEST_SKIP() << "the method reads no metric";
  for (const CrowdNmsMetric metric : all_metrics()) {
    if (!is_derived(metric))
      continue;
    const std::uint32_t n = crowd_in_one_spot(method());
    Case it{"crowd in one spot", default_params(), Batch::of(crowd(n, 4, 100, 100, 5)), {n, true, true}};
    it.params.method = method();
    it.params.metric = metric;
    it.params.overlap_threshold = 0.9;
    expect_as_oracle(run_emulated, it);
  }
}

// One for each shape that the launches have, just above the last of the one before.
TEST_P(Emulated, agrees_on_large_frames) {
  struct Large {
    const char* distribution;
    std::uint32_t n;
    double overlap_threshold = 0.5;
  };
  // In the last one each has two suppressors: more rows are pending, with lists, than a block has threads.
  constexpr Large cases[] = {
      {"clustered", 1025}, {"chain", 1025}, {"tied_scores", 2049}, {"mixed_sizes", 4096}, {"chain", 1025, 0.3}};
  use(132);
  for (const Large& it : cases) {
    CrowdNmsParams params = default_params();
    params.method = method();
    params.overlap_threshold = it.overlap_threshold;
    const Batch batch = Batch::of(distribution(it.distribution).make(it.n, 3));
    expect_as_oracle(run_emulated,
                     {std::string(it.distribution) + " seed=3", params, batch, {batch.capacity, true, true}});
  }
}

// Windows of more places than a warp looks through again (tuning::staged_refill_window): candidates wait for whole
// blocks.
TEST_P(Emulated, agrees_on_a_crowd_in_one_spot) {
  CrowdNmsParams params = default_params();
  params.method = method();
  const Batch batch = Batch::of(crowd(crowd_in_one_spot(method()), 4, 100, 100, 5));
  for (const double threshold : {0.5, 0.9}) {
    params.overlap_threshold = threshold;
    expect_as_oracle(run_emulated, {"crowd in one spot", params, batch, {batch.capacity, true, true}});
  }
}

// Lists of suppressors that are not complete, with 32, 16 and 8 candidates a warp of resolve() (Stage::per_warp()).
TEST_P(Emulated, agrees_on_crowds_however_many_candidates_a_warp_has) {
  if (is_soft(method()))
    GTEST_SKIP() << "soft methods decide in another way";
  CrowdNmsParams params = default_params();
  params.method = method();
  const Batch batch = Batch::of(crowd(1300, 4, 100, 100, 5));
  for (const int processors : {4, 6, 132}) {
    use(processors);
    for (const double threshold : {0.5, 0.9}) {
      params.overlap_threshold = threshold;
      expect_as_oracle(run_emulated, {"crowd", params, batch, {batch.capacity, true, true}});
    }
  }
}

// Of a box's suppressors the best five, in one cell, fall to another. The lane that looks at them, four places apart,
// leaves out the sixth, some rows of cells further down, which survives.
TEST_P(Emulated, agrees_where_lanes_leave_out_the_suppressor_that_survives) {
  if (is_soft(method()))
    GTEST_SKIP() << "soft methods list all suppressors";
  Boxes set;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<float> within(0, 90);
  const auto add_small = [&](float left, float top) { set.add({left, top, left + 4, top + 4}, 0.1F); };
  for (int copy = 0; copy < 61; ++copy) {
    const float x = 1000 * static_cast<float>(copy);
    set.add({x, 0, x + 100, 100}, 0.5F);
    set.add({x - 50, -10, x + 50, 90}, 0.99F);
    for (int i = 0; i < 5; ++i) {
      set.add({x - 20, -10, x + 80, 90}, 0.9F + 0.01F * static_cast<float>(i));
      for (int other = 0; other < 3; ++other)
        add_small(x + 28, 38);
    }
    set.add({x + 20, 10, x + 120, 110}, 0.8F);
    // Most boxes are small, and so are cells.
    for (int i = 0; i < 45; ++i) {
      const float left = x + within(random);
      add_small(left, within(random));
    }
  }
  CrowdNmsParams params = default_params();
  params.method = method();
  const Batch batch = Batch::of(set);
  expect_as_oracle(run_emulated, {"copies", params, batch, {batch.capacity, true, true}});
}

Boxes shuffled(const Boxes& boxes, std::uint64_t seed) {
  std::vector<std::uint32_t> order(boxes.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  Boxes set;
  for (const std::uint32_t i : order)
    set.add(boxes.boxes[i], boxes.scores[i], boxes.classes[i]);
  return set;
}

// Chains that aliases do not shorten: more pending candidates than threads and fewer, lists, and too many for one.
TEST_P(Emulated, agrees_on_ladders) {
  if (is_soft(method()))
    GTEST_SKIP() << "soft methods decide in another way";
  use(132);
  CrowdNmsParams params = default_params();
  params.method = method();
  for (const std::uint32_t n : {600u, 1600u})
    for (const std::uint32_t suppressors : {2u, 3u, 8u, 40u, 100u}) {
      Case it{"ladder of " + std::to_string(suppressors),
              params,
              Batch::of(shuffled(ladder(n, suppressors), n + suppressors)),
              {n, true, true}};
      expect_as_oracle(run_emulated, it);
      if (n > 600)
        continue;
      it.name += ", few of one proposal";
      it.params.rule = CROWD_NMS_SET;
      for (std::uint32_t i = 0; i < n; ++i)
        it.batch.extras.proposals.push_back(i * 7 % (n / 2));
      expect_as_oracle(run_emulated, it);
    }
}

// Rows without lists below many survivors, of like size and not, and boxes whose areas are no finite numbers: frames
// that a search for slow ones found. With few processors tiles are dense; with proposals, pairs of two are spared.
TEST_P(Emulated, agrees_on_nested_boxes_below_survivors) {
  if (is_soft(method()))
    GTEST_SKIP() << "soft methods decide in another way";
  constexpr std::uint32_t n = 1400;
  for (const Distribution& from : hard_distributions()) {
    const std::string name = from.name;
    if (name != "nested_below_a_grid" && name != "areas_that_overflow")
      continue;
    Case it{name, default_params(), Batch::of(from.make(n, 7)), {n, true, true}};
    it.params.method = method();
    use(16);
    expect_as_oracle(run_emulated, it);
    use(132);
    it.params.overlap_threshold = 0.9;
    expect_as_oracle(run_emulated, it);
    it.name += ", few of one proposal";
    it.params.rule = CROWD_NMS_SET;
    for (std::uint32_t i = 0; i < n; ++i)
      it.batch.extras.proposals.push_back(i * 7 % (n / 2));
    expect_as_oracle(run_emulated, it);
  }
}

// Bins of scores have to do with outliers, at places that are sampled and at others.
TEST_P(Emulated, agrees_on_scores_far_off) {
  CrowdNmsParams params = default_params();
  params.method = method();
  Boxes set = distribution("uniform").make(1200, 3);
  set.scores[0] = 1e6F;
  set.scores[1200 / 7] = -1e9F;
  set.scores[1200 / 2] = -std::numeric_limits<float>::max();
  set.scores[1199] = std::numeric_limits<float>::infinity();
  expect_as_oracle(run_emulated, {"far scores", params, Batch::of(set), {1200, true, true}});
}

TEST_P(Emulated, agrees_at_exact_ratios) {
  for_each_exact_ratio(method(), [&](const Case& it) { expect_as_oracle(run_emulated, it); });
}

TEST_P(Emulated, agrees_on_random_frames) {
  std::vector<std::uint64_t> seeds(is_soft(method()) ? 10 : 20);
  std::iota(seeds.begin(), seeds.end(), 0);
  // Window of exactly as many places as the stages look at first.
  seeds.push_back(3257);
  for (const std::uint64_t seed : seeds) {
    const RandomFrame it = random_frame(seed);
    CrowdNmsParams params = it.params;
    params.method = method();
    expect_as_oracle(run_emulated, {it.name, params, it.batch, {it.batch.capacity, true, true}});
  }
}

TEST_P(Emulated, agrees_on_ragged_batches) {
  for_each_batch(
      method(), [](const Case& it) { expect_as_oracle(run_emulated, it); }, is_soft(method()) ? 8 : 40);
  expect_as_oracle(run_emulated, sorted_crowds(method()));
}

// Windows whose rows are looked at where large boxes are.
TEST_P(Emulated, agrees_on_giants_among_small_boxes) {
  if (!takes_both_paths(method()))
    GTEST_SKIP() << "the rule that soft methods search by bounds no extents";
  for_each_case_of_giants(method(), [](const Case& it) { expect_as_oracle(run_emulated, it); });
}

// Candidates that the staged path drops before it looks for suppressors (staged/peaks.cuh).
TEST_P(Emulated, agrees_on_crowds) {
  if (!takes_both_paths(method()))
    GTEST_SKIP() << "the method looks for no peaks";
  use(132);
  for_each_case_of_crowds(method(), [](const Case& it) { expect_as_oracle(run_emulated, it); });
}

// What a call has left behind in the workspace is not taken for the next one's.
TEST_P(Emulated, agrees_on_crowds_in_a_used_workspace) {
  if (!takes_both_paths(method()) || std::get<1>(GetParam()) < 9)
    GTEST_SKIP() << "the method looks for no peaks, or by the same kernels on a later device";
  use(132);
  for_each_case_of_crowds(method(), [](const Case& it) { expect_as_oracle(run_emulated_again, it); });
}

TEST_P(Emulated, agrees_on_batches_of_crowds) {
  if (!takes_both_paths(method()) || std::get<1>(GetParam()) < 9)
    GTEST_SKIP() << "the method looks for no peaks, or by the same kernels on a later device";
  for_each_batch_of_crowds(method(), [](const Case& it) { expect_as_oracle(run_emulated, it); });
}

// Blocks of the staged path that wait for those before them (staged/waiting.cuh), and large bins (staged/ranks.cuh).
TEST_P(Emulated, agrees_where_whole_blocks_wait) {
  if (!takes_both_paths(method()) || std::get<1>(GetParam()) < 9)
    GTEST_SKIP() << "the method waits for no blocks, or by the same kernels on a later device";
  for_each_case_of_waiting(1300, method(), [](const Case& it) { expect_as_oracle(run_emulated, it); });
}

// Cells of the staged path that are moved by class.
TEST_P(Emulated, agrees_on_many_classes_in_one_spot) {
  for_each_case_of_classes(method(), [](const Case& it) { expect_as_oracle(run_emulated, it); });
}

TEST_P(Emulated, agrees_on_nested_boxes) {
  if (!takes_both_paths(method()))
    GTEST_SKIP() << "the method takes one path, by the capacity";
  // With few, tiles have twice as many rows, and are dense.
  for (const int processors : {4, 132}) {
    use(processors);
    for_each_case_of_nested(method(), [](const Case& it) { expect_as_oracle(run_emulated, it); });
  }
}

TEST_P(Emulated, agrees_on_few_candidates_with_much_room) {
  if (!takes_both_paths(method()))
    GTEST_SKIP() << "the method takes one path, by the capacity";
  use(132);
  for_each_case_of_room(method(), [](const Case& it) { expect_as_oracle(run_emulated, it); });
  for_each_case_of_few(method(), [](const Case& it) { expect_as_oracle(run_emulated, it); });
}

TEST_P(Emulated, agrees_on_survivors_of_larger_frames) {
  if (method() != CROWD_NMS_MAP_REDUCE)
    GTEST_SKIP() << "other methods have one way for all outputs";
  for_each_case_of_survivors(std::array{4300U}, method(), [](const Case& it) { expect_as_oracle(run_emulated, it); });
  // As many tiles as there can be, the borders of tiles of one word of rows, two and four, and full ones.
  struct Frame {
    int processors;
    const char* kind;
    std::uint32_t n;
  };
  for (const Frame& frame :
       {Frame{1000, "clustered", 5000}, Frame{4, "disjoint_grid", 4097}, Frame{4, "clustered", 8192},
        Frame{4, "clustered", 8193}, Frame{4, "disjoint_grid", 16384}}) {
    use(frame.processors);
    Batch batch = Batch::of(distribution(frame.kind).make(frame.n, 5));
    batch.counts = {frame.n};
    CrowdNmsParams params = default_params();
    params.method = method();
    expect_as_oracle(run_emulated, {frame.kind, params, batch, {frame.n, false, false}});
  }
}

TEST_P(Emulated, agrees_where_a_device_refuses_launches) {
  if (!takes_both_paths(method()))
    GTEST_SKIP() << "the method takes one path, by the capacity";
  constexpr std::size_t less_than_the_reduce_takes = 8 << 10;
  emulator::set_device({std::get<1>(GetParam()), 4, less_than_the_reduce_takes});
  CrowdNmsParams params = default_params();
  params.method = method();
  for (const std::uint32_t capacity : {600u, 4200u}) {
    Batch batch = Batch::of(distribution("clustered").make(capacity, 3));
    batch.counts = {590};
    expect_as_oracle(run_emulated, {"refused launches", params, batch, {capacity, true, true}});
    expect_as_oracle(run_emulated, {"refused launches, survivors alone", params, batch, {capacity, false, false}});
  }
}

TEST_P(Emulated, gives_one_answer_in_any_order_of_threads) {
  CrowdNmsParams params = default_params();
  params.method = method();
  for (const char* kind : {"clustered", "chain", "all_equal"}) {
    const Batch batch = Batch::of(distribution(kind).make(120, 7));
    const Wanted wanted{batch.capacity, true, true};
    const Result expected = run_oracle(params, batch, wanted);
    for (std::uint64_t order = 0; order < (is_soft(method()) ? 6 : 20); ++order) {
      emulator::seed(order);
      ASSERT_TRUE(same(expected, run_emulated(params, batch, wanted), batch, wanted)) << kind << " order " << order;
    }
  }
}

#if defined(__x86_64__)
// The rule is made on the host, in the thread that calls; so are all answers here.
TEST_P(Emulated, gives_one_answer_in_any_floating_point_mode) {
  constexpr unsigned at_reset = 0x1f80, flush_and_zero = 0x8040, up = 0x4000;
  Boxes set;
  set.add({0, 0, 1e-40F, 1}, 0.5F);
  set.add({0, 0, 1e-40F, 1}, 0.4F);
  const Batch batch = Batch::of(set);
  const Wanted wanted{2, true, true};
  CrowdNmsParams params = default_params();
  params.method = method();
  params.overlap_threshold = 1e-42;
  const Result expected = run_oracle(params, batch, wanted);
  for (const unsigned modes : {at_reset | flush_and_zero, at_reset | up}) {
    _mm_setcsr(modes);
    const Result actual = run_emulated(params, batch, wanted);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(at_reset);
    EXPECT_EQ(after, modes);
    EXPECT_TRUE(same(expected, actual, batch, wanted)) << std::hex << modes;
  }
}
#endif

TEST(EmulatedWbf, agrees_where_fused_boxes_meet_other_components) {
  for_each_case_of_corners([](const Case& it) { expect_as_oracle(run_emulated, it); });
}

// A matrix of D_max x D_max threads a frame: small ones only.
TEST(EmulatedPaper, agrees_on_small_frames) {
  constexpr std::uint32_t sizes[] = {0, 1, 2, 9, 33, 65};
  for_each_case(sizes, CROWD_NMS_PAPER, 1, [](const Case& it) { expect_as_oracle(run_emulated, it); });
}

TEST(EmulatedPaper, agrees_at_exact_ratios) {
  for_each_exact_ratio(CROWD_NMS_PAPER, [](const Case& it) { expect_as_oracle(run_emulated, it); });
}

INSTANTIATE_TEST_SUITE_P(Method, Emulated, testing::ValuesIn(methods_on_devices()), name_of);

}  // namespace
}  // namespace crowd::test
