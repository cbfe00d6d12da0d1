// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A candidate that resolve() decides on: its list of suppressors, looks at their decisions, and how the list is made
// anew.
#pragma once

#include "kernels/staged/left.cuh"
#include "kernels/staged/window.cuh"

namespace crowd::CROWD_STAGED {

/// A thread's candidate.
struct Pending {
  std::uint32_t place;
  Decision decision;
  std::uint32_t suppressor[SuppressorList::room];
  std::uint32_t undecided_suppressors;  ///< a bit for each listed suppressor that is not known to be suppressed
  bool more;                            ///< there may be suppressors that are not listed
  std::uint32_t window;                 ///< Walk::cost() of its window, once measured; 0 before

  __device__ Pending(std::uint32_t at, Decision known)
      : place(at), decision(known), suppressor{}, undecided_suppressors(0), more(false), window(0) {}
  __device__ void take(const SuppressorList& list) {
    undecided_suppressors = (1u << list.count()) - 1;
    more = list.more();
#pragma unroll
    for (unsigned r = 0; r < SuppressorList::room; ++r)
      suppressor[r] = list.position(r);
  }
  __device__ bool is_undecided() const {
    return !decision.is_decided();
  }
  /// No listed suppressor is kept or undecided, but there may be others.
  __device__ bool is_used_up() const {
    return is_undecided() && more && !undecided_suppressors;
  }
};

/// Updates the candidate's decision from those of its listed suppressors, and publishes it if it has changed.
__device__ inline void look(const Stage& stage, Pending& pending) {
  const Decision before = pending.decision;
  if (pending.decision.is_alias()) {
    pending.decision = pending.decision.follow(stage.decision(pending.decision.position()));
  } else {
    // All loads precede the first test.
    std::uint32_t decision[SuppressorList::room];
#pragma unroll
    for (unsigned r = 0; r < SuppressorList::room; ++r)
      decision[r] =
          (pending.undecided_suppressors >> r & 1 ? stage.decision(pending.suppressor[r]) : Decision::suppressed())
              .word();
    std::uint32_t only = 0;
    std::uint32_t undecided = 0;
    bool suppressed = false;
#pragma unroll
    for (unsigned r = 0; r < SuppressorList::room; ++r) {
      const bool possible = !Decision::of_word(decision[r]).is_suppressed();
      suppressed |= Decision::of_word(decision[r]).is_kept();
      undecided |= static_cast<unsigned>(possible) << r;
      only = possible ? pending.suppressor[r] : only;
    }
    pending.undecided_suppressors = undecided;
    if (suppressed)
      pending.decision = Decision::suppressed();
    else if (!pending.undecided_suppressors && !pending.more)
      pending.decision = Decision::kept();
    else if (!pending.more && !(pending.undecided_suppressors & (pending.undecided_suppressors - 1)))
      pending.decision = Decision::alias(only, false);
  }
  if (pending.decision.word() != before.word())
    stage.decide(pending.place, pending.decision);
}

/// Lists the suppressors of the candidate of `lane` anew, leaving out those that are suppressed by now. Returns how
/// many places that took, as Walk::cost(). For a whole warp.
__device__ inline std::uint32_t refill(const Stage& stage, Pending& pending, NumberQueue& queue, int lane) {
  const Subject its = stage.subject(__shfl_sync(all_lanes, pending.place, lane));
  std::uint64_t best = 0;
  std::uint64_t second = 0;
  std::uint32_t found = 0;
  const auto glance = [&](std::uint32_t suppressor) { return stage.decision(suppressor).word(); };
  const auto visit = [&](std::uint32_t suppressor, std::uint64_t key, std::uint32_t word) {
    const Decision decision = Decision::of_word(word);
    if (decision.is_suppressed())
      return false;
    const std::uint64_t entry = by_score(key, suppressor);
    second = max(second, min(best, entry));
    best = max(best, entry);
    ++found;
    return decision.is_kept();
  };
  bool suppressed = false;
  std::uint32_t cost = __shfl_sync(all_lanes, pending.window, lane);
  if (const std::uint32_t left = stage.left()) {
    cost = Walk::row_cost +
           visit_left(stage, left_of(stage), left, queue, its,
                      [&](std::uint32_t place, std::uint64_t key) { suppressed |= visit(place, key, glance(place)); });
    suppressed = __any_sync(all_lanes, suppressed);
  } else {
    suppressed = visit_suppressors_by_warp(stage, Walk(stage, its), its, glance, visit);
  }
  found = warp_sum(found);
  const bool is_owner = static_cast<int>(threadIdx.x % warp_size) == lane;
  std::uint32_t count = 0;
#pragma unroll
  for (unsigned r = 0; r < SuppressorList::room; ++r) {
    const std::uint64_t top = warp_max(best);
    if (top && top == best) {
      best = second;
      second = 0;
    }
    if (is_owner)
      pending.suppressor[r] = static_cast<std::uint32_t>(top);
    count += top != 0;
  }
  if (!is_owner)
    return cost;
  pending.undecided_suppressors = (1u << count) - 1;
  pending.more = found > count;
  if (suppressed || !found) {
    pending.decision = suppressed ? Decision::suppressed() : Decision::kept();
    stage.decide(pending.place, pending.decision);
  }
  return cost;
}

/// Whether the candidate's list is used up and can be made anew: from its window, unless that is too large, or where
/// the candidates that are left of a crowd are listed.
__device__ inline bool can_refill(const Stage& stage, Pending& pending) {
  if (!pending.is_used_up())
    return false;
  if (stage.left())
    return true;
  if (!pending.window)
    pending.window = Walk(stage, stage.subject(pending.place)).cost(tuning::staged_refill_window + 1);
  return pending.window <= tuning::staged_refill_window;
}

/// Looks, and refills lists that are used up, while `places` of the warp's last. For a whole warp.
__device__ inline void look_and_refill(const Stage& stage, Pending& pending, NumberQueue& queue,
                                       std::uint32_t& places) {
  if (pending.is_undecided())
    look(stage, pending);
  for (unsigned todo = __ballot_sync(all_lanes, places && can_refill(stage, pending)); todo && places; todo &= todo - 1)
    places -= min(places, refill(stage, pending, queue, __ffs(static_cast<int>(todo)) - 1));
}

}  // namespace crowd::CROWD_STAGED
