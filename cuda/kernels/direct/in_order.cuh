// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Decides in rank order what looks (pending.cuh) have left undecided for too long. A warp takes 32 consecutive ranks
// and decides them together, once all their other suppressors are decided: a chain costs a step for each 32 of its
// candidates, however many suppressors each has.
#pragma once

#include "kernels/chain.cuh"
#include "kernels/direct/reduce_view.cuh"

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
  const std::uint32_t vectors = ceil_div(row.suppressors(), list_step);
  for (std::uint32_t k = 0; k < vectors; ++k) {
    const uint4 entries = view.list(row.list())[k];
    for (const std::uint32_t two : {entries.x, entries.y, entries.z, entries.w}) {
      add(two & 0xffff);
      add(two >> 16);
    }
  }
  return left;
}

/// Whether a survivor of a rank below `end` suppresses candidate `index`. All of these are decided. Each lane takes
/// some words of ranks. For a whole warp.
__device__ inline bool is_suppressed_by_survivor(const View& view, std::uint32_t index, std::uint32_t end) {
  const Candidate mine = fetch(view.a, view.input, index);
  std::uint32_t word = threadIdx.x % 32;
  std::uint32_t survivors = 0;
  bool suppressed = false;
  for (std::uint32_t base = 0; __any_sync(all_lanes, survivors || base * 32 < end);) {
    if (!survivors && base * 32 < end) {
      word = base + threadIdx.x % 32;
      const std::uint32_t ranks = end - min(end, word * 32);
      survivors = ranks ? load_relaxed(&view.shared.kept[word]) & low_bits(ranks) : 0;
      base += 32;
    }
    if (survivors) {
      const std::uint32_t rank = word * 32 + static_cast<std::uint32_t>(__ffs(static_cast<int>(survivors))) - 1;
      survivors &= survivors - 1;
      suppressed = suppresses(fetch(view.a, view.input, view.found.rows[rank].index()), mine, view.a.rule);
    }
    if (__any_sync(all_lanes, suppressed))
      return true;
  }
  return false;
}

/// Decides the undecided rows among 32 consecutive ranks, a lane a rank. `decided`: a bit for each warp of the block
/// that is done; better-ranked warps have lower bits. For a whole warp.
__device__ inline void decide_ranks(const View& view, std::uint32_t rank, std::uint32_t* decided) {
  const std::uint32_t warps_before = low_bits(threadIdx.x / 32);
  const Row row = rank < view.a.frames.capacity ? view.found.rows[rank] : Row::absent();
  bool undecided = view.decision(row.index()).is_undecided();
  while (const unsigned open = __ballot_sync(all_lanes, undecided)) {
    const int best = __ffs(static_cast<int>(open)) - 1;
    PublishedDecision then = PublishedDecision::undecided(rank);
    if (__shfl_sync(all_lanes, row.is_unlisted(), best)) {
      // All better-ranked ones of the warp are decided.
      const bool all_before = __all_sync(all_lanes, (load_relaxed(decided) & warps_before) == warps_before);
      if (all_before) {
        acquire_loaded_in_block();
        const bool suppressed = is_suppressed_by_survivor(view, __shfl_sync(all_lanes, row.index(), best),
                                                          __shfl_sync(all_lanes, rank, best));
        if (static_cast<int>(threadIdx.x % 32) == best)
          then = suppressed ? PublishedDecision::suppressed() : PublishedDecision::kept(rank);
      }
    } else {
      LeftSuppressors left;
      left.elsewhere = true;
      if (undecided && !row.is_unlisted())
        left = look_at_all(view, row, rank / 32);
      const DecidedLanes decided_lanes = decide_lanes(undecided, left.kept, left.elsewhere, left.lanes);
      if (decided_lanes.kept >> threadIdx.x % 32 & 1)
        then = PublishedDecision::kept(rank);
      else if (decided_lanes.suppressed >> threadIdx.x % 32 & 1)
        then = PublishedDecision::suppressed();
    }
    if (undecided && !then.is_undecided()) {
      undecided = false;
      view.publish(row.index(), then);
      if (then.has_kept())
        view.keep_rank(rank);
    }
    __syncwarp();
  }
  if (threadIdx.x % 32 == 0)
    release_bits_in_block(decided, 1u << threadIdx.x / 32);
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
    if (threadIdx.x == 0)
      view.shared.pending = 0;
    __syncthreads();
    decide_ranks(view, base + threadIdx.x, &view.shared.pending);
  }
}

}  // namespace crowd::direct
