// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Decides in rank order what looks (pending.cuh) have left undecided for too long. A warp takes 32 consecutive ranks
// and decides them at once when all better ranks are decided, which a word of the block says: the token. 128 steps
// decide any frame. Lists are read, and rows without lists compared with survivors, while their warps wait for the
// token: of suppressors in the last groups before, bits are known by then, and a step is an AND of words.
#pragma once

#include "kernels/chain.cuh"
#include "kernels/direct/pending.cuh"
#include "kernels/hull.cuh"

namespace crowd::CROWD_DIRECT {

/// The token: how many groups of 32 ranks are decided, and how many survivors these have. The survivors' indices are in
/// Memory::members.
struct Token {
  std::uint32_t word;

  __device__ static Token load(const View& view) {
    return {load_relaxed(&view.shared.pending)};
  }
  __device__ std::uint32_t groups() const {
    return word >> 16;
  }
  __device__ std::uint32_t survivors() const {
    return word & 0xffff;
  }
};

/// Groups before its own of which a group knows the suppressors of listed rows apart: while these are decided, one
/// after another, it looks through lists for suppressors in the groups before them.
constexpr unsigned groups_before = 3;

/// A row's suppressors in its own group of ranks and in those before, the last one first: bits of lanes.
struct NearSuppressors {
  std::uint32_t own = 0, before[groups_before] = {};
};

/// Those of a listed row that are undecided. Undecided words hold ranks.
__device__ inline NearSuppressors undecided_near(const View& view, const Row& row, std::uint32_t group) {
  NearSuppressors near;
  const auto add = [&](std::uint32_t index) {
    const PublishedDecision decision = view.decision(index);
    const std::uint32_t rank = decision.index();
    const std::uint32_t bit = decision.is_undecided() ? 1u << rank % 32 : 0;
    near.own |= rank / 32 == group ? bit : 0;
#pragma unroll
    for (unsigned b = 0; b < groups_before; ++b)
      near.before[b] |= rank / 32 + 1 + b == group ? bit : 0;
  };
  if (row.has_one_suppressor()) {
    add(row.best());
    return near;
  }
  for (std::uint32_t k = 0; k < vectors_of(row); ++k) {
    const uint4 entries = view.list(row.list())[k];
    for (const std::uint32_t two : {entries.x, entries.y, entries.z, entries.w}) {
      add((two & 0xffff) / list_unit);
      add((two >> 16) / list_unit);
    }
  }
  return near;
}

/// Whether a suppressor of a listed row is kept.
__device__ inline bool has_kept_suppressor(const View& view, const Row& row) {
  return (row.has_one_suppressor() ? view.decision(row.best()) : add_list(view, row)).has_kept();
}

__device__ inline Candidate from_lane(const Candidate& of, int lane) {
  Candidate its{};
  its.box = {__shfl_sync(all_lanes, of.box.x, lane), __shfl_sync(all_lanes, of.box.y, lane),
             __shfl_sync(all_lanes, of.box.z, lane), __shfl_sync(all_lanes, of.box.w, lane)};
  its.label = __shfl_sync(all_lanes, of.label, lane);
  if constexpr (has_rules)
    its.index = __shfl_sync(all_lanes, of.index, lane);
  return its;
}

/// overlapping(), one of the others after another.
__device__ inline std::uint32_t overlapping_by_others(const View& view, const Candidate& mine, bool open,
                                                      const Candidate& other, unsigned others) {
  const PairRule& rule = view.a.rule;
  std::uint32_t found = 0;
  for (unsigned todo = others; todo; todo &= todo - 1) {
    const int lane = __ffs(static_cast<int>(todo)) - 1;
    const float left = __shfl_sync(all_lanes, other.box.x, lane);
    const float right = __shfl_sync(all_lanes, other.box.z, lane);
    const bool meets = rule.disjoint_too || meet_along(left, right, mine.box.x, mine.box.z, rule.overlap.offset);
    if (!__any_sync(all_lanes, open && meets))
      continue;
    const Candidate its = from_lane(other, lane);
    if (open && (!rule.by_class || its.label == mine.label) && overlaps(view.a, view.input, its, mine))
      found |= 1u << lane;
  }
  return found;
}

/// overlapping(), one of the lanes' own after another.
__device__ inline std::uint32_t overlapping_by_rows(const View& view, const Candidate& mine, unsigned rows,
                                                    const Candidate& other, bool asked) {
  std::uint32_t found = 0;
  for (unsigned todo = rows; todo; todo &= todo - 1) {
    const int lane = __ffs(static_cast<int>(todo)) - 1;
    const Candidate its = from_lane(mine, lane);
    const bool hit =
        asked && (!view.a.rule.by_class || other.label == its.label) && overlaps(view.a, view.input, other, its);
    const std::uint32_t hits = __ballot_sync(all_lanes, hit);
    found = static_cast<int>(threadIdx.x % 32) == lane ? hits : found;
  }
  return found;
}

/// For lanes that are `open`: bits of lanes whose candidate `other`, if it is `asked` for, overlaps the lane's own. For
/// a whole warp.
__device__ inline std::uint32_t overlapping(const View& view, const Candidate& mine, bool open, const Candidate& other,
                                            bool asked) {
  const unsigned rows = __ballot_sync(all_lanes, open);
  const unsigned others = __ballot_sync(all_lanes, asked);
  return __popc(others) <= __popc(rows) ? overlapping_by_others(view, mine, open, other, others)
                                        : overlapping_by_rows(view, mine, rows, other, asked);
}

/// False if the lane's `box` overlaps none of the boxes that lanes have `near`. True if these are few. For a whole
/// warp.
__device__ inline bool may_overlap_any(const float4& box, const float4& others, bool near, const PairRule& rule) {
  constexpr int few = 4;
  return __popc(__ballot_sync(all_lanes, near)) <= few ||
         may_overlap(box, hull_of_lanes(others, near, rule.overlap.offset), rule);
}

/// Compares the lanes' rows that are `open` with survivors `from` to `end` - 1. Returns whether the lane's row is still
/// open. For a whole warp.
__device__ inline bool try_new_survivors(const View& view, const Candidate& mine, bool open, std::uint32_t from,
                                         std::uint32_t end) {
  const PairRule& rule = view.a.rule;
  const Hull hull = hull_of_lanes(mine.box, open, rule.overlap.offset);
  for (std::uint32_t base = from; base < end && __any_sync(all_lanes, open); base += 32) {
    const std::uint32_t place = base + threadIdx.x % 32;
    Candidate survivor{};
    if (place < end)
      survivor = fetch(view.a, view.input, load_relaxed(view.memory.members + place));
    const bool near = place < end && may_overlap(survivor.box, hull, rule);
    const bool may = may_overlap_any(mine.box, survivor.box, near, rule);
    open &= !overlapping(view, mine, open && may, survivor, near);
  }
  return open;
}

/// What the lanes' rows of a group know of its turn.
struct GroupRows {
  Row row;
  Candidate mine;         ///< of a row that is kept or undecided
  bool listed, unlisted;  ///< undecided, so far: no suppressor is known to be kept
};

/// Waits until all groups before `group` are decided. Meanwhile compares the lanes' rows with survivors of all groups
/// but those that NearSuppressors are about. Returns the number of survivors. For a whole warp.
__device__ inline std::uint32_t wait_for_token(const View& view, std::uint32_t group, GroupRows& rows) {
  bool listed_tried = false, unlisted_tried = false;
  for (std::uint32_t tried = 0;;) {
    // All lanes must see the same token.
    const Token token{__shfl_sync(all_lanes, Token::load(view).word, 0)};
    acquire_in_block();
    __syncwarp();
    if (!listed_tried && token.groups() + groups_before >= group) {
      listed_tried = true;
      if (rows.listed)
        rows.listed = !has_kept_suppressor(view, rows.row);
    }
    if (!unlisted_tried) {
      unlisted_tried = token.groups() + 1 >= group;
      if (tried < token.survivors() && __any_sync(all_lanes, rows.unlisted))
        rows.unlisted = try_new_survivors(view, rows.mine, rows.unlisted, tried, token.survivors());
      tried = token.survivors();
    }
    if (token.groups() == group)
      return token.survivors();
    // Warps whose turn is far off leave the multiprocessor to the others.
    if (const std::uint32_t before = group - token.groups(); before > 1)
      sleep_about(before * tuning::direct_sleep);
  }
}

/// Suppressors near the lanes' undecided rows; of unlisted ones in their group and the last one before. `may_suppress`:
/// whether the lane's own row may. For a whole warp.
__device__ inline NearSuppressors find_near(const View& view, std::uint32_t group, const GroupRows& rows,
                                            bool may_suppress) {
  NearSuppressors near;
  if (__any_sync(all_lanes, rows.unlisted)) {
    near.own = overlapping(view, rows.mine, rows.unlisted, rows.mine, may_suppress) & low_bits(threadIdx.x % 32);
    if (group) {
      const std::uint32_t index = view.found.rows[32 * (group - 1) + threadIdx.x % 32].index();
      const bool may = !view.decision(index).all_suppressed();
      near.before[0] =
          overlapping(view, rows.mine, rows.unlisted, may ? fetch(view.a, view.input, index) : Candidate{}, may);
    }
  }
  if (rows.listed)
    near = undecided_near(view, rows.row, group);
  return near;
}

/// Decides 32 consecutive ranks, a lane a rank, and passes the token on. All that can be known before the group's turn
/// is found out before: later, all others wait. For a whole warp.
__device__ inline void decide_group(const View& view, std::uint32_t group) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t rank = 32 * group + lane;
  const Row row = rank < view.a.capacity ? view.found.rows[rank] : Row::absent();
  const PublishedDecision before = view.decision(row.index());
  const bool undecided = before.is_undecided();
  GroupRows rows{row, {}, undecided && !row.is_unlisted(), undecided && row.is_unlisted()};
  const bool may_suppress = undecided || before.has_kept();
  if (may_suppress)
    rows.mine = fetch(view.a, view.input, row.index());
  const std::uint32_t settled = __ballot_sync(all_lanes, before.has_kept());
  const NearSuppressors near = find_near(view, group, rows, may_suppress);
  const std::uint32_t survivors = wait_for_token(view, group, rows);
  std::uint32_t kept_suppressors = near.own & settled;
#pragma unroll
  for (unsigned b = 0; b < groups_before; ++b)
    if (group > b)
      kept_suppressors |= near.before[b] & load_relaxed(&view.shared.kept[group - 1 - b]);
  const std::uint32_t kept =
      keep_lanes(__ballot_sync(all_lanes, (rows.listed || rows.unlisted) && !kept_suppressors), near.own);
  const std::uint32_t survive = kept | settled;
  const bool survives = survive >> lane & 1;
  if (undecided)
    view.publish(row.index(), survives ? PublishedDecision::kept(rank) : PublishedDecision::suppressed());
  const auto better = static_cast<std::uint32_t>(__popc(survive & low_bits(lane)));
  if (survives)
    store_relaxed_shared(view.memory.members + survivors + better, row.index());
  __syncwarp();
  if (lane == 0) {
    if (kept)
      atomicOr(&view.shared.kept[group], kept);
    store_release_in_block(&view.shared.pending,
                           (group + 1) << 16 | (survivors + static_cast<std::uint32_t>(__popc(survive))));
  }
}

/// For a whole block, after a barrier. Aliases are given up: their words are replaced. Not inlined, so that this rare
/// path takes no registers from the others.
static __noinline__ __device__ void decide_in_order(View view) {
  const std::uint32_t capacity = view.a.capacity;
  for (std::uint32_t rank = threadIdx.x; rank < capacity; rank += blockDim.x)
    if (const std::uint32_t index = view.found.rows[rank].index(); view.decision(index).is_undecided())
      view.store(index, PublishedDecision::undecided(rank));
  if (threadIdx.x == 0)
    view.shared.pending = 0;
  __syncthreads();
  for (std::uint32_t group = threadIdx.x / 32; group * 32 < capacity; group += blockDim.x / 32)
    decide_group(view, group);
}

}  // namespace crowd::CROWD_DIRECT
