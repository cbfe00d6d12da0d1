// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Candidates whose best rival does not decide about them wait for the fates of others (resolve.cuh), a thread for each.
#pragma once

#include "reduce_view.cuh"

namespace crowd::direct {

/// A candidate that waits, at one look.
struct Waiter {
  Row at;  ///< `best`: a rival not known dead; `rivals` is 1 once that is the only one
  Fate fate;
  bool searches = false;  ///< its rival is dead, and there is no list to find another in
};

/// Its rival being dead, looks through the list for the best-ranked other, which may live longest.
__device__ inline void look_further(const View& view, Waiter& it) {
  constexpr unsigned ahead = 2;
  const uint2* list = view.list(it.at.list);
  const std::uint32_t steps = ceil_div(it.at.rivals, list_step);
  std::uint32_t best = ~0u;
  std::uint32_t kinds = 0;
  for (std::uint32_t k = 0; k < steps; k += ahead) {
    uint2 some[ahead];
#pragma unroll
    for (unsigned p = 0; p < ahead; ++p)
      some[p] = k + p < steps ? list[k + p] : uint2{nobody | nobody << 16, nobody | nobody << 16};
#pragma unroll
    for (unsigned p = 0; p < ahead * list_step; ++p) {
      const std::uint32_t pair = p / 2 % 2 ? some[p / list_step].y : some[p / list_step].x;
      const std::uint32_t rival = p % 2 ? pair >> 16 : pair & 0xffff;
      const std::uint32_t standing = view.standing(rival).of(rival);
      best = min(best, standing);
      kinds += Standing::kind(standing);
    }
  }
  it.at.best = static_cast<std::uint16_t>(best);
  // Three for each that is dead, one for each that is open.
  const std::uint32_t dead = 3 * list_step * ahead * ceil_div(steps, ahead);
  if (Standing::kind(best) == 0)
    it.fate = Fate::dead();
  else if (kinds == dead)
    it.fate = Fate::kept();
  else if (kinds == dead - 2)
    it.at.rivals = 1;
}

/// One look at the rival it waits for; not for those that are tied.
__device__ inline void look(const View& view, Waiter& it) {
  const Fate rival = view.fate(it.at.best);
  if (rival.is_kept())
    it.fate = Fate::dead();
  else if (it.at.rivals == 1)
    it.fate = rival.is_dead() ? Fate::kept() : Fate::tied(it.at.best, false).follow(rival);
  else if (rival.is_dead() && it.at.list == not_listed)
    it.searches = true;
  else if (rival.is_dead())
    look_further(view, it);
}

/// A warp goes through the candidates in rank order, from rank `from` on and up to the one at `index`, for one that is
/// not dead (or that is kept, if `kept`) and beats it: its index, or `nobody`. A kept one goes before others nearby.
__device__ inline std::uint32_t search(const View& view, std::uint32_t index, std::uint32_t from, bool kept) {
  const Candidate mine = fetch(view.a, view.input, index);
  const std::uint32_t end = view.standing(index).rank();
  for (std::uint32_t base = from; base < end; base += 32) {
    const std::uint32_t rank = base + threadIdx.x % 32;
    const std::uint32_t other = rank < end ? view.found.rows[rank].index : nobody;
    const Fate fate = view.fate(other);
    const bool hit =
        (kept ? fate.is_kept() : !fate.is_dead()) && beats(fetch(view.a, view.input, other), mine, view.a.rule);
    const unsigned hits = __ballot_sync(all_lanes, hit);
    const unsigned kept_hits = __ballot_sync(all_lanes, hit && fate.is_kept());
    if (hits)
      return __shfl_sync(all_lanes, other, __ffs(static_cast<int>(kept_hits ? kept_hits : hits)) - 1);
  }
  return nobody;
}

/// Warps search for those of their lanes that have no list, from the rank on that they got to.
__device__ inline void search_all(const View& view, Waiter& it) {
  for (unsigned todo = __ballot_sync(all_lanes, it.searches); todo; todo &= todo - 1) {
    const int whose = __ffs(static_cast<int>(todo)) - 1;
    const std::uint32_t last = __shfl_sync(all_lanes, std::uint32_t{it.at.best}, whose);
    const std::uint32_t from = last == nobody ? 0 : view.standing(last).rank() + 1;
    const std::uint32_t found = search(view, __shfl_sync(all_lanes, std::uint32_t{it.at.index}, whose), from, false);
    if (static_cast<int>(threadIdx.x % 32) == whose) {
      it.at.best = static_cast<std::uint16_t>(found);
      if (found == nobody)
        it.fate = Fate::kept();
      else if (view.fate(found).is_kept())
        it.fate = Fate::dead();
    }
    __syncwarp();
  }
}

/// One look of the candidate that waits at `number`, by a whole warp; `fate` is what it knew and knows then. False:
/// nothing new.
__device__ inline bool look_again(const View& view, std::uint32_t number, bool open, Fate& fate) {
  const Fate before = fate;
  Waiter it{{}, fate};
  if (open && fate.is_tied()) {
    it.fate = fate.follow(view.fate(fate.position()));
  } else if (open) {
    const Row at = it.at = view.memory.waiting[number];
    look(view, it);
    if (it.at.best != at.best || it.at.rivals != at.rivals)
      view.memory.waiting[number] = it.at;
  }
  if (__any_sync(all_lanes, it.searches)) {
    search_all(view, it);
    if (it.searches)
      view.memory.waiting[number] = it.at;
  }
  fate = it.fate;
  return fate.word() != before.word();
}

/// All look, then all say what they have seen, until every fate is decided. Ends: the best-ranked candidate that is
/// open has no open rival.
template <unsigned items>
__device__ void decide(const View& view) {
  const std::uint32_t waiting = view.shared.waiting;
  std::uint32_t fate[items];
  unsigned open = 0;
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    fate[k] = Fate::open().word();
    open |= static_cast<unsigned>(k * blockDim.x + threadIdx.x < waiting) << k;
  }
  while (__syncthreads_or(static_cast<int>(open))) {
    unsigned news = 0;
#pragma unroll
    for (unsigned k = 0; k < items; ++k) {
      if (!__any_sync(all_lanes, static_cast<int>(open >> k & 1)))
        continue;
      Fate knows = Fate::of_word(fate[k]);
      if (look_again(view, k * blockDim.x + threadIdx.x, open >> k & 1, knows))
        news |= 1u << k;
      fate[k] = knows.word();
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < items; ++k)
      if (news >> k & 1) {
        const std::uint32_t index = view.memory.waiting[k * blockDim.x + threadIdx.x].index;
        const Fate is = Fate::of_word(fate[k]);
        view.publish(index, view.standing(index).rank(), is);
        open &= ~(static_cast<unsigned>(is.is_decided()) << k);
      }
  }
}

}  // namespace crowd::direct
