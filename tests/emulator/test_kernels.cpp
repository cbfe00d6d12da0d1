// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernels against the oracle without a GPU: the code that a GPU runs, run by the emulator.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <tuple>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "cases.hpp"
#include "core/derived_metrics.hpp"
#include "emulator.hpp"
#include "exact_ratios.hpp"
#include "gathering.hpp"
#include "rule_cases.hpp"

namespace crowd::test {
namespace {

Result run_emulated(const CrowdNmsParams& params, const Batch& batch, const Wanted& wanted) {
  alignas(16) static constexpr CrowdNmsBox no_box{};
  Result result = Result::sized(batch, wanted);
  CrowdNmsCandidates candidates = batch.candidates();
  if (batch.all.boxes.empty())
    candidates.boxes = &no_box;
  const CrowdNmsSurvivors outputs = result.outputs(wanted);
  // Its own memory, so that the address sanitizer sees a step beside it.
  const std::size_t bytes = crowd_nms_cuda_workspace_bytes(&params, batch.frames, batch.capacity);
  const std::size_t rounded = (bytes + 255) / 256 * 256;
  const std::unique_ptr<void, void (*)(void*)> workspace(std::aligned_alloc(256, rounded ? rounded : 256), std::free);
  std::memset(workspace.get(), 0xA5, bytes);
  result.status = crowd_nms_cuda(&params, &candidates, &outputs, workspace.get(), bytes, nullptr);
  return result;
}

/// These wait for each other more often, and take the emulator longer.
bool is_soft(CrowdNmsMethod method) {
  return crowd_nms_method_info(method)->changes_scores;
}

/// Candidates: more than a warp goes through (tuning::staged_refill); of soft methods, more than lists have room for.
std::uint32_t crowd_in_one_spot(CrowdNmsMethod method) {
  return is_soft(method) ? 1500 : 4500;
}

using MethodOnDevice = std::tuple<CrowdNmsMethod, int>;

/// Each with and without clusters; the soft ones, which know none, once.
std::vector<MethodOnDevice> methods_on_devices() {
  std::vector<MethodOnDevice> all;
  for (const CrowdNmsMethod method : quick_methods_of(CROWD_NMS_BACKEND_CUDA)) {
    all.emplace_back(method, 9);
    if (!is_soft(method))
      all.emplace_back(method, 7);
  }
  return all;
}

/// The compute capability that the emulated device has.
class Emulated : public testing::TestWithParam<MethodOnDevice> {
 protected:
  void SetUp() override {
    use(4);
    emulator::seed(1);
  }
  static void use(int processors) {
    emulator::set_device({std::get<1>(GetParam()), processors});
  }
  static CrowdNmsMethod method() {
    return std::get<0>(GetParam());
  }
  void run(std::span<const std::uint32_t> sizes, std::uint32_t per_size) {
    std::size_t ran = 0;
    for_each_case(sizes, method(), per_size, [&](const Case& it) {
      expect_as_oracle(run_emulated, it);
      ++ran;
    });
    EXPECT_GT(ran, 0u);
  }
};

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

// Windows of more places than a warp looks through again (tuning::staged_refill): candidates wait for whole blocks.
TEST_P(Emulated, agrees_on_a_crowd_in_one_spot) {
  CrowdNmsParams params = default_params();
  params.method = method();
  const Batch batch = Batch::of(crowd(crowd_in_one_spot(method()), 4, 100, 100, 5));
  for (const double threshold : {0.5, 0.9}) {
    params.overlap_threshold = threshold;
    expect_as_oracle(run_emulated, {"crowd in one spot", params, batch, {batch.capacity, true, true}});
  }
}

/// The best first, each overlaps exactly the `suppressors` before it by more than half of the union.
Boxes ladder(std::uint32_t n, std::uint32_t suppressors, std::uint64_t seed) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  const float step = 100.0F / 3 / (static_cast<float>(suppressors) + 0.5F);
  Boxes set;
  for (const std::uint32_t rank : order) {
    const float x = step * static_cast<float>(rank);
    set.add({x, 0, x + 100, 100}, 1 - static_cast<float>(rank) / static_cast<float>(n));
  }
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
      const Batch batch = Batch::of(ladder(n, suppressors, n + suppressors));
      expect_as_oracle(run_emulated, {"ladder of " + std::to_string(suppressors), params, batch, {n, true, true}});
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
  std::vector<std::uint64_t> seeds(20);
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
  for_each_batch(method(), [&](const Case& it) { expect_as_oracle(run_emulated, it); });
  expect_as_oracle(run_emulated, sorted_crowds(method()));
}

TEST_P(Emulated, agrees_when_merging) {
  const auto agrees = [](const Case& it) { expect_as_oracle(run_emulated, merging(it)); };
  constexpr std::uint32_t small[] = {0, 1, 9, 33, 65};
  for_each_case(small, method(), 3, agrees);
  constexpr std::uint32_t medium[] = {257, 385};
  for_each_case(medium, method(), 1, agrees);
  for_each_ruled_case(medium, method(), 2, agrees);
  for_each_batch(method(), agrees);
  for_each_ruled_batch(method(), agrees);
}

/// A frame with each way of merging.
void expect_merges(const Batch& batch, CrowdNmsMethod method, std::uint32_t room, bool others = true) {
  for (const CrowdNmsMerge merge : all_merges()) {
    Case it{"merging", default_params(), batch, {room, others, others, true, true}};
    it.params.method = method;
    it.params.merge = merge;
    it.params.cluster_score = static_cast<CrowdNmsClusterScore>(merge % (CROWD_NMS_CLUSTER_SCORE_SUM + 1));
    for (const std::uint32_t least : {0u, 3u}) {
      it.params.min_members = least;
      expect_as_oracle(run_emulated, it);
    }
  }
}

// More members than a warp has room for, with the direct path and with lists of members.
TEST_P(Emulated, agrees_when_merging_large_frames) {
  use(132);
  for (const std::uint32_t n : {1300u, 4500u}) {
    const Batch one_spot = Batch::of(crowd(n, 2, 100, 100, 5));
    expect_merges(one_spot, method(), n);
    expect_merges(Batch::of(distribution("clustered").make(n, 3)), method(), n / 9, false);
  }
}

// Sums that come out otherwise in another order: of members found in the frame, listed, and more than a list holds.
TEST_P(Emulated, adds_up_members_in_the_order_of_their_indices) {
  constexpr float scores[] = {1e30F, -1e30F, 1e30F, -1e30F, 0.5F, 3, 7};
  use(132);
  for (const std::uint32_t n : {200u, 1500u, 4200u}) {
    for (const std::uint32_t objects : {2u, 20u, n / 10}) {
      Dice dice(n + objects);
      Boxes set;
      for (std::uint32_t i = 0; i < n; ++i) {
        const float x = 10.0F * static_cast<float>(dice.below(objects));
        set.add({x, 0, x + 9, 9}, dice.pick<float>(scores));
      }
      Case it{"sums", default_params(), Batch::of(set), {n, true, true, true, true}};
      it.params.method = method();
      it.params.cluster_score = CROWD_NMS_CLUSTER_SCORE_SUM;
      expect_as_oracle(run_emulated, it);
    }
  }
}

// The frames of a batch have lists of their own.
TEST_P(Emulated, agrees_when_merging_batches_of_large_frames) {
  Batch batch;
  for (const std::uint32_t n : {700u, 0u, 1200u}) {
    batch.offsets.push_back(batch.all.size());
    batch.counts.push_back(n);
    const Boxes frame = distribution("clustered").make(n, n);
    for (std::uint32_t i = 0; i < n; ++i)
      batch.all.add(frame.boxes[i], frame.scores[i], frame.classes[i]);
  }
  batch.frames = 3;
  batch.capacity = 4097;
  expect_merges(batch, method(), 600);
}

TEST_P(Emulated, gives_one_answer_in_any_order_of_threads) {
  CrowdNmsParams params = default_params();
  params.method = method();
  for (const char* kind : {"clustered", "chain", "all_equal"}) {
    const Batch batch = Batch::of(distribution(kind).make(120, 7));
    const Wanted wanted{batch.capacity, true, true};
    const Result expected = run_oracle(params, batch, wanted);
    for (std::uint64_t order = 0; order < 20; ++order) {
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

TEST(Emulated, lacks_the_methods_that_its_table_says) {
  for (const CrowdNmsMethod method : all_methods()) {
    CrowdNmsParams params = default_params();
    params.method = method;
    const Batch batch = Batch::of(distribution("dense").make(100, 1));
    const bool has_it = crowd_nms_method_info(method)->backends & 1u << CROWD_NMS_BACKEND_CUDA;
    EXPECT_EQ(crowd_nms_cuda_workspace_bytes(&params, 1, 100) > 0, has_it) << crowd_nms_last_error();
    EXPECT_EQ(run_emulated(params, batch, {100, true, true}).status, has_it ? CROWD_NMS_OK : CROWD_NMS_UNSUPPORTED);
  }
}

TEST(Emulated, refuses_more_candidates_than_a_method_takes) {
  constexpr std::uint32_t most = 65536;
  CrowdNmsParams params = default_params();
  EXPECT_GT(crowd_nms_cuda_workspace_bytes(&params, 1, most + 1), 0u);
  params.merge = CROWD_NMS_MERGE_VOTE;
  EXPECT_GT(crowd_nms_cuda_workspace_bytes(&params, 1, most), 0u);
  EXPECT_EQ(crowd_nms_cuda_workspace_bytes(&params, 1, most + 1), 0u);
  EXPECT_STREQ(
      crowd_nms_last_error(),
      "a capacity of 65537 is more than the CUDA backend takes in method greedy with merge vote (65536): lower it");
  params.method = CROWD_NMS_SOFT_LINEAR;
  EXPECT_GT(crowd_nms_cuda_workspace_bytes(&params, 1, most), 0u);
  EXPECT_EQ(crowd_nms_cuda_workspace_bytes(&params, 1, most + 1), 0u);
  EXPECT_STREQ(crowd_nms_last_error(),
               "a capacity of 65537 is more than the CUDA backend takes in method soft-linear (65536): lower it");
  for (const CrowdNmsMethod method : {CROWD_NMS_NMW, CROWD_NMS_WBF}) {
    params.method = method;
    EXPECT_EQ(crowd_nms_cuda_workspace_bytes(&params, 1, most + 1), 0u);
    EXPECT_LE(crowd_nms_cuda_workspace_bytes(&params, 1, most) - 1, std::size_t{288} * most);
  }
}

// Sessions keep the workspace of the largest call.
TEST(Emulated, needs_no_more_workspace_for_fewer_candidates) {
  for (const CrowdNmsMethod method : quick_methods_of(CROWD_NMS_BACKEND_CUDA)) {
    CrowdNmsParams params = default_params();
    params.method = method;
    std::size_t before = 0;
    for (std::uint32_t n = 60000; n <= 65536; n += 16) {
      const std::size_t bytes = crowd_nms_cuda_workspace_bytes(&params, 4, n);
      EXPECT_GE(bytes, before) << method << ' ' << n;
      before = bytes;
    }
    EXPECT_GE(crowd_nms_cuda_workspace_bytes(&params, 2, 32769), crowd_nms_cuda_workspace_bytes(&params, 1, 65536))
        << method;
  }
}

TEST(gather, hands_out_survivors_as_boxes) {
  expect_gathers([](const Case& it, const Result& found, Gathered& out) {
    const CrowdNmsCandidates candidates = it.batch.candidates();
    Result results = found;
    const CrowdNmsSurvivors survivors = results.outputs(it.wanted);
    const CrowdNmsGathered gathered = {
        out.boxes.data(),      out.scores.data(),  out.classes.data(), out.members.data(), out.counts.data(),
        out.candidates.data(), out.reports.data(), &out.totals,        &out.totals_copy,   {}};
    for (int twice = 0; twice < 2; ++twice)
      ASSERT_EQ(crowd_nms_cuda_gather(&candidates, &survivors, &gathered, nullptr), CROWD_NMS_OK)
          << crowd_nms_last_error();
  });
}

TEST(gather, says_what_is_wrong_with_its_arguments) {
  const Batch batch = Batch::of(distribution("chain").make(5, 1));
  const Wanted wanted{batch.capacity, false, false, true};
  Result results = Result::sized(batch, wanted);
  const CrowdNmsCandidates candidates = batch.candidates();
  CrowdNmsSurvivors survivors = results.outputs(wanted);
  Gathered out(batch, wanted);
  CrowdNmsGathered gathered{};
  const auto refused = [&](const char* word) {
    const CrowdNmsStatus status = crowd_nms_cuda_gather(&candidates, &survivors, &gathered, nullptr);
    return status == CROWD_NMS_INVALID_ARGUMENT && std::string(crowd_nms_last_error()).find(word) != std::string::npos;
  };
  EXPECT_TRUE(refused("counts"));
  gathered.boxes = out.boxes.data();
  gathered.scores = out.scores.data();
  gathered.counts = out.counts.data();
  gathered.members = out.members.data();
  EXPECT_TRUE(refused("members"));
  gathered.members = nullptr;
  gathered.totals_copy = &out.totals_copy;
  EXPECT_TRUE(refused("totals"));
  gathered.totals_copy = nullptr;
  gathered.boxes = reinterpret_cast<CrowdNmsBox*>(reinterpret_cast<char*>(out.boxes.data()) + 4);
  EXPECT_TRUE(refused("aligned"));
  gathered.boxes = out.boxes.data();
  survivors.boxes = reinterpret_cast<CrowdNmsBox*>(reinterpret_cast<char*>(results.boxes.data()) + 4);
  EXPECT_TRUE(refused("aligned"));
  EXPECT_EQ(crowd_nms_cuda_gather(nullptr, &survivors, &gathered, nullptr), CROWD_NMS_INVALID_ARGUMENT);
}

INSTANTIATE_TEST_SUITE_P(Method, Emulated, testing::ValuesIn(methods_on_devices()), [](const auto& info) {
  return test_name(std::get<0>(info.param)) + "_sm" + std::to_string(std::get<1>(info.param)) + "0";
});

}  // namespace
}  // namespace crowd::test
