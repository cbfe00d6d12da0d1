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
  std::uint32_t window;                 ///< places in its window, once measured; 0 before
  std::uint32_t places_left;            ///< as many may still be looked at to list suppressors anew

  __device__ Pending(std::uint32_t at, Decision known)
      : place(at),
        decision(known),
        suppressor{},
        undecided_suppressors(0),
        more(false),
        window(0),
        places_left(tuning::staged_refill) {}
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

/// Lists the suppressors of the candidate of `lane` anew, leaving out those that are suppressed by now. For a whole
/// warp.
__device__ inline void refill(const Stage& stage, Pending& pending, NumberQueue& queue, int lane) {
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
  std::uint32_t compared = 0;
  if (const std::uint32_t left = stage.left()) {
    compared = visit_left(stage, left_of(stage), left, queue, its, [&](std::uint32_t place, std::uint64_t key) {
      suppressed |= visit(place, key, glance(place));
    });
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
    return;
  pending.places_left -= min(compared, pending.places_left);
  pending.undecided_suppressors = (1u << count) - 1;
  pending.more = found > count;
  if (suppressed || !found) {
    pending.decision = suppressed ? Decision::suppressed() : Decision::kept();
    stage.decide(pending.place, pending.decision);
  }
}

/// Whether the candidate's window may be looked through again. If so, takes its places off `places_left`; of a crowd
/// whose candidates that are left are listed, refill() does.
__device__ inline bool take_refill(const Stage& stage, Pending& pending) {
  if (!pending.is_used_up() || !pending.places_left)
    return false;
  if (stage.left())
    return true;
  if (!pending.window)
    pending.window = max(Walk(stage, stage.subject(pending.place)).size_up_to(tuning::staged_refill + 1), 1u);
  const bool enough = pending.window <= pending.places_left;
  pending.places_left = enough ? pending.places_left - pending.window : 0;
  return enough;
}

/// Looks, and refills lists that are used up. For a whole warp.
__device__ inline void look_and_refill(const Stage& stage, Pending& pending, NumberQueue& queue) {
  if (pending.is_undecided())
    look(stage, pending);
  for (unsigned todo = __ballot_sync(all_lanes, take_refill(stage, pending)); todo; todo &= todo - 1)
    refill(stage, pending, queue, __ffs(static_cast<int>(todo)) - 1);
}

}  // namespace crowd::CROWD_STAGED
