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

/// Whether two boxes have points in common. Where others may overlap, too: always.
__device__ bool may_overlap(const float4& one, const float4& other, const PairRule& rule) {
  const float w = fminf(one.z, other.z) - fmaxf(one.x, other.x) + rule.overlap.offset;
  const float h = fminf(one.w, other.w) - fmaxf(one.y, other.y) + rule.overlap.offset;
  return ((w > 0) & (h > 0)) | rule.disjoint_too;
}

/// Whether the candidate `index` of the frame votes for a survivor. `of_box`: with which that overlaps, `of_key`: its
/// rank key.
__device__ bool is_voter(const VoteArguments& a, const Survivor& of, const float4& of_box, std::uint64_t of_key,
                         std::uint32_t index) {
  if (index == of.index)
    return true;
  const std::size_t at = of.input + index;
  const float4 box = a.boxes[at];
  const float score = a.common.frames.scores[at];
  const bool better = rank_key(score, index) > of_key;
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
  constexpr unsigned step = 8;
  const float4 of_box = a.boxes[of.input + of.index];
  const std::uint64_t of_key = rank_key(of.score(), of.index);
  add_found<step>(of, ~0u, sum, [&](std::uint32_t first, std::uint32_t n) {
    float4 box[step];
#pragma unroll
    for (unsigned s = 0; s < step; ++s)
      box[s] = a.boxes[of.input + min(first + s * warp_size, n - 1)];
    std::uint32_t near = 0;
#pragma unroll
    for (unsigned s = 0; s < step; ++s)
      near |= static_cast<std::uint32_t>(first + s * warp_size < n && may_overlap(of_box, box[s], a.rule)) << s;
    std::uint32_t bits = 0;
    for (; near; near &= near - 1) {
      const unsigned s = static_cast<unsigned>(__ffs(static_cast<int>(near))) - 1;
      bits |= static_cast<std::uint32_t>(is_voter(a, of, of_box, of_key, first + s * warp_size)) << s;
    }
    return bits;
  });
}

__device__ void write_voted_of(const VoteArguments& a, const Survivor& of) {
  Sums<VoteMerge> votes;
  Sums<NoMerge> members;
  if (a.common.out.boxes)
    add_voters(a, of, votes);
  if (a.common.cluster_score != CROWD_NMS_CLUSTER_SCORE_NONE && a.common.out.scores)
    add_members(of, members);
  const float own = of.score();
  const bool scored = members.scores.count > 0;
  write(of, own_rank(), votes.row.edge(of.edge()), scored ? members.scores.score(a.common.cluster_score, own) : own);
}

__global__ void __launch_bounds__(threads) write_voted(VoteArguments a) {
  __shared__ MergeScratch scratch[warps];
  pdl_wait();
  if (is_written(a.common))
    write_voted_of(a, survivor_of(a.common, scratch));
  hand_out(a.common, blockIdx.y);
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
