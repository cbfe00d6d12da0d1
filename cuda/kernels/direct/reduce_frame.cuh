// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The reduce of a frame by one block: from the rows of the map to survivors in rank order. Rows without suppressors
// survive, which is the paper's result; greedy decides the others (pending.cuh).
#pragma once

#include "kernels/direct/in_order.cuh"
#include "kernels/direct/masked_looks.cuh"
#include "kernels/direct/reduce_representatives.cuh"
#include "kernels/direct/reduce_rows.cuh"

namespace crowd::CROWD_DIRECT {

/// Lists the rows that are pending, so that decide_few() has one per thread, and publishes their initial decisions. The
/// others have no suppressors, or their best suppressor is kept.
template <unsigned items>
__device__ void list_pending(const View& view, const Mine<items>& mine) {
  // Every row has a valid `best`, so the load needs no branch.
  const unsigned pending =
      choose(mine, [&](const Row& row) { return row.has_suppressors() & !view.decision(row.best()).has_kept(); });
  const unsigned masked = pending & choose(mine, [](const Row& row) { return row.is_masked(); });
  std::uint32_t places[items];
  take_places_of(view.shared.pending, pending, places, __any_sync(all_lanes, masked));
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    if (pending >> k & 1) {
      view.memory.pending[places[k]] = mine.row[k];
      view.memory.ranks[places[k]] = static_cast<std::uint16_t>(mine.rank(k));
      view.publish(mine.row[k].index(), initial_decision(mine.row[k]));
    }
  __syncthreads();
}

__device__ inline CrowdNmsReport report_of(const View& view, const RejectedCounts& rejected, std::uint32_t survivors) {
  return frame_report(view.a.frames.count(view.frame), view.n, rejected.invalid, rejected.below_threshold, survivors,
                      view.a.out.max_survivors);
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

/// Calls `what`(place, index, k) for the thread's survivors; `place`: rank among survivors, `k`: number of the row.
template <unsigned items, typename Function>
__device__ void for_each_kept(const Mine<items>& mine, const Kept<items>& kept, const Function& what) {
  std::uint32_t begin = kept.before;
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    if (kept.word[k] & 1u << threadIdx.x % 32)
      what(begin + lanes_before(kept.word[k]), mine.row[k].index(), k);
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
    for_each_kept(mine, kept, [&](std::uint32_t place, std::uint32_t index, unsigned) {
      if (place >= out.max_survivors)
        return;
      survivors[place] = index;
      if (out.members)
        out.members[slot + place] = view.memory.members[index];
    });
  else
    for_each_kept(mine, kept, [&](std::uint32_t place, std::uint32_t index, unsigned) { survivors[place] = index; });
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
  GatheredSurvivor its[items]{};
  // All loads precede the first store.
  for_each_kept(mine, kept, [&](std::uint32_t place, std::uint32_t index, unsigned k) {
    if (place < out.max_survivors)
      its[k] = load_survivor(to, view.input + index);
  });
  for_each_kept(mine, kept, [&](std::uint32_t place, std::uint32_t index, unsigned k) {
    if (place >= out.max_survivors)
      return;
    const std::size_t at = static_cast<std::size_t>(view.frame) * out.max_survivors + place;
    store_survivor(to, at, its[k]);
    if (to.out.members)
      to.out.members[at] = view.memory.members[index];
  });
}

/// Reduces a frame, `items` rows a thread. Shared memory has been cleared. `first`: the thread's first row.
/// `small`: the frame has no more candidates than threads, and so few that looks need no limit; rows and lists are in
/// shared memory.
template <bool greedy, unsigned items, bool small = false>
__device__ void reduce_frame(const View& view, const Row* first) {
  auto mine = load_rows<items>(first, view.a.capacity);
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
    if (unlikely(view.shared.pending > blockDim.x ? decide_others<small>(view) : decide_few<small>(view)))
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
