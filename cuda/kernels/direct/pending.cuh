// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Candidates lane best suppressor does not decide about them wait for the fates of others (resolve.cuh).
// A look is bound by loads from shared memory where many look, and by one warp's instructions where few do.
#pragma once

#include "kernels/direct/reduce_view.cuh"

namespace crowd::direct {

/// A candidate that waits is a row of its own, which changes as it learns:
///  * where many wait, once it is tied to another, or decided, it has no suppressors but a PublishedDecision in their
///  place;
///  * if it is_unlisted(), suppressors before `from` do not matter any more but for `best`, which is not known
///  suppressed.
__device__ inline Row with_decision(const Row& row, PublishedDecision decision) {
  return Row(row.index(), 0, decision.word() & 0xffff, decision.word() >> 16);
}

/// Of a row without suppressors.
__device__ inline PublishedDecision decision_of(const Row& row) {
  return PublishedDecision(row.list() << 16 | row.best());
}

/// What a candidate knows by the one that it is tied to.
__device__ inline PublishedDecision follow(const View& view, PublishedDecision alias) {
  return view.decision(alias.index()).follow(alias);
}

/// Vectors of the list of a candidate that has one; none of others.
__device__ inline std::uint32_t vectors_of(const Row& row) {
  return row.is_listed() ? ceil_div(row.suppressors(), list_step) : 0;
}

/// The sum of the decisions of the suppressors in a vector of a list, and `sum`.
__device__ inline std::uint32_t add_vector(const std::uint32_t* decisions, const uint4& vector, std::uint32_t sum) {
  // Volatile, as in View::decision().
  const auto at = [&](std::uint32_t offset) {
    return *reinterpret_cast<volatile const std::uint32_t*>(reinterpret_cast<const char*>(decisions) + offset);
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
struct ListHead {
  static constexpr unsigned vectors = 3;
  uint4 vector[vectors];
};

__device__ inline ListHead load_first(const View& view, const Row& row, std::uint32_t vectors) {
  const uint4* list = view.list(row.list());
  ListHead part;
#pragma unroll
  for (unsigned p = 0; p < ListHead::vectors; ++p)
    if (p < vectors)
      part.vector[p] = list[p];
  return part;
}

/// The sum of the decisions of the suppressors on a list.
__device__ inline PublishedDecision add_list(const View& view, const Row& row) {
  std::uint32_t sum = 0;
  for (std::uint32_t k = 0; k < vectors_of(row); ++k)
    sum = add_vector(view.memory.decisions, view.list(row.list())[k], sum);
  return PublishedDecision(sum);
}

/// The sum of the decisions of the suppressors on a list beyond its first part, and `sum`. Not inlined: few lists are
/// so long, and the code around it is shorter.
static __noinline__ __device__ std::uint32_t add_rest(const std::uint32_t* decisions, const uint4* list,
                                                      std::uint32_t vectors, std::uint32_t sum) {
  for (std::uint32_t k = ListHead::vectors; k < vectors; ++k)
    sum = add_vector(decisions, list[k], sum);
  return sum;
}

/// Sums up the decisions of the suppressors on a list, which begins with `first`.
__device__ inline PublishedDecision look_at_list(const View& view, const Row& row, const ListHead& first,
                                                 std::uint32_t vectors) {
  std::uint32_t sum = 0;
#pragma unroll
  for (unsigned p = 0; p < ListHead::vectors; ++p)
    if (p < vectors)
      sum = add_vector(view.memory.decisions, first.vector[p], sum);
  if (vectors > ListHead::vectors)
    sum = add_rest(view.memory.decisions, view.list(row.list()), vectors, sum);
  return PublishedDecision(sum);
}

/// A candidate and its rank; `sentinel_suppressed` for none.
struct Hit {
  std::uint32_t index, rank;
};

/// A warp goes through the candidates of ranks from `from` on, and before `end`, for one that is not suppressed (or
/// that is kept, if `kept`) and beats the one at `index`. A kept one goes before others nearby.
__device__ inline Hit search(const View& view, std::uint32_t index, std::uint32_t from, std::uint32_t end, bool kept) {
  const Candidate mine = fetch(view.a, view.input, index);
  for (std::uint32_t base = from; base < end; base += 32) {
    const std::uint32_t rank = base + threadIdx.x % 32;
    const std::uint32_t other = rank < end ? view.found.rows[rank].index() : sentinel_suppressed;
    const PublishedDecision decision = view.decision(other);
    const bool hit = (kept ? decision.has_kept() : !decision.all_suppressed()) &&
                     suppresses(fetch(view.a, view.input, other), mine, view.a.rule);
    const unsigned hits = __ballot_sync(all_lanes, hit);
    const unsigned kept_hits = __ballot_sync(all_lanes, hit && decision.has_kept());
    if (hits) {
      const int lane = __ffs(static_cast<int>(kept_hits ? kept_hits : hits)) - 1;
      return {__shfl_sync(all_lanes, other, lane), base + static_cast<std::uint32_t>(lane)};
    }
  }
  return {sentinel_suppressed, end};
}

/// Warps search for those of their lanes that have no list, from the rank on that they got to. A suppressor found that
/// is not kept is what they wait for then.
__device__ inline PublishedDecision search_all(const View& view, bool searches, Row& row) {
  PublishedDecision then = PublishedDecision::undecided(row.index());
  for (unsigned todo = __ballot_sync(all_lanes, searches); todo; todo &= todo - 1) {
    const int lane = __ffs(static_cast<int>(todo)) - 1;
    const Hit hit = search(view, __shfl_sync(all_lanes, row.index(), lane), __shfl_sync(all_lanes, row.from(), lane),
                           __shfl_sync(all_lanes, row.rank(), lane), false);
    if (static_cast<int>(threadIdx.x % 32) != lane)
      continue;
    if (hit.index == sentinel_suppressed)
      then = PublishedDecision::kept();
    else if (view.decision(hit.index).has_kept())
      then = PublishedDecision::suppressed();
    row = Row::unlisted(row.index(), hit.index, row.rank(), hit.rank + 1);
  }
  __syncwarp();
  return then;
}

/// One look of a warp's candidates that have no list, if there are any (`mine`), after `then` of the others.
__device__ inline PublishedDecision look_for_any(const View& view, Row& row, bool mine, PublishedDecision then) {
  if (__any_sync(all_lanes, mine)) {
    const PublishedDecision suppressor = view.decision(mine ? row.best() : sentinel_suppressed);
    const PublishedDecision found = search_all(view, mine && suppressor.all_suppressed(), row);
    if (mine)
      then = suppressor.has_kept() ? PublishedDecision::suppressed() : found;
  }
  return then;
}

/// What a candidate knows by the sum of its suppressors' decisions. Who has a single one left is tied to what that is.
__device__ inline PublishedDecision judge(const Row& row, PublishedDecision suppressors) {
  const bool several_undecided =
      !suppressors.has_kept() && !suppressors.all_suppressed() && !suppressors.has_one_undecided();
  return several_undecided ? PublishedDecision::undecided(row.index()) : suppressors.implied();
}

/// Each looks until its fate is decided, at its own pace: whatever it sees is true, and stays so. A thread each is
/// enough for those that wait. Ends: the best-ranked candidate that is undecided has no undecided suppressor.
__device__ inline void decide_few(const View& view) {
  bool undecided = threadIdx.x < view.shared.pending;
  Row row = undecided ? view.memory.pending[threadIdx.x] : Row::absent();
  std::uint32_t vectors = vectors_of(row);
  const ListHead first = load_first(view, row, vectors);
  const bool any_unlisted = __any_sync(all_lanes, row.is_unlisted());
  PublishedDecision known = initial_decision(row);
  while (__any_sync(all_lanes, undecided)) {
    PublishedDecision then = known;
    if (vectors)
      then = judge(row, look_at_list(view, row, first, vectors));
    else if (undecided)
      then = follow(view, known);
    if (unlikely(any_unlisted))
      then = look_for_any(view, row, undecided && row.is_unlisted(), then);
    if (then.word() != known.word()) {
      view.publish(row.index(), then);
      known = then;
      vectors = 0;
      undecided = then.is_undecided();
    }
  }
  if (known.has_kept())
    view.keep(threadIdx.x);
}

/// The same if there are more, who keep what they have seen in their rows. All look, then all say what they have seen.
__device__ inline void decide_many(const View& view) {
  const std::uint32_t pending = view.shared.pending;
  const auto is_pending = [](const Row& row) { return row.has_suppressors() || decision_of(row).is_undecided(); };
  int undecided = 1;
  while (__syncthreads_or(undecided)) {
    for (std::uint32_t base = 0; base < pending; base += blockDim.x) {
      const std::uint32_t number = base + threadIdx.x;
      Row row = number < pending ? view.memory.pending[number]
                                 : with_decision(Row::absent(), PublishedDecision::suppressed());
      const bool mine = is_pending(row);
      const bool is_unlisted = mine && row.is_unlisted();
      PublishedDecision then = PublishedDecision::undecided(row.index());
      if (mine && row.is_listed())
        then = judge(row, add_list(view, row));
      else if (mine && row.has_one_suppressor())
        then = view.decision(row.best()).implied();
      else if (mine && !row.has_suppressors())
        then = follow(view, decision_of(row));
      if (unlikely(__any_sync(all_lanes, is_unlisted)))
        then = look_for_any(view, row, is_unlisted, then);
      if (then.word() != PublishedDecision::undecided(row.index()).word())
        row = with_decision(row, then);
      if (mine)
        view.memory.pending[number] = row;
      if (mine && then.has_kept())
        view.keep(number);
    }
    __syncthreads();
    undecided = 0;
    for (std::uint32_t number = threadIdx.x; number < pending; number += blockDim.x) {
      const Row row = view.memory.pending[number];
      if (!row.has_suppressors())
        view.store(row.index(), decision_of(row));
      undecided |= is_pending(row);
    }
  }
}

}  // namespace crowd::direct
