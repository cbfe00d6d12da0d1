// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Merging by the kernels in the emulator against the oracle.

#include "emulated.hpp"
#include "rule_cases.hpp"

namespace crowd::test {
namespace {

class EmulatedMerging : public Emulated {};

TEST_P(EmulatedMerging, agrees) {
  const auto agrees = [](const Case& it) { expect_as_oracle(run_emulated, merging(it)); };
  constexpr std::uint32_t small[] = {0, 1, 9, 33, 65};
  for_each_case(small, method(), is_soft(method()) ? 1 : 3, agrees);
  constexpr std::uint32_t medium[] = {257, 385};
  for_each_case(std::span(medium).first(is_soft(method()) ? 1 : 2), method(), 1, agrees);
  for_each_ruled_case(medium, method(), is_soft(method()) ? 1 : 2, agrees);
  for_each_batch(method(), agrees, is_soft(method()) ? 8 : 40);
  for_each_ruled_batch(method(), agrees);
}

/// A frame with each way of merging, or with one of those that the method does not read.
void expect_merges(const Batch& batch, CrowdNmsMethod method, std::uint32_t room, bool others = true) {
  const bool merges = reads(method, CROWD_NMS_READS_MERGE);
  for (const CrowdNmsMerge merge : merges ? all_merges() : std::vector{CROWD_NMS_MERGE_UNION}) {
    Case it{"merging", default_params(), batch, {room, others, others, true, true}};
    it.params.method = method;
    it.params.merge = merge;
    it.params.cluster_score = static_cast<CrowdNmsClusterScore>(merge % (CROWD_NMS_CLUSTER_SCORE_SUM + 1));
    it.params.min_members = merges && merge % 2 ? 0 : 3;
    expect_as_oracle(run_emulated, it);
  }
}

// More members than a warp has room for, with the direct path and with lists of members.
TEST_P(EmulatedMerging, agrees_on_large_frames) {
  use(132);
  for (const std::uint32_t n : {1300u, 4500u}) {
    const Batch one_spot = Batch::of(crowd(n, 2, 100, 100, 5));
    expect_merges(one_spot, method(), n);
    expect_merges(Batch::of(distribution("clustered").make(n, 3)), method(), n / 9, false);
  }
}

// Sums that come out otherwise in another order: of members found in the frame, listed, and more than a list holds.
TEST_P(EmulatedMerging, adds_up_members_in_the_order_of_their_indices) {
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
TEST_P(EmulatedMerging, agrees_on_batches_of_large_frames) {
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

INSTANTIATE_TEST_SUITE_P(Method, EmulatedMerging, testing::ValuesIn(methods_on_devices()), name_of);

}  // namespace
}  // namespace crowd::test
