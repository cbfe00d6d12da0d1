// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Candidates whose best rival does not decide about them wait for the fates of others (resolve.cuh).
// A look is bound by loads from shared memory where many look, and by one warp's instructions where few do.
#pragma once

#include "kernels/direct/reduce_view.cuh"

namespace crowd::direct {

/// A candidate that waits is a row of its own, which changes as it learns:
///  * where many wait, once it is tied to another, or decided, it has no rivals but a Standing in their place;
///  * if it is_unlisted(), rivals before `from` do not matter any more but for `best`, which is not known dead.
__device__ inline Row with_standing(const Row& row, Standing standing) {
  return Row(row.index(), 0, standing.word() & 0xffff, standing.word() >> 16);
}

/// Of a row without rivals.
__device__ inline Standing standing_of(const Row& row) {
  return Standing(row.list() << 16 | row.best());
}

/// What a candidate knows by the one that it is tied to.
__device__ inline Standing follow(const View& view, Standing tie) {
  return view.standing(tie.index()).follow(tie);
}

/// Vectors of the list of a candidate that has one; none of others.
__device__ inline std::uint32_t vectors_of(const Row& row) {
  return row.is_listed() ? ceil_div(row.rivals(), list_step) : 0;
}

/// The sum of the standings of the rivals in a vector of a list, and `sum`.
__device__ inline std::uint32_t add_vector(const std::uint32_t* standings, const uint4& vector, std::uint32_t sum) {
  // Volatile, as in View::standing().
  const auto at = [&](std::uint32_t offset) {
    return *reinterpret_cast<volatile const std::uint32_t*>(reinterpret_cast<const char*>(standings) + offset);
  };
  const auto add = [&](std::uint32_t two) {
    sum += at(two & 0xffff);
    sum += at(two >> 16);
  };
  add(vector.x);
  add(vector.y);
  add(vector.z);
  add(vector.w);
  return sum;
}

/// The first vectors of a list.
struct Part {
  static constexpr unsigned vectors = 3;
  uint4 vector[vectors];
};

__device__ inline Part load_first(const View& view, const Row& row, std::uint32_t vectors) {
  const uint4* list = view.list(row.list());
  Part part;
#pragma unroll
  for (unsigned p = 0; p < Part::vectors; ++p)
    if (p < vectors)
      part.vector[p] = list[p];
  return part;
}

/// The sum of the standings of the rivals on a list.
__device__ inline Standing add_list(const View& view, const Row& row) {
  std::uint32_t sum = 0;
  for (std::uint32_t k = 0; k < vectors_of(row); ++k)
    sum = add_vector(view.memory.standing, view.list(row.list())[k], sum);
  return Standing(sum);
}

/// The sum of the standings of the rivals on a list beyond its first part, and `sum`. Not inlined: few lists are so
/// long, and the code around it is shorter.
static __noinline__ __device__ std::uint32_t add_rest(const std::uint32_t* standings, const uint4* list,
                                                      std::uint32_t vectors, std::uint32_t sum) {
  for (std::uint32_t k = Part::vectors; k < vectors; ++k)
    sum = add_vector(standings, list[k], sum);
  return sum;
}

/// Sums up the standings of the rivals on a list, which begins with `first`.
__device__ inline Standing look_at_list(const View& view, const Row& row, const Part& first, std::uint32_t vectors) {
  std::uint32_t sum = 0;
#pragma unroll
  for (unsigned p = 0; p < Part::vectors; ++p)
    if (p < vectors)
      sum = add_vector(view.memory.standing, first.vector[p], sum);
  if (vectors > Part::vectors)
    sum = add_rest(view.memory.standing, view.list(row.list()), vectors, sum);
  return Standing(sum);
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
  Standing then = Standing::open(row.index());
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
  if (__any_sync(all_lanes, mine)) {
    const Standing rival = view.standing(mine ? row.best() : nobody);
    const Standing found = search_all(view, mine && rival.all_dead(), row);
    if (mine)
      then = rival.has_kept() ? Standing::dead() : found;
  }
  return then;
}

/// What a candidate knows by the sum of its rivals' standings. Who has a single one left is tied to what that is.
__device__ inline Standing judge(const Row& row, Standing rivals) {
  const bool open = !rivals.has_kept() && !rivals.all_dead() && !rivals.has_one_open();
  return open ? Standing::open(row.index()) : rivals.beaten();
}

/// Each looks until its fate is decided, at its own pace: whatever it sees is true, and stays so. A thread each is
/// enough for those that wait. Ends: the best-ranked candidate that is open has no open rival.
__device__ inline void decide_few(const View& view) {
  bool open = threadIdx.x < view.shared.waiting;
  Row row = open ? view.memory.waiting[threadIdx.x] : Row::absent();
  std::uint32_t vectors = vectors_of(row);
  const Part first = load_first(view, row, vectors);
  const bool any_unlisted = __any_sync(all_lanes, row.is_unlisted());
  Standing known = standing_when_listed(row);
  while (__any_sync(all_lanes, open)) {
    Standing then = known;
    if (vectors)
      then = judge(row, look_at_list(view, row, first, vectors));
    else if (open)
      then = follow(view, known);
    if (rarely(any_unlisted))
      then = look_for_any(view, row, open && row.is_unlisted(), then);
    if (then.word() != known.word()) {
      view.announce(row.index(), then);
      known = then;
      vectors = 0;
      open = then.is_open();
    }
  }
  if (known.has_kept())
    view.keep(threadIdx.x);
}

/// The same if there are more, who keep what they have seen in their rows. All look, then all say what they have seen.
__device__ inline void decide_many(const View& view) {
  const std::uint32_t waiting = view.shared.waiting;
  const auto waits = [](const Row& row) { return row.has_rivals() || standing_of(row).is_open(); };
  int open = 1;
  while (__syncthreads_or(open)) {
    for (std::uint32_t base = 0; base < waiting; base += blockDim.x) {
      const std::uint32_t number = base + threadIdx.x;
      Row row = number < waiting ? view.memory.waiting[number] : with_standing(Row::absent(), Standing::dead());
      const bool mine = waits(row);
      const bool is_unlisted = mine && row.is_unlisted();
      Standing then = Standing::open(row.index());
      if (mine && row.is_listed())
        then = judge(row, add_list(view, row));
      else if (mine && row.has_one_rival())
        then = view.standing(row.best()).beaten();
      else if (mine && !row.has_rivals())
        then = follow(view, standing_of(row));
      if (rarely(__any_sync(all_lanes, is_unlisted)))
        then = look_for_any(view, row, is_unlisted, then);
      if (then.word() != Standing::open(row.index()).word())
        row = with_standing(row, then);
      if (mine)
        view.memory.waiting[number] = row;
      if (mine && then.has_kept())
        view.keep(number);
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
