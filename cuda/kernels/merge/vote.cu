// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Box voting: a survivor's box of all valid candidates that overlap it.

#include "kernels/merge/survivor.cuh"
#include "kernels/near.cuh"

namespace crowd::merging {

namespace {

struct VoteArguments {
  MergeArguments common;
  const float4* boxes;  ///< whose overlaps count
  PairRule rule;
  PairTest pairs;
  Admission admission;
  RuleArrays arrays;  ///< of all frames
  bool tests_pairs;
};
static_assert(sizeof(VoteArguments) <= 4096, "what a kernel takes");

/// Whether a candidate, by its number in the arrays, votes for a survivor other than itself. `box`: with which it
/// overlaps.
__device__ bool is_voter(const VoteArguments& a, const Survivor& of, const float4& of_box, std::size_t at,
                         const float4& box, float score) {
  const auto index = static_cast<std::uint32_t>(at - of.input);
  const bool better = rank_key(score, index) > rank_key(of.score(), of.index);
  const float4& hi = better ? box : of_box;
  const float4& lo = better ? of_box : box;
  if (!suppresses(hi, lo, a.rule))
    return false;
  const std::int32_t* const classes = a.common.frames.classes;
  if ((a.rule.by_class && classes[at] != classes[of.input + of.index]) ||
      a.admission.of(as_box(a.common.frames.boxes[at]), as_box(box), score,
                     a.arrays.classes ? a.arrays.classes[at] : 0) != Validity::valid)
    return false;
  return !a.tests_pairs || a.pairs.counts(better ? index : of.index, better ? of.index : index, as_box(hi), as_box(lo),
                                          a.arrays.from(of.input));
}

template <typename Sum>
__device__ void add_voters(const VoteArguments& a, const Survivor& of, Sum& sum) {
  constexpr unsigned step = 4;
  const float4 of_box = a.boxes[of.input + of.index];
  add_found<step>(of, ~0u, sum, [&](std::uint32_t first, std::uint32_t n) {
    float4 box[step];
    float score[step];
#pragma unroll
    for (unsigned s = 0; s < step; ++s) {
      const std::size_t at = of.input + min(first + s * warp_size, n - 1);
      box[s] = a.boxes[at];
      score[s] = a.common.frames.scores[at];
    }
    std::uint32_t bits = 0;
#pragma unroll
    for (unsigned s = 0; s < step; ++s) {
      const std::uint32_t i = first + s * warp_size;
      const bool votes = i < n && (i == of.index || is_voter(a, of, of_box, of.input + i, box[s], score[s]));
      bits |= static_cast<std::uint32_t>(votes) << s;
    }
    return bits;
  });
}

__global__ void __launch_bounds__(threads) write_voted(VoteArguments a) {
  __shared__ std::uint32_t lists[warps][list_room];
  pdl_wait();
  hand_out(a.common, blockIdx.y);
  if (!is_written(a.common))
    return;
  const Survivor of = survivor_of(a.common, lists);
  Sums<VoteMerge> votes;
  Sums<NoMerge> members;
  if (a.common.out.boxes)
    add_voters(a, of, votes);
  if (a.common.cluster_score != CROWD_NMS_CLUSTER_SCORE_NONE && a.common.out.scores)
    add_members(of, members);
  const float own = of.score();
  const bool scored = members.scores.count > 0;
  write(of, own_rank(), votes.row.box(as_box(of.box())),
        scored ? members.scores.score(a.common.cluster_score, own) : own);
}

}  // namespace

void launch_vote(const Call& call, const LaunchShape& shape, const MergeArguments& arguments) {
  const VoteArguments voting{arguments,
                             call.frames.boxes,
                             pair_rule(call.rule(), call.by_class()),
                             pair_test(call.params),
                             admission(call.params),
                             call.rule_arrays,
                             needs_pair_test(call.params)};
  launch_pdl(write_voted, call, shape, voting);
}

}  // namespace crowd::merging
