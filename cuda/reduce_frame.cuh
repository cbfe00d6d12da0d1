// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The reduce of a frame by one block: from the rows of the map to survivors in rank order. A candidate without rivals
// survives, the paper's result. The others wait for the fates of theirs (resolve.cuh).
#pragma once

#include "reduce_wait.cuh"

namespace crowd::direct {

/// The candidates of a thread, of consecutive ranks.
template <unsigned items>
struct Mine {
  Row row[items];
  std::uint32_t first;  ///< rank of the first
  std::uint32_t count;
};

template <unsigned items>
__device__ Mine<items> load_rows(const View& view, std::uint32_t ranked) {
  Mine<items> mine;
  mine.first = items * threadIdx.x;
  mine.count = mine.first < ranked ? min(ranked - mine.first, items) : 0;
  uint2 word[items] = {};
  const auto* words = reinterpret_cast<const uint2*>(view.found.rows) + mine.first;
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    if (mine.first + k < view.n)
      word[k] = words[k];
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    const auto half = [](std::uint32_t bits) { return static_cast<std::uint16_t>(bits); };
    mine.row[k] = {half(word[k].x), half(word[k].x >> 16), half(word[k].y), half(word[k].y >> 16)};
    if (k >= mine.count)
      mine.row[k].rivals = 0;
  }
  return mine;
}

/// The paper's result: who has no rivals survives. In method greedy the others are open.
template <bool greedy, unsigned items>
__device__ void begin(const View& view, const Mine<items>& mine) {
  if (threadIdx.x == 0) {
    view.publish(nobody, 0, Fate::dead());
    view.shared.waiting = 0;
  }
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    if (k < mine.count)
      view.publish(mine.row[k].index, mine.first + k,
                   !mine.row[k].rivals ? Fate::kept()
                   : greedy            ? Fate::open()
                                       : Fate::dead());
}

/// Most candidates lose to their best rival right away. The rest is listed, so that every lane has one.
template <unsigned items>
__device__ void list_waiting(const View& view, const Mine<items>& mine) {
  const unsigned lane = threadIdx.x % 32;
  unsigned dies = 0;
  unsigned waits = 0;
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    if (mine.row[k].rivals)
      (view.fate(mine.row[k].best).is_kept() ? dies : waits) |= 1u << k;
  const auto own = static_cast<std::uint32_t>(__popc(waits));
  const std::uint32_t total = warp_sum(own);
  std::uint32_t place = 0;
  if (lane == 0 && total)
    place = atomicAdd(&view.shared.waiting, total);
  place = __shfl_sync(all_lanes, place, 0) + warp_prefix(own) - own;
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    if (waits >> k & 1) {
      view.memory.waiting[place] = mine.row[k];
      // Better ones than the best by the upper bits of its score there may be.
      if (mine.row[k].list == not_listed && mine.row[k].rivals > 1)
        view.memory.waiting[place].best = nobody;
      ++place;
    }
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    if (dies >> k & 1)
      view.publish(mine.row[k].index, mine.first + k, Fate::dead());
}

/// The best-ranked survivor on its list.
__device__ inline std::uint32_t stand_in_on_list(const View& view, const Row& row) {
  const auto* list = reinterpret_cast<const std::uint16_t*>(view.list(row.list));
  std::uint32_t best = ~0u;
  for (std::uint32_t k = 0; k < row.rivals; ++k) {
    const std::uint32_t rival = list[k];
    best = min(best, view.standing(rival).of(rival));
  }
  return Standing::kind(best) ? CROWD_NMS_NONE : best & 0xffff;
}

/// Writes who stands for whom, and counts whom each survivor stands for.
__device__ inline void write_stand_ins(const View& view, std::uint32_t ranked) {
  std::uint32_t* to = view.a.out.stand_ins;
  if (to)
    to += view.a.frames.slot(view.frame);
  for (std::uint32_t i = threadIdx.x; i < view.n; i += blockDim.x) {
    view.memory.members[i] = 0;
    if (to)
      to[i] = CROWD_NMS_NONE;
  }
  __syncthreads();
  for (std::uint32_t base = 0; base < ranked; base += blockDim.x) {
    const std::uint32_t rank = base + threadIdx.x;
    const Row row = rank < ranked ? view.found.rows[rank] : Row{};
    const bool survives = rank < ranked && view.fate(row.index).is_kept();
    const bool beaten = rank < ranked && !survives;
    std::uint32_t stand_in = survives ? row.index : CROWD_NMS_NONE;
    if (beaten && row.list != not_listed)
      stand_in = stand_in_on_list(view, row);
    for (unsigned todo = __ballot_sync(all_lanes, beaten && row.list == not_listed); todo; todo &= todo - 1) {
      const int whose = __ffs(static_cast<int>(todo)) - 1;
      const std::uint32_t found = search(view, __shfl_sync(all_lanes, std::uint32_t{row.index}, whose), 0, true);
      if (static_cast<int>(threadIdx.x % 32) == whose && found != nobody)
        stand_in = found;
    }
    if (stand_in != CROWD_NMS_NONE) {
      atomicAdd(&view.memory.members[stand_in], 1u);
      if (to)
        to[row.index] = stand_in;
    }
  }
  __syncthreads();
}

__device__ inline void write_report(const View& view, const Tally& tally, std::uint32_t survivors) {
  const Arguments& a = view.a;
  const std::uint32_t count = a.frames.count(view.frame);
  const std::uint32_t room = a.out.max_survivors;
  a.out.reports[view.frame] = {count,     count - view.n, tally.malformed,
                               tally.low, survivors,      survivors > room ? survivors - room : 0};
}

/// Returns how many there are.
template <unsigned items>
__device__ std::uint32_t write_survivors(const View& view, const Mine<items>& mine) {
  const CrowdNmsSurvivors& out = view.a.out;
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  unsigned survive = 0;
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    if (k < mine.count && view.fate(mine.row[k].index).is_kept())
      survive |= 1u << k;
  const auto own = static_cast<std::uint32_t>(__popc(survive));
  const std::uint32_t upto = warp_prefix(own);
  if (lane == 31)
    view.shared.warp_total[warp] = upto;
  __syncthreads();
  const std::uint32_t total = lane < blockDim.x / 32 ? view.shared.warp_total[lane] : 0;
  std::uint32_t position = warp_sum(lane < warp ? total : 0) + upto - own;
  const std::size_t slot = static_cast<std::size_t>(view.frame) * out.max_survivors;
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    if (survive >> k & 1 && position < out.max_survivors) {
      out.survivors[slot + position] = mine.row[k].index;
      if (out.members)
        out.members[slot + position] = view.memory.members[mine.row[k].index];
      ++position;
    }
  return warp_sum(total);
}

/// From rows to results, by a thread for as many candidates as `items`.
template <bool greedy, unsigned items>
__device__ void reduce_frame(const View& view) {
  const Tally tally = view.n ? *view.found.tally : Tally{};
  const std::uint32_t ranked = view.n - tally.malformed - tally.low;
  const auto mine = load_rows<items>(view, ranked);
  begin<greedy>(view, mine);
  __syncthreads();
  if (greedy) {
    list_waiting(view, mine);
    decide<items>(view);
  }
  if (view.a.out.stand_ins || view.a.out.members)
    write_stand_ins(view, ranked);
  const std::uint32_t survivors = write_survivors(view, mine);
  if (threadIdx.x == 0)
    write_report(view, tally, survivors);
}

}  // namespace crowd::direct
