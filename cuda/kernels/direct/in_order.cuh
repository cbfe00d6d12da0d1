// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Decides in rank order what looks (pending.cuh) have left undecided. A warp takes 32 consecutive undecided rows, a
// group, and decides them at once when all better ones are decided, which a word of the block says: the token. 128
// steps decide any frame. Lists are read, and rows without lists compared with survivors, while their warps wait for
// the token: of suppressors in the last groups before, bits are known by then, and a step is an AND of words.
#pragma once

#include "kernels/chain.cuh"
#include "kernels/direct/pending.cuh"
#include "kernels/direct/settled.cuh"

namespace crowd::CROWD_DIRECT {

/// The token: how many groups are decided, and how many of these were kept in this order. The indices of
/// those are in Memory::members.
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

/// In Memory::representatives: of 32 consecutive ranks, those that are undecided, before these are put in order.
__device__ inline std::uint32_t* undecided_of_ranks(const View& view, std::uint32_t first) {
  return view.memory.representatives + first / 32;
}

/// In the same place, afterwards: rows of a group that are kept.
__device__ inline std::uint32_t* kept_of_group(const View& view, std::uint32_t group) {
  return view.memory.representatives + group;
}

/// Groups before its own of which a group knows the suppressors of listed rows apart: while these are decided, one
/// after another, it looks through lists for suppressors in the groups before them.
constexpr unsigned groups_before = 3;

/// A row's suppressors in its own group and in those before, the last one first: bits of lanes.
struct NearSuppressors {
  std::uint32_t own = 0, before[groups_before] = {};
};

/// Those of a listed row that are undecided. Undecided words hold places in the order.
__device__ inline NearSuppressors undecided_near(const View& view, const Row& row, std::uint32_t group) {
  NearSuppressors near;
  const auto add = [&](std::uint32_t index) {
    const PublishedDecision decision = view.decision(index);
    const std::uint32_t place = decision.index();
    const std::uint32_t bit = decision.is_undecided() ? 1u << place % 32 : 0;
    near.own |= place / 32 == group ? bit : 0;
#pragma unroll
    for (unsigned b = 0; b < groups_before; ++b)
      near.before[b] |= place / 32 + 1 + b == group ? bit : 0;
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

/// What the lanes' rows of a group know of its turn.
struct GroupRows {
  Row row;
  Candidate mine;         ///< of a row of the order, if any has no list
  bool listed, unlisted;  ///< undecided, so far: no suppressor is known to be kept
};

/// Waits until all groups before `group` are decided. Meanwhile compares the lanes' rows with survivors of all groups
/// but those that NearSuppressors are about. Returns the number of survivors. For a whole warp.
template <bool any_unlisted>
__device__ std::uint32_t wait_for_token(const View& view, std::uint32_t group, GroupRows& rows) {
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
    if (any_unlisted && !unlisted_tried) {
      unlisted_tried = token.groups() + 1 >= group;
      if (tried < token.survivors() && __any_sync(all_lanes, rows.unlisted))
        rows.unlisted = try_survivors(view, rows.mine, rows.unlisted, tried, token.survivors(), ~0u);
      tried = token.survivors();
    }
    if (token.groups() == group)
      return token.survivors();
    // Warps whose turn is far off leave the multiprocessor to the others.
    if (const std::uint32_t before = group - token.groups(); before > 1)
      sleep_about(before * tuning::direct_sleep);
  }
}

/// Suppressors near the lanes' undecided rows; of unlisted ones in their group and the last one before, but those that
/// compare_with_settled() has tried. For a whole warp.
template <bool any_unlisted>
__device__ NearSuppressors find_near(const View& view, std::uint32_t group, const GroupRows& rows) {
  NearSuppressors near;
  if (any_unlisted && __any_sync(all_lanes, rows.unlisted)) {
    near.own = overlapping(view, rows.mine, rows.unlisted, rows.mine, rows.listed || rows.unlisted) &
               low_bits(threadIdx.x % 32);
    if (group) {
      const std::uint32_t rank = view.memory.ranks[32 * (group - 1) + threadIdx.x % 32];
      const std::uint32_t index = view.found.rows[rank].index();
      const bool may = !view.decision(index).all_suppressed();
      near.before[0] =
          overlapping(view, rows.mine, rows.unlisted, may ? fetch(view.a, view.input, index) : Candidate{}, may);
    }
  }
  if (rows.listed)
    near = undecided_near(view, rows.row, group);
  return near;
}

/// Decides a group, a lane a row, and passes the token on. All that can be known before the group's turn is found out
/// before: later, all others wait. `undecided`: rows in the order. For a whole warp.
template <bool any_unlisted>
__device__ void decide_group(const View& view, std::uint32_t group, std::uint32_t undecided) {
  const std::uint32_t lane = threadIdx.x % 32;
  const bool mine = 32 * group + lane < undecided;
  const std::uint32_t rank = mine ? view.memory.ranks[32 * group + lane] : 0;
  const Row row = mine ? view.found.rows[rank] : Row::absent();
  const bool unlisted = any_unlisted && mine && row.is_unlisted();
  GroupRows rows{row, {}, mine && !unlisted, unlisted};
  if (any_unlisted && mine)
    rows.mine = fetch(view.a, view.input, row.index());
  const NearSuppressors near = find_near<any_unlisted>(view, group, rows);
  const std::uint32_t survivors = wait_for_token<any_unlisted>(view, group, rows);
  std::uint32_t kept_suppressors = 0;
#pragma unroll
  for (unsigned b = 0; b < groups_before; ++b)
    if (group > b)
      kept_suppressors |= near.before[b] & load_relaxed(kept_of_group(view, group - 1 - b));
  const std::uint32_t kept =
      keep_lanes(__ballot_sync(all_lanes, (rows.listed || rows.unlisted) && !kept_suppressors), near.own);
  const bool survives = kept >> lane & 1;
  if (mine)
    view.publish(row.index(), survives ? PublishedDecision::kept(rank) : PublishedDecision::suppressed());
  const auto better = static_cast<std::uint32_t>(__popc(kept & low_bits(lane)));
  if (survives)
    store_relaxed_shared(view.memory.members + survivors + better, row.index());
  if (lane == 0)
    store_relaxed_shared(kept_of_group(view, group), kept);
  __syncwarp();
  if (lane == 0)
    store_release_in_block(&view.shared.pending,
                           (group + 1) << 16 | (survivors + static_cast<std::uint32_t>(__popc(kept))));
  if (survives)
    view.keep_rank(rank);
}

/// Marks undecided rows by rank. Returns whether the thread saw one without a list. For a whole block.
__device__ inline bool mark_undecided(const View& view) {
  bool any_unlisted = false;
  for (std::uint32_t base = threadIdx.x / 32 * 32; base < view.a.capacity; base += blockDim.x) {
    const std::uint32_t rank = base + threadIdx.x % 32;
    const Row row = rank < view.a.capacity ? view.found.rows[rank] : Row::absent();
    const bool undecided = view.decision(row.index()).is_undecided();
    any_unlisted |= undecided && row.is_unlisted();
    const std::uint32_t word = __ballot_sync(all_lanes, undecided);
    if (threadIdx.x % 32 == 0)
      *undecided_of_ranks(view, base) = word;
  }
  return any_unlisted;
}

/// Lists the ranks of undecided rows in Memory::ranks. Their words say where. Returns how many there are. For a whole
/// block, after a barrier.
__device__ inline std::uint32_t order_undecided(const View& view) {
  const std::uint32_t groups = ceil_div(view.a.capacity, 32);
  const std::uint32_t lane = threadIdx.x % 32;
  for (std::uint32_t group = threadIdx.x / 32; group < groups; group += blockDim.x / 32) {
    const std::uint32_t word = *undecided_of_ranks(view, 32 * group);
    const std::uint32_t place = bits_before(undecided_of_ranks(view, 0), group) + lanes_before(word);
    if (word >> lane & 1) {
      const std::uint32_t rank = 32 * group + lane;
      view.memory.ranks[place] = static_cast<std::uint16_t>(rank);
      view.store(view.found.rows[rank].index(), PublishedDecision::undecided(place));
    }
  }
  return bits_before(undecided_of_ranks(view, 0), groups);
}

/// Decides `undecided` rows in order. `any_unlisted`: some have no list. For a whole block. Not inlined: registers and
/// instructions of either are kept from the other.
template <bool any_unlisted>
static __noinline__ __device__ void decide_groups(View view, std::uint32_t undecided) {
  assume_spaces(view);
  for (std::uint32_t group = threadIdx.x / 32; group * 32 < undecided; group += blockDim.x / 32)
    decide_group<any_unlisted>(view, group, undecided);
}

/// For a whole block, after a barrier. Aliases are given up: their words are replaced. Not inlined, so that this rare
/// path takes no registers from the others.
static __noinline__ __device__ void decide_in_order(View view) {
  if (threadIdx.x == 0)
    view.shared.pending = 0;
  bool any_unlisted = __syncthreads_or(mark_undecided(view));
  if (any_unlisted) {
    compare_with_settled(view);
    any_unlisted = __syncthreads_or(mark_undecided(view));
  }
  const std::uint32_t undecided = order_undecided(view);
  __syncthreads();
  if (any_unlisted)
    decide_groups<true>(view, undecided);
  else
    decide_groups<false>(view, undecided);
}

}  // namespace crowd::CROWD_DIRECT
