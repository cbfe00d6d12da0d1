// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Decides in rank order what looks (pending.cuh) have left undecided for too long. A warp takes 32 consecutive ranks
// and decides them together, once all their other suppressors are decided: a chain costs a step for each 32 of its
// candidates, however many suppressors each lists. Rows without a list go on searching.
#pragma once

#include "kernels/chain.cuh"
#include "kernels/direct/pending.cuh"

namespace crowd::direct {

/// What is left of a row's suppressors. Rows of the warp are named by their lanes.
struct LeftSuppressors {
  bool kept = false;        ///< one is kept
  bool elsewhere = false;   ///< one of another warp is undecided
  std::uint32_t lanes = 0;  ///< those of the warp that are undecided

  /// `decision`: of one of them. Undecided words hold ranks.
  __device__ void add(PublishedDecision decision, std::uint32_t warp_of_ranks) {
    kept |= decision.has_kept();
    if (!decision.is_undecided())
      return;
    const std::uint32_t rank = decision.index();
    if (rank / 32 == warp_of_ranks)
      lanes |= 1u << rank % 32;
    else
      elsewhere = true;
  }
};

/// Looks at the decisions of all suppressors of a row that has a list, or a single one.
__device__ inline LeftSuppressors look_at_all(const View& view, const Row& row, std::uint32_t warp_of_ranks) {
  LeftSuppressors left;
  if (row.has_one_suppressor()) {
    left.add(view.decision(row.best()), warp_of_ranks);
    return left;
  }
  const auto add = [&](std::uint32_t offset) { left.add(view.decision(offset / list_unit), warp_of_ranks); };
  for (std::uint32_t k = 0; k < vectors_of(row); ++k) {
    const uint4 entries = view.list(row.list())[k];
    for (const std::uint32_t two : {entries.x, entries.y, entries.z, entries.w}) {
      add(two & 0xffff);
      add(two >> 16);
    }
  }
  return left;
}

/// Decides the undecided rows among 32 consecutive ranks, a lane a rank. For a whole warp.
__device__ inline void decide_ranks(const View& view, std::uint32_t rank) {
  Row row = rank < view.a.frames.capacity ? view.found.rows[rank] : Row::absent();
  bool undecided = view.decision(row.index()).is_undecided();
  while (__any_sync(all_lanes, undecided)) {
    const bool unlisted = undecided && row.is_unlisted();
    LeftSuppressors left;
    if (undecided && !unlisted)
      left = look_at_all(view, row, rank / 32);
    const DecidedLanes decided = decide_lanes(undecided, left.kept, left.elsewhere || unlisted, left.lanes);
    PublishedDecision then = PublishedDecision::undecided(rank);
    if (decided.kept >> threadIdx.x % 32 & 1)
      then = PublishedDecision::kept(rank);
    else if (decided.suppressed >> threadIdx.x % 32 & 1)
      then = PublishedDecision::suppressed();
    then = look_for_any(view, row, unlisted, then);
    if (undecided && !then.is_undecided()) {
      undecided = false;
      view.publish(row.index(), then);
      if (then.has_kept())
        view.keep_rank(rank);
    }
    // decide_lanes() takes undecided suppressors of the warp to be among its lanes: old words must not be seen.
    __syncwarp();
  }
}

/// For a whole block, after a barrier. Aliases are given up: their words are replaced. Not inlined, so that this rare
/// path takes no registers from the others.
static __noinline__ __device__ void decide_in_order(View view) {
  const std::uint32_t capacity = view.a.frames.capacity;
  for (std::uint32_t rank = threadIdx.x; rank < capacity; rank += blockDim.x)
    if (const std::uint32_t index = view.found.rows[rank].index(); view.decision(index).is_undecided())
      view.store(index, PublishedDecision::undecided(rank));
  for (std::uint32_t base = 0; base < capacity; base += blockDim.x) {
    __syncthreads();
    decide_ranks(view, base + threadIdx.x);
  }
}

}  // namespace crowd::direct
