// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Decides in rank order what looks (pending.cuh) have left undecided. A warp takes 32 consecutive undecided rows, a
// group, and decides them at once when all better ones are decided. 128 steps decide any frame. Lists and masks are
// read before: of suppressors in the last groups before, bits are known by then, and a step is an AND of words.
#pragma once

#include "kernels/chain.cuh"
#include "kernels/direct/pending.cuh"

namespace crowd::CROWD_DIRECT {

/// In Memory::representatives: of 32 consecutive ranks, those that are undecided, before these are put in order.
__device__ inline std::uint32_t* undecided_of_ranks(const View& view, std::uint32_t first) {
  return view.memory.representatives + first / 32;
}

/// Groups of a warp at most: the reduce has a warp for so many words of ranks.
constexpr unsigned groups_a_warp = items_max;

/// Groups before its own of which a group knows the suppressors apart: while these are decided, one after another, it
/// looks through lists and masks for suppressors in the groups before them. Masks take longer.
template <bool any_masked>
constexpr unsigned groups_before = any_masked ? 4 : 3;

/// A row's suppressors in its own group and in those before, the last one first: bits of lanes.
template <bool any_masked>
struct NearSuppressors {
  std::uint32_t own = 0, before[groups_before<any_masked>] = {};
};

/// Loads them now.
template <bool any_masked>
__device__ NearSuppressors<any_masked> in_registers(const NearSuppressors<any_masked>& near) {
  NearSuppressors<any_masked> its;
  its.own = materialize(near.own);
#pragma unroll
  for (unsigned b = 0; b < groups_before<any_masked>; ++b)
    its.before[b] = materialize(near.before[b]);
  return its;
}

/// Those of a listed row that are undecided. Undecided words hold places in the order.
template <bool any_masked>
__device__ NearSuppressors<any_masked> undecided_near(const View& view, const Row& row, std::uint32_t group) {
  NearSuppressors<any_masked> near;
  const auto add = [&](std::uint32_t index) {
    const PublishedDecision decision = view.decision(index);
    const std::uint32_t back = group - decision.index() / 32;
    // Few entries are: else it takes instructions for each group.
    if (!unlikely(decision.is_undecided() && back <= groups_before<any_masked>))
      return;
    const std::uint32_t bit = 1u << decision.index() % 32;
    near.own |= back == 0 ? bit : 0;
#pragma unroll
    for (unsigned b = 0; b < groups_before<any_masked>; ++b)
      near.before[b] |= back == 1 + b ? bit : 0;
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

/// A row of a group, a lane a row.
struct GroupRow {
  std::uint32_t rank;
  Row row;
  bool mine;  ///< there is one

  __device__ bool is_masked() const {
    return mine && row.is_masked();
  }
  __device__ bool is_listed() const {
    return mine && !row.is_masked();
  }
};

__device__ inline GroupRow row_of_group(const View& view, std::uint32_t group, std::uint32_t undecided) {
  const std::uint32_t place = 32 * group + threadIdx.x % 32;
  const bool mine = place < undecided;
  const std::uint32_t rank = mine ? view.memory.ranks[place] : 0;
  return {rank, mine ? view.found.rows[rank] : Row::absent(), mine};
}

/// Whether a suppressor on the list of the lane's row is kept.
__device__ inline bool has_kept_on_list(const View& view, const Row& row) {
  return (row.has_one_suppressor() ? view.decision(row.best()) : add_list(view, row)).has_kept();
}

/// In Memory::members: room for a mask of the warp.
__device__ inline uint4* room_of_warp(const View& view, const Masks& masks) {
  return reinterpret_cast<uint4*>(view.memory.members) + threadIdx.x / 32 * masks.vectors;
}

/// Looks at the masks of a group's rows: NearSuppressors of those that have none of the candidates `kept`, and `own`
/// with the lane itself of the others. For a whole warp.
__device__ inline void find_near_in_masks(const View& view, const Masks& masks, std::uint32_t group, const uint4& kept,
                                          const GroupRow& its, NearSuppressors<true>& near) {
  const std::uint32_t lane = threadIdx.x % 32;
  uint4* const room = room_of_warp(view, masks);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(room);
  // Lanes without a row come last: no row's suppressors.
  std::uint32_t others[1 + groups_before<true>] = {its.row.index() % capacity_max};
#pragma unroll
  for (unsigned b = 0; b < groups_before<true>; ++b)
    others[1 + b] = group > b ? view.found.rows[view.memory.ranks[32 * (group - 1 - b) + lane]].index() : 0;
  const auto look = [&](unsigned lane_bit, const uint4& mask) {
    if (__any_sync(all_lanes, is_any(mask & kept))) {
      near.own |= lane_bit & 1u << lane;
      return;
    }
    __syncwarp();
    if (lane < masks.vectors)
      room[lane] = mask;
    __syncwarp();
    std::uint32_t found[1 + groups_before<true>];
#pragma unroll
    for (unsigned b = 0; b < 1 + groups_before<true>; ++b)
      found[b] = __ballot_sync(all_lanes, words[others[b] / 32] >> others[b] % 32 & 1);
    if (lane_bit != 1u << lane)
      return;
    near.own = found[0] & (lane_bit - 1);
#pragma unroll
    for (unsigned b = 0; b < groups_before<true>; ++b)
      near.before[b] = found[1 + b];
  };
  for (AskedRows rows(its.is_masked(), its.row.index()); !rows.is_empty();) {
    const MaskBatch batch(masks, rows);
#pragma unroll
    for (unsigned b = 0; b < MaskBatch::size; ++b)
      if (batch.lane_bit[b])
        look(batch.lane_bit[b], batch.mask[b]);
  }
}

/// What can be known of a group's rows before any group is decided. A row that a candidate kept before suppresses has
/// itself in `own`. For a whole warp.
template <bool any_masked>
__device__ NearSuppressors<any_masked> look_near(const View& view, const Masks& masks, std::uint32_t group,
                                                 std::uint32_t undecided, const uint4& kept) {
  const GroupRow its = row_of_group(view, group, undecided);
  NearSuppressors<any_masked> near;
  if (its.is_listed())
    near = undecided_near<any_masked>(view, its.row, group);
  if constexpr (any_masked)
    find_near_in_masks(view, masks, group, kept, its, near);
  return near;
}

/// Whether the mask of a lane's row, if `asked`, has one of the candidates that were `added` to the kept ones. For a
/// whole warp.
__device__ inline bool has_new_in_mask(const Masks& masks, bool asked, std::uint32_t index, const uint4& added) {
  // A word of each of 32 rows is in 32 cache lines, a whole mask in four.
  constexpr unsigned few = 8;
  return count_words(added) <= few ? has_one_of_few_in_mask(masks, asked, index, added)
                                   : has_any_in_mask(masks, asked, index, added);
}

/// Waits until decisions of at least `groups` groups are published. For a whole warp.
__device__ inline void wait_for_published(const View& view, std::uint32_t groups) {
  for (;;) {
    const std::uint32_t published = __shfl_sync(all_lanes, load_relaxed(&view.shared.published), 0);
    acquire_in_block();
    __syncwarp();
    if (published >= groups)
      return;
    // Warps whose turn is far off leave the multiprocessor to the others.
    if (const std::uint32_t before = groups - published; before > 1)
      sleep_about(before * tuning::direct_sleep);
  }
}

/// Waits until a group is decided; returns which of its rows are kept. For a whole warp.
__device__ inline std::uint32_t wait_for_kept(const View& view, std::uint32_t group) {
  for (;;) {
    const std::uint32_t kept = load_relaxed(&view.shared.kept_of_group[group][0]);
    const std::uint32_t complement = load_relaxed(&view.shared.kept_of_group[group][1]);
    // True of no pair of zeros and the final words but the final one, so that no fence is needed.
    if (__all_sync(all_lanes, complement == ~kept))
      return kept;
  }
}

/// Stores what wait_for_kept() waits for. For a whole warp.
__device__ inline void store_kept(const View& view, std::uint32_t group, std::uint32_t kept) {
  const std::uint32_t lane = threadIdx.x % 32;
  if (lane < 2)
    store_relaxed_shared(&view.shared.kept_of_group[group][lane], lane ? ~kept : kept);
}

/// Whether the lane's row is open, as far as that can be known when few groups before are not decided. `seen`: kept
/// when look_near() ran. For a whole warp.
template <bool any_masked>
__device__ bool is_open_before(const View& view, const Masks& masks, std::uint32_t group, const GroupRow& its,
                               bool is_open, uint4 seen) {
  constexpr unsigned count = groups_before<any_masked>;
  // An early look brings masks and lists to the L1 cache: the last one takes less time.
  constexpr unsigned looks = any_masked ? 2 : 1;
#pragma unroll 1
  for (unsigned look = looks; look-- > 0;) {
    const unsigned ahead = (1 + look) * count + 2 * look;
    wait_for_published(view, group > ahead ? group - ahead : 0);
    if constexpr (any_masked) {
      const uint4 kept = kept_vector(view);
      const bool suppressed = has_new_in_mask(masks, is_open && its.is_masked(), its.row.index(), kept & ~seen);
      is_open &= !suppressed;
      seen = kept;
    }
    if (is_open && its.is_listed())
      is_open = !has_kept_on_list(view, its.row);
  }
  return is_open;
}

/// Publishes the decisions of a group. For a whole warp.
template <bool any_masked>
__device__ void publish_group(const View& view, std::uint32_t group, const GroupRow& its, std::uint32_t kept) {
  const bool survives = kept >> threadIdx.x % 32 & 1;
  const PublishedDecision decision = survives ? PublishedDecision::kept(its.rank) : PublishedDecision::suppressed();
  if (its.mine)
    view.publish(its.row.index(), decision);
  if (any_masked && survives)
    mark_index(view, its.row.index(), decision);
  if (survives)
    view.keep_rank(its.rank);
  wait_for_published(view, group);
  if (threadIdx.x % 32 == 0)
    store_release_in_block(&view.shared.published, group + 1);
}

/// Decides a group, a lane a row. `near`: what look_near() found, given the candidates `seen` to be kept. `undecided`:
/// rows in the order. For a whole warp.
template <bool any_masked>
__device__ void decide_group(const View& view, const Masks& masks, std::uint32_t group, std::uint32_t undecided,
                             const NearSuppressors<any_masked>& near, const uint4& seen) {
  const GroupRow its = row_of_group(view, group, undecided);
  bool is_open = its.mine && !(near.own >> threadIdx.x % 32 & 1);
  is_open = is_open_before<any_masked>(view, masks, group, its, is_open, seen);
  const NearSuppressors<any_masked> its_near = in_registers(near);
#pragma unroll
  for (unsigned b = groups_before<any_masked>; b-- > 0;)
    if (group > b)
      is_open &= !(its_near.before[b] & wait_for_kept(view, group - 1 - b));
  // All others wait from here until the group's decisions are stored.
  const std::uint32_t kept = keep_lanes(__ballot_sync(all_lanes, is_open), its_near.own);
  store_kept(view, group, kept);
  publish_group<any_masked>(view, group, its, kept);
}

/// Marks undecided rows by rank. Returns whether the thread has marked a masked row. For a whole block.
__device__ inline bool mark_undecided(const View& view) {
  bool any_masked = false;
  for (std::uint32_t base = threadIdx.x / 32 * 32; base < view.a.capacity; base += blockDim.x) {
    const std::uint32_t rank = base + threadIdx.x % 32;
    const Row row = rank < view.a.capacity ? view.found.rows[rank] : Row::absent();
    const bool undecided = view.decision(row.index()).is_undecided();
    any_masked |= undecided && row.is_masked();
    const std::uint32_t word = __ballot_sync(all_lanes, undecided);
    if (threadIdx.x % 32 == 0)
      *undecided_of_ranks(view, base) = word;
  }
  return any_masked;
}

/// Bits of the words before number `end`. For a whole warp.
__device__ inline std::uint32_t bits_before(const std::uint32_t* words, std::uint32_t end) {
  std::uint32_t sum = 0;
  for (std::uint32_t k = threadIdx.x % 32; k < end; k += 32)
    sum += static_cast<std::uint32_t>(__popc(words[k]));
  return warp_sum(sum);
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

/// Decides `undecided` rows in order. `any_masked`: some have a mask. For a whole block. Not inlined: registers and
/// instructions of either are kept from the other.
template <bool any_masked>
static __noinline__ __device__ void decide_groups(View view, std::uint32_t undecided) {
  assume_spaces(view);
  const std::uint32_t first = threadIdx.x / 32, warps = blockDim.x / 32;
  const Masks masks(view);
  const uint4 seen = any_masked ? kept_vector(view) : uint4{};
  // Masks are looked at before the first decision: a warp that decides has the multiprocessor to itself.
  constexpr unsigned ahead = any_masked ? groups_a_warp : 1;
  NearSuppressors<any_masked> near[ahead];
  for (std::uint32_t group = first; group * 32 < undecided;) {
#pragma unroll 1
    for (std::uint32_t k = 0; k < ahead && (group + k * warps) * 32 < undecided; ++k)
      near[k] = look_near<any_masked>(view, masks, group + k * warps, undecided, seen);
#pragma unroll 1
    for (std::uint32_t k = 0; k < ahead && group * 32 < undecided; ++k, group += warps)
      decide_group<any_masked>(view, masks, group, undecided, near[k], seen);
  }
}

/// For a whole block, after a barrier. Aliases are given up: their words are replaced. Not inlined, so that this rare
/// path takes no registers from the others.
static __noinline__ __device__ void decide_in_order(View view) {
  assume_spaces(view);
  if (threadIdx.x == 0)
    view.shared.published = 0;
  for (std::uint32_t group = threadIdx.x; group < capacity_max / 32; group += blockDim.x)
    view.shared.kept_of_group[group][0] = view.shared.kept_of_group[group][1] = 0;
  mark_indices(view);
  __syncthreads();
  const bool any_masked = __syncthreads_or(mark_undecided(view));
  const std::uint32_t undecided = order_undecided(view);
  __syncthreads();
  if (any_masked)
    decide_groups<true>(view, undecided);
  else
    decide_groups<false>(view, undecided);
}

}  // namespace crowd::CROWD_DIRECT
