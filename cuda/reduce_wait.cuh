// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Candidates whose best rival does not decide about them wait for the fates of others (resolve.cuh).
// Few instructions between the barriers are what counts here: one warp's look takes longer than all warps' issue slots.
#pragma once

#include "reduce_view.cuh"

namespace crowd::direct {

/// A candidate that waits is a row of its own, which changes as it learns:
///  * once it is tied to another, or decided where many wait, it has no rivals but a Standing in their place;
///  * if it is_unlisted(), rivals before `from` do not matter any more but for `best`, which is not known dead;
///  * where many wait, most of them do not look while `best`, which may be any of their rivals then, is open.
__device__ inline Row with_standing(const Row& row, Standing standing) {
  return Row(row.index(), 0, standing.word() & 0xffff, standing.word() >> 16);
}

/// Of a row without rivals.
__device__ inline Standing standing_of(const Row& row) {
  return Standing(row.list() << 16 | row.best());
}

/// What a candidate knows by the one that it is tied to.
__device__ inline Standing follow(const View& view, Standing tied) {
  return tied.follow(view.standing(tied.index()));
}

/// Some of the rivals on a list, and `nobody`.
struct Part {
  static constexpr unsigned vectors = 3;
  uint2 vector[vectors];

  template <typename Function>
  __device__ void for_each(const Function& what) const {
#pragma unroll
    for (const uint2& it : vector) {
      what(it.x & 0xffff);
      what(it.x >> 16);
      what(it.y & 0xffff);
      what(it.y >> 16);
    }
  }
};

/// Vectors of the list of a candidate that has one; none of others.
__device__ inline std::uint32_t vectors_of(const Row& row) {
  return row.is_listed() ? ceil_div(row.rivals(), list_step) : 0;
}

/// Vectors from number `from` on.
__device__ inline Part load_part(const View& view, const Row& row, std::uint32_t from) {
  constexpr std::uint32_t two = nobody | nobody << 16;
  const std::uint32_t count = vectors_of(row);
  const uint2* list = view.list(row.list());
  Part part;
#pragma unroll
  for (unsigned p = 0; p < Part::vectors; ++p)
    part.vector[p] = from + p < count ? list[from + p] : uint2{two, two};
  return part;
}

/// The first vectors; of a candidate with one rival, that.
__device__ inline Part load_first(const View& view, const Row& row) {
  Part part = load_part(view, row, 0);
  if (row.has_one_rival())
    part.vector[0].x = nobody << 16 | row.best();
  return part;
}

/// Sums up the standings of the rivals on a list, which begins with `first`.
__device__ inline Standing look_at_list(const View& view, const Row& row, const Part& first) {
  std::uint32_t sum = 0;
  const auto add = [&](std::uint32_t rival) { sum += view.standing(rival).word(); };
  first.for_each(add);
  for (std::uint32_t k = Part::vectors; k < vectors_of(row); k += Part::vectors)
    load_part(view, row, k).for_each(add);
  return Standing(sum);
}

/// The one on a list that is open.
__device__ inline std::uint32_t find_open(const View& view, const Row& row) {
  std::uint32_t open = nobody;
  for (std::uint32_t k = 0; k < vectors_of(row); k += Part::vectors)
    load_part(view, row, k).for_each([&](std::uint32_t rival) {
      open = view.standing(rival).is_open() ? rival : open;
    });
  return open;
}

/// A candidate and its rank; `nobody` for none.
struct Hit {
  std::uint32_t index, rank;
};

/// A warp goes through the candidates of ranks from `from` on, and before `end`, for one that is not dead (or that is
/// kept, if `kept`) and beats the one at `index`. A kept one goes before others nearby.
__device__ inline Hit search(const View& view, std::uint32_t index, std::uint32_t from, std::uint32_t end, bool kept) {
  const Candidate mine = fetch(view.a, view.input, index);
  for (std::uint32_t base = from; base < end; base += 32) {
    const std::uint32_t rank = base + threadIdx.x % 32;
    const std::uint32_t other = rank < end ? view.found.rows[rank].index() : nobody;
    const Standing standing = view.standing(other);
    const bool hit = (kept ? standing.has_kept() : !standing.all_dead()) &&
                     beats(fetch(view.a, view.input, other), mine, view.a.rule);
    const unsigned hits = __ballot_sync(all_lanes, hit);
    const unsigned kept_hits = __ballot_sync(all_lanes, hit && standing.has_kept());
    if (hits) {
      const int lane = __ffs(static_cast<int>(kept_hits ? kept_hits : hits)) - 1;
      return {__shfl_sync(all_lanes, other, lane), base + static_cast<std::uint32_t>(lane)};
    }
  }
  return {nobody, end};
}

/// Warps search for those of their lanes that have no list, from the rank on that they got to. A rival found that is
/// not kept is what they wait for then.
__device__ inline Standing search_all(const View& view, bool searches, Row& row) {
  Standing then = Standing::open();
  for (unsigned todo = __ballot_sync(all_lanes, searches); todo; todo &= todo - 1) {
    const int whose = __ffs(static_cast<int>(todo)) - 1;
    const Hit hit = search(view, __shfl_sync(all_lanes, row.index(), whose), __shfl_sync(all_lanes, row.from(), whose),
                           __shfl_sync(all_lanes, row.rank(), whose), false);
    if (static_cast<int>(threadIdx.x % 32) != whose)
      continue;
    if (hit.index == nobody)
      then = Standing::kept();
    else if (view.standing(hit.index).has_kept())
      then = Standing::dead();
    row = Row::unlisted(row.index(), hit.index, row.rank(), hit.rank + 1);
  }
  __syncwarp();
  return then;
}

/// One look of a warp's candidates that have no list, if there are any (`mine`), after `then` of the others.
__device__ inline Standing look_for_any(const View& view, Row& row, bool mine, Standing then) {
  if (rarely(__any_sync(all_lanes, mine))) {
    const Standing rival = view.standing(mine ? row.best() : nobody);
    const Standing found = search_all(view, mine && rival.all_dead(), row);
    if (mine)
      then = rival.has_kept() ? Standing::dead() : found;
  }
  return then;
}

/// One look at the rivals on a list, which begins with `first`. `links`: who has a single one left becomes tied to it.
__device__ inline Standing look_at_all(const View& view, const Row& row, const Part& first, bool links) {
  const Standing rivals = look_at_list(view, row, first);
  if (rivals.has_kept())
    return Standing::dead();
  if (rivals.all_dead())
    return Standing::kept();
  if (!links || !rivals.has_one_open())
    return Standing::open();
  return follow(view, Standing::tied(row.has_one_rival() ? row.best() : find_open(view, row)));
}

/// All look, then all say what they have seen, until every fate is decided. A thread each is enough for those that
/// wait. Ends: the best-ranked candidate that is open has no open rival.
__device__ inline void decide_few(const View& view) {
  // Most are decided by then, and to find out who is tied to whom takes longer than a look.
  constexpr unsigned looks_without_links = 3;
  bool open = threadIdx.x < view.shared.waiting;
  Row row = open ? view.memory.waiting[threadIdx.x] : Row(uint2{0, 0});
  const Part first = load_first(view, row);
  for (unsigned turn = 0; __syncthreads_or(open); ++turn) {
    Standing then = Standing::open();
    if (__any_sync(all_lanes, open)) {
      const bool is_unlisted = open && row.is_unlisted();
      if (open && row.has_rivals())
        then = look_at_all(view, row, first, turn >= looks_without_links);
      else if (open)
        then = follow(view, standing_of(row));
      then = look_for_any(view, row, is_unlisted, then);
      if (then.is_tied())
        row = with_standing(row, then);
    }
    __syncthreads();
    if (open)
      view.publish(row.index(), then);
    open &= then.is_open();
  }
}

/// The same if there are more, who keep what they have seen in their rows.
__device__ inline void decide_many(const View& view) {
  const std::uint32_t waiting = view.shared.waiting;
  const auto waits = [](const Row& row) { return row.has_rivals() || standing_of(row).is_open(); };
  int open = 1;
  while (__syncthreads_or(open)) {
    for (std::uint32_t base = 0; base < waiting; base += blockDim.x) {
      const std::uint32_t number = base + threadIdx.x;
      Row row = number < waiting ? view.memory.waiting[number] : with_standing(Row(uint2{0, 0}), Standing::dead());
      const bool mine = waits(row);
      const bool looks = mine && row.is_listed() && !view.standing(row.best()).is_open();
      const bool is_unlisted = mine && row.is_unlisted();
      Standing then = Standing::open();
      if (looks)
        then = look_at_all(view, row, load_first(view, row), true);
      else if (mine && row.has_one_rival())
        then = follow(view, Standing::tied(row.best()));
      else if (mine && !row.has_rivals())
        then = follow(view, standing_of(row));
      then = look_for_any(view, row, is_unlisted, then);
      if (then.is_tied() || !then.is_open())
        row = with_standing(row, then);
      else if (looks)
        row = Row(row.index(), row.rivals(), find_open(view, row), row.list());
      if (mine)
        view.memory.waiting[number] = row;
    }
    __syncthreads();
    open = 0;
    for (std::uint32_t number = threadIdx.x; number < waiting; number += blockDim.x) {
      const Row row = view.memory.waiting[number];
      if (!row.has_rivals())
        view.publish(row.index(), standing_of(row));
      open |= waits(row);
    }
  }
}

}  // namespace crowd::direct
