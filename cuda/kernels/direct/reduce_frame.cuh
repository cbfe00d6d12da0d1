// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The reduce of a frame by one block: from the rows of the map to survivors in rank order. Rows without suppressors
// survive, which is the paper's result; greedy decides the others (pending.cuh).
#pragma once

#include "kernels/direct/in_order.cuh"

namespace crowd::CROWD_DIRECT {

/// The rows of a thread. Those of a warp are consecutive ranks.
template <unsigned items>
struct Mine {
  Row row[items];

  __device__ static std::uint32_t rank(unsigned k) {
    return (threadIdx.x / 32 * items + k) * 32 + threadIdx.x % 32;
  }
};

template <unsigned items>
__device__ Mine<items> load_rows(const Row* first, std::uint32_t capacity) {
  Mine<items> mine;
  const auto* words = reinterpret_cast<const uint2*>(first);
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    mine.row[k] = mine.rank(k) < capacity ? Row(words[32 * k]) : Row::absent();
  return mine;
}

template <unsigned items>
__device__ Mine<items> load_rows(const View& view) {
  return load_rows<items>(view.found.rows + Mine<items>::rank(0), view.a.frames.capacity);
}

/// Publishes that the thread's rows whose bit in `kept` is set are kept. A barrier comes before the next read.
template <unsigned items>
__device__ void publish_kept(const View& view, const Mine<items>& mine, unsigned kept) {
  const SharedWords decisions(view.memory.decisions);
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    decisions.store_if(kept >> k & 1, mine.row[k].index(), PublishedDecision::kept(mine.rank(k)).word());
}

/// A bit for each of the thread's rows that fulfils the predicate.
template <unsigned items, typename Predicate>
__device__ unsigned choose(const Mine<items>& mine, const Predicate& is_chosen) {
  unsigned chosen = 0;
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    chosen |= static_cast<unsigned>(is_chosen(mine.row[k])) << k;
  return chosen;
}

/// `lanes`: for each item the lanes of the warp that have chosen it. Returns how many rows that are.
template <unsigned items>
__device__ std::uint32_t count_chosen(unsigned chosen, unsigned (&lanes)[items]) {
  std::uint32_t all = 0;
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    lanes[k] = __ballot_sync(all_lanes, chosen >> k & 1);
    all += static_cast<std::uint32_t>(__popc(lanes[k]));
  }
  return all;
}

__device__ inline std::uint32_t lanes_before(unsigned lanes) {
  return static_cast<std::uint32_t>(__popc(lanes & ((1u << threadIdx.x % 32) - 1)));
}

/// Places in a list, for each item of which `chosen` has a bit. `count`: entries so far.
template <unsigned items>
__device__ void take_places_of(std::uint32_t& count, unsigned chosen, std::uint32_t (&places)[items]) {
  unsigned lanes[items];
  const std::uint32_t all = count_chosen(chosen, lanes);
  std::uint32_t place = 0;
  if (threadIdx.x % 32 == 0 && all)
    place = atomicAdd(&count, all);
  place = __shfl_sync(all_lanes, place, 0);
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    places[k] = place + lanes_before(lanes[k]);
    place += static_cast<std::uint32_t>(__popc(lanes[k]));
  }
}

/// Lists the rows that are pending, so that decide_few() has one per thread, and publishes their initial decisions. The
/// others have no suppressors, or their best suppressor is kept.
template <unsigned items>
__device__ void list_pending(const View& view, const Mine<items>& mine) {
  // Every row has a valid `best`, so the load needs no branch.
  const unsigned pending =
      choose(mine, [&](const Row& row) { return row.has_suppressors() & !view.decision(row.best()).has_kept(); });
  std::uint32_t places[items];
  take_places_of(view.shared.pending, pending, places);
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    if (pending >> k & 1) {
      view.memory.pending[places[k]] = mine.row[k];
      view.memory.ranks[places[k]] = static_cast<std::uint16_t>(mine.rank(k));
      view.publish(mine.row[k].index(), initial_decision(mine.row[k]));
    }
  __syncthreads();
}

/// The least of `best` and what kept entries of a vector have for rank << 16 | entry.
__device__ inline std::uint32_t best_kept(const View& view, const uint4& vector, std::uint32_t best) {
  const auto look = [&](std::uint32_t entry) {
    const PublishedDecision decision = view.decision(entry / list_unit);
    best = min(best, decision.has_kept() ? decision.rank() << 16 | entry : ~0u);
  };
  for (const std::uint32_t two : {vector.x, vector.y, vector.z, vector.w}) {
    look(two & 0xffff);
    look(two >> 16);
  }
  return best;
}

/// Best-ranked survivor among a row's listed suppressors.
__device__ inline std::uint32_t representative_on_list(const View& view, const Row& row) {
  const uint4* const list = view.list(row.list());
  const std::uint32_t vectors = vectors_of(row);
  std::uint32_t best = ~0u;
  uint4 vector = vectors ? list[0] : uint4{};
  for (std::uint32_t k = 0; k < vectors; ++k) {
    // The next one is on its way while this one is looked through.
    const uint4 next = k + 1 < vectors ? list[k + 1] : uint4{};
    best = best_kept(view, vector, best);
    vector = next;
  }
  return best == ~0u ? CROWD_NMS_NONE : (best & 0xffff) / list_unit;
}

/// The caller's representatives of the frame, or null.
__device__ inline std::uint32_t* representatives_of(const View& view) {
  std::uint32_t* const to = view.a.out.representatives;
  return to ? to + view.a.frames.slot(view.frame) : nullptr;
}

/// `representative`: or CROWD_NMS_NONE.
__device__ inline void represent(const View& view, std::uint32_t* to, std::uint32_t index,
                                 std::uint32_t representative) {
  if (representative != CROWD_NMS_NONE)
    atomicAdd(&view.memory.members[representative], 1u);
  if (to)
    to[index] = representative;
}

/// Whether a row of the frame names its representative: itself, or the very best of its suppressors.
__device__ inline bool names_representative(const View& view, const Row& row) {
  return view.decision(row.index()).has_kept() || (!row.is_tied() && view.decision(row.best()).has_kept());
}

/// Looks for representatives of suppressed candidates without a list, a warp for each.
__device__ inline void search_representatives(const View& view, std::uint32_t ranked) {
  for (std::uint32_t base = 0; base < ranked; base += blockDim.x) {
    const std::uint32_t rank = base + threadIdx.x;
    const Row row = rank < ranked ? view.found.rows[rank] : Row(uint2{0, 0});
    const bool unlisted = rank < ranked && row.is_unlisted() && !names_representative(view, row);
    for (unsigned todo = __ballot_sync(all_lanes, unlisted); todo; todo &= todo - 1) {
      const int lane = __ffs(static_cast<int>(todo)) - 1;
      const std::uint32_t index = __shfl_sync(all_lanes, row.index(), lane);
      const Hit found = search(view, index, 0, __shfl_sync(all_lanes, rank, lane), true);
      if (threadIdx.x % 32 == 0)
        represent(view, representatives_of(view), index,
                  found.index == sentinel_suppressed ? CROWD_NMS_NONE : found.index);
    }
  }
}

/// Writes representatives that rows name, and lists those whose lists have to be looked through. Returns whether any
/// has to be searched for.
template <unsigned items>
__device__ bool write_named(const View& view, std::uint32_t ranked) {
  std::uint32_t* const to = representatives_of(view);
  const Mine<items> mine = load_rows<items>(view);
  bool unlisted = false;
  unsigned listed = 0;
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    const Row& row = mine.row[k];
    if (mine.rank(k) >= ranked)
      continue;
    if (names_representative(view, row))
      represent(view, to, row.index(), view.decision(row.index()).has_kept() ? row.index() : row.best());
    else if (row.has_one_suppressor())
      represent(view, to, row.index(), CROWD_NMS_NONE);
    else if (row.is_unlisted())
      unlisted = true;
    else
      listed |= 1u << k;
  }
  std::uint32_t places[items];
  take_places_of(view.shared.pending, listed, places);
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    if (listed >> k & 1)
      view.memory.ranks[places[k]] = static_cast<std::uint16_t>(mine.rank(k));
  return unlisted;
}

/// Writes each candidate's representative, and counts how many each survivor represents. Not inlined: it takes
/// registers that calls without either need.
template <unsigned items>
static __noinline__ __device__ void write_representatives(View view, std::uint32_t ranked) {
  std::uint32_t* const to = representatives_of(view);
  for (std::uint32_t i = threadIdx.x; i < view.n; i += blockDim.x) {
    view.memory.members[i] = 0;
    if (to && ranked < view.n)
      to[i] = CROWD_NMS_REJECTED;
  }
  if (threadIdx.x == 0)
    view.shared.pending = 0;
  __syncthreads();
  const bool unlisted = write_named<items>(view, ranked);
  const bool any_unlisted = __syncthreads_or(unlisted);
  for (std::uint32_t i = threadIdx.x; i < view.shared.pending; i += blockDim.x) {
    const Row row = view.found.rows[view.memory.ranks[i]];
    represent(view, to, row.index(), representative_on_list(view, row));
  }
  if (any_unlisted)
    search_representatives(view, ranked);
  __syncthreads();
}

__device__ inline CrowdNmsReport report_of(const View& view, const RejectedCounts& rejected, std::uint32_t survivors) {
  const std::uint32_t count = view.a.frames.count(view.frame);
  const std::uint32_t room = view.a.out.max_survivors;
  return {count,
          count - view.n,
          rejected.invalid,
          rejected.below_threshold,
          survivors,
          survivors > room ? survivors - room : 0};
}

/// Words of ReduceShared::kept that a warp has, loaded and stored as one.
template <unsigned items>
struct alignas(items * sizeof(std::uint32_t)) WarpWords {
  std::uint32_t word[items];
};

/// The warp's survivors: a bit for each of 32 ranks in a word.
template <unsigned items>
struct Kept {
  std::uint32_t word[items];
  std::uint32_t before, all;  ///< survivors of better ranks, and of the frame
};

template <unsigned items>
__device__ Kept<items> count_kept(const View& view) {
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  const auto* words = reinterpret_cast<const WarpWords<items>*>(view.shared.kept);
  Kept<items> kept;
  WarpWords<items> of_lane = words[lane];
  WarpWords<items> own = words[warp];
  // Both loads precede the first use.
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    of_lane.word[k] = materialize(of_lane.word[k]);
    own.word[k] = materialize(own.word[k]);
  }
  std::uint32_t all = 0;
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    all += static_cast<std::uint32_t>(__popc(of_lane.word[k]));
    kept.word[k] = own.word[k];
  }
  const std::uint32_t both = warp_sum(all << 16 | (lane < warp ? all : 0));
  kept.before = both & 0xffff;
  kept.all = both >> 16;
  return kept;
}

/// Calls `what`(place, index) for the thread's survivors; `place`: rank among survivors.
template <unsigned items, typename Function>
__device__ void for_each_kept(const Mine<items>& mine, const Kept<items>& kept, const Function& what) {
  std::uint32_t begin = kept.before;
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    if (kept.word[k] & 1u << threadIdx.x % 32)
      what(begin + lanes_before(kept.word[k]), mine.row[k].index());
    begin += static_cast<std::uint32_t>(__popc(kept.word[k]));
  }
}

/// Writes survivors in rank order, and how many candidates each represents.
template <unsigned items>
__device__ void write_survivors(const View& view, const Mine<items>& mine, const Kept<items>& kept) {
  const CrowdNmsSurvivors& out = view.a.out;
  const std::size_t slot = static_cast<std::size_t>(view.frame) * out.max_survivors;
  std::uint32_t* const survivors = out.survivors + slot;
  // The usual case apart: fewer instructions.
  if (unlikely(kept.all > out.max_survivors || out.members))
    for_each_kept(mine, kept, [&](std::uint32_t place, std::uint32_t index) {
      if (place >= out.max_survivors)
        return;
      survivors[place] = index;
      if (out.members)
        out.members[slot + place] = view.memory.members[index];
    });
  else
    for_each_kept(mine, kept, [&](std::uint32_t place, std::uint32_t index) { survivors[place] = index; });
}

/// Gathers what write_survivors() has written, with the same threads. Not inlined: it takes registers that calls which
/// gather nothing do not need.
template <unsigned items>
static __noinline__ __device__ void gather_frame(View view, Mine<items> mine, Kept<items> kept) {
  const Gathering& to = view.a.gathering;
  const CrowdNmsSurvivors& out = view.a.out;
  if (threadIdx.x == blockDim.x - 1) {
    const CrowdNmsReport report = report_of(view, *view.found.rejected, kept.all);
    gather_sizes(to, view.frame, report);
    add_to_totals(to, &report, 1);
  }
  GatheredSurvivor its[items];
  std::uint32_t place[items];
  std::uint32_t begin = kept.before;
  // All loads precede the first store.
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    const bool survives = kept.word[k] & 1u << threadIdx.x % 32;
    place[k] = survives ? begin + lanes_before(kept.word[k]) : ~0u;
    begin += static_cast<std::uint32_t>(__popc(kept.word[k]));
    if (place[k] < out.max_survivors)
      its[k] = load_survivor(to, view.input + mine.row[k].index());
  }
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    if (place[k] < out.max_survivors) {
      const std::size_t at = static_cast<std::size_t>(view.frame) * out.max_survivors + place[k];
      store_survivor(to, at, its[k]);
      if (to.out.members)
        to.out.members[at] = view.memory.members[mine.row[k].index()];
    }
}

/// Reduces a frame, `items` rows a thread. Shared memory has been cleared. `first`: the thread's first row.
/// `small`: the frame has no more candidates than threads, and so few that looks need no limit.
template <bool greedy, unsigned items, bool small = false>
__device__ void reduce_frame(const View& view, const Row* first) {
  auto mine = load_rows<items>(first, view.a.frames.capacity);
  RejectedCounts rejected = *view.found.rejected;
  const unsigned survive = choose(mine, [](const Row& row) { return !row.has_suppressors(); });
  publish_kept(view, mine, survive);
  WarpWords<items> survivors;
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    survivors.word[k] = __ballot_sync(all_lanes, survive >> k & 1);
  auto* const words = reinterpret_cast<WarpWords<items>*>(view.shared.kept) + threadIdx.x / 32;
  if (threadIdx.x % 32 == 0)
    *words = survivors;
  __syncthreads();
  if (greedy) {
    list_pending(view, mine);
    if (small)
      decide_few<false>(view);
    else if (unlikely(view.shared.pending > blockDim.x ? decide_many(view) : decide_few<true>(view)))
      store_relaxed_shared(&view.shared.undecided, 1);
    __syncthreads();
  }
  // Loaded along with the words that count_kept() reads: what is rarely needed costs no wait.
  const bool open = greedy && !small && materialize(view.shared.undecided);
  Kept<items> kept = count_kept<items>(view);
  if (unlikely(open)) {
    decide_in_order(view);
    __syncthreads();
    kept = count_kept<items>(view);
    // Loaded again, here and below, so that no register holds them during the call: usual frames would pay for that. So
    // they would if `first` was kept for it.
    mine = load_rows<items>(view);
    rejected = *view.found.rejected;
  }
  if (unlikely(view.a.out.representatives || view.a.out.members)) {
    unsigned survived = 0;
#pragma unroll
    for (unsigned k = 0; k < items; ++k)
      survived |= (words->word[k] >> threadIdx.x % 32 & 1) << k;
    publish_kept(view, mine, survived);
    write_representatives<items>(view, view.n - rejected.invalid - rejected.below_threshold);
    kept = count_kept<items>(view);
    mine = load_rows<items>(view);
    rejected = *view.found.rejected;
  }
  write_survivors(view, mine, kept);
  // By the last warp, which has the fewest survivors to write.
  if (threadIdx.x == blockDim.x - 1)
    view.a.out.reports[view.frame] = report_of(view, rejected, kept.all);
  if (unlikely(view.a.gathering.is_wanted()))
    gather_frame<items>(view, mine, kept);
}

}  // namespace crowd::CROWD_DIRECT
