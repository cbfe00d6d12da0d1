// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Decides in rank order what looks (pending.cuh) have left undecided for too long. A warp takes 32 consecutive ranks
// and decides them at once when all better ranks are decided, which a word of the block says: the token. So a step
// reads each list once, and 128 steps decide any frame. A row without a list is compared with each survivor once, most
// of them while its warp waits for the token.
#pragma once

#include <cmath>

#include "kernels/chain.cuh"
#include "kernels/direct/pending.cuh"

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

/// Of numbers.
__device__ inline float min_of_lanes(float value) {
  return key_score(warp_min(number_key(value)));
}

/// The box around the boxes of lanes that are `open`. For a whole warp.
__device__ inline float4 hull_of_lanes(const float4& box, bool open) {
  return {min_of_lanes(open ? box.x : INFINITY), min_of_lanes(open ? box.y : INFINITY),
          -min_of_lanes(open ? -box.z : INFINITY), -min_of_lanes(open ? -box.w : INFINITY)};
}

/// Whether two boxes meet along an axis.
__device__ inline bool meet_along(float from, float to, float other_from, float other_to, float offset) {
  return fminf(to, other_to) - fmaxf(from, other_from) + offset > 0;
}

/// False if `box` intersects none of the boxes within `hull`: rounding is monotone.
__device__ inline bool may_meet(const float4& box, const float4& hull, float offset) {
  return meet_along(box.x, box.z, hull.x, hull.z, offset) && meet_along(box.y, box.w, hull.y, hull.w, offset);
}

/// Widths and heights of boxes.
struct Extents {
  float min_width, max_width, min_height, max_height;
};

/// Of the boxes of lanes that are `open`. For a whole warp.
__device__ inline Extents extents_of_lanes(const float4& box, bool open, float offset) {
  const float w = width(box, offset), h = height(box, offset);
  return {min_of_lanes(open ? w : INFINITY), -min_of_lanes(open ? -w : INFINITY), min_of_lanes(open ? h : INFINITY),
          -min_of_lanes(open ? -h : INFINITY)};
}

/// False if `box` overlaps no box of such extents: PairRule::reach bounds the ratio of extents.
__device__ inline bool may_fit(const float4& box, const Extents& others, const PairRule& rule) {
  const float w = width(box, rule.overlap.offset);
  const float h = height(box, rule.overlap.offset);
  if (w * h < tiny_area || others.min_width * others.min_height < tiny_area || !(rule.reach < INFINITY))
    return true;
  const float ratio = (1 + 2 * rule.reach) * (1 + 1e-5f);
  return w * ratio >= others.min_width && h * ratio >= others.min_height && others.max_width * ratio >= w &&
         others.max_height * ratio >= h;
}

/// Compares the lanes' rows that are `open` with survivors `from` to `end` - 1. Returns whether the lane's row is still
/// open. For a whole warp.
__device__ inline bool try_new_survivors(const View& view, const Candidate& mine, bool open, std::uint32_t from,
                                         std::uint32_t end) {
  const PairRule& rule = view.a.rule;
  const float4 hull = hull_of_lanes(mine.box, open);
  const Extents extents = extents_of_lanes(mine.box, open, rule.overlap.offset);
  for (std::uint32_t base = from; base < end && __any_sync(all_lanes, open); base += 32) {
    const std::uint32_t place = base + threadIdx.x % 32;
    Candidate survivor{};
    if (place < end)
      survivor = fetch(view.a, view.input, load_relaxed(view.memory.members + place));
    const bool near = place < end && (rule.disjoint_too || (may_meet(survivor.box, hull, rule.overlap.offset) &&
                                                            may_fit(survivor.box, extents, rule)));
    for (unsigned todo = __ballot_sync(all_lanes, near); todo; todo &= todo - 1) {
      const int lane = __ffs(static_cast<int>(todo)) - 1;
      const float left = __shfl_sync(all_lanes, survivor.box.x, lane);
      const float right = __shfl_sync(all_lanes, survivor.box.z, lane);
      const bool meets = rule.disjoint_too || meet_along(left, right, mine.box.x, mine.box.z, rule.overlap.offset);
      if (!__any_sync(all_lanes, open && meets))
        continue;
      const float4 box = {left, __shfl_sync(all_lanes, survivor.box.y, lane), right,
                          __shfl_sync(all_lanes, survivor.box.w, lane)};
      const std::int32_t label = __shfl_sync(all_lanes, survivor.label, lane);
      Candidate other = {box, 0, 0, label};
      if constexpr (has_rules)
        other.index = __shfl_sync(all_lanes, survivor.index, lane);
      if (open && (!rule.by_class || label == mine.label) && overlaps(view.a, view.input, other, mine))
        open = false;
    }
  }
  return open;
}

/// Suppressors among the candidates that lanes have the `index` of, of lanes in `others`, for the lanes that are
/// `open`. For a whole warp.
__device__ inline std::uint32_t suppressors_among(const View& view, const Candidate& mine, bool open,
                                                  std::uint32_t index, std::uint32_t others) {
  std::uint32_t lanes = 0;
  for (std::uint32_t todo = others; todo; todo &= todo - 1) {
    const int lane = __ffs(static_cast<int>(todo)) - 1;
    const std::uint32_t other = __shfl_sync(all_lanes, index, lane);
    if (open && suppresses(view.a, view.input, fetch(view.a, view.input, other), mine))
      lanes |= 1u << lane;
  }
  return lanes;
}

/// What the lanes' rows of a group know of its turn.
struct GroupRows {
  Row row;
  Candidate mine;         ///< of an unlisted row
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
      if (__any_sync(all_lanes, rows.unlisted))
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

/// Suppressors near the lanes' undecided rows; of unlisted ones in their group and the last one before. For a whole
/// warp.
__device__ inline NearSuppressors find_near(const View& view, std::uint32_t group, const GroupRows& rows,
                                            std::uint32_t may_suppress) {
  NearSuppressors near;
  if (__any_sync(all_lanes, rows.unlisted)) {
    near.own = suppressors_among(view, rows.mine, rows.unlisted, rows.row.index(), may_suppress);
    if (group) {
      const std::uint32_t index = view.found.rows[32 * (group - 1) + threadIdx.x % 32].index();
      near.before[0] = suppressors_among(view, rows.mine, rows.unlisted, index,
                                         __ballot_sync(all_lanes, !view.decision(index).all_suppressed()));
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
  const Row row = rank < view.a.frames.capacity ? view.found.rows[rank] : Row::absent();
  const PublishedDecision before = view.decision(row.index());
  const bool undecided = before.is_undecided();
  GroupRows rows{row, {}, undecided && !row.is_unlisted(), undecided && row.is_unlisted()};
  rows.mine.index = row.index();
  if (rows.unlisted)
    rows.mine = fetch(view.a, view.input, row.index());
  const std::uint32_t settled = __ballot_sync(all_lanes, before.has_kept());
  const NearSuppressors near = find_near(view, group, rows, settled | __ballot_sync(all_lanes, undecided));
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
  const std::uint32_t capacity = view.a.frames.capacity;
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
