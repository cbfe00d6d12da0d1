// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The rows of the reduce's threads, and lists of some of them in shared memory.
#pragma once

#include "kernels/direct/reduce_view.cuh"

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
  return load_rows<items>(view.found.rows + Mine<items>::rank(0), view.a.capacity);
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

/// Places in a list, for each item of which `chosen` has a bit. `count`: entries so far, less than 2^16. `more` is
/// added to it above that.
template <unsigned items>
__device__ void take_places_of(std::uint32_t& count, unsigned chosen, std::uint32_t (&places)[items],
                               std::uint32_t more = 0) {
  unsigned lanes[items];
  const std::uint32_t all = count_chosen(chosen, lanes);
  std::uint32_t place = 0;
  if (threadIdx.x % 32 == 0 && all)
    place = atomicAdd(&count, more << 16 | all) & 0xffff;
  place = __shfl_sync(all_lanes, place, 0);
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    places[k] = place + lanes_before(lanes[k]);
    place += static_cast<std::uint32_t>(__popc(lanes[k]));
  }
}

}  // namespace crowd::CROWD_DIRECT
