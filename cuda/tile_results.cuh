// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the map of a tile has found, on its way to the reduce: ranks, the number of rivals, lists of them.
#pragma once

#include "tile.cuh"

namespace crowd::direct {

/// Whether there is a row at a place that counts.
template <typename Tile>
__device__ bool counts(const Tile& tile, std::uint32_t place) {
  return tile.sorted[place] != ~0u;
}

/// Where lists go among those of the tile, or not_listed, by a warp, a row of each word a lane.
template <typename Tile>
struct Begins {
  std::uint32_t of_word[Tile::words];

  /// Of the row at `place`, which need not be the lane's.
  __device__ std::uint32_t of(std::uint32_t place) const {
    std::uint32_t begin = not_listed;
#pragma unroll
    for (unsigned w = 0; w < Tile::words; ++w)
      if (const std::uint32_t it = __shfl_sync(all_lanes, of_word[w], static_cast<int>(place % 32)); place / 32 == w)
        begin = it;
    return begin;
  }
};

/// Each list has a share of the room if that is long enough for all.
__device__ inline std::uint32_t share_of(std::uint32_t place) {
  return list_share * place;
}

template <typename Tile>
__device__ Begins<Tile> share_room() {
  Begins<Tile> begins;
#pragma unroll
  for (unsigned w = 0; w < Tile::words; ++w)
    begins.of_word[w] = share_of(32 * w + threadIdx.x % 32);
  return begins;
}

/// Else they follow one another. Who finds no room has none.
template <typename Tile>
__device__ Begins<Tile> place_lists(const Tile& tile, const Job& job) {
  const auto room = static_cast<std::uint32_t>(list_vectors(job.first + job.rows) - list_vectors(job.first));
  Begins<Tile> begins;
  std::uint32_t before = 0;
#pragma unroll
  for (unsigned w = 0; w < Tile::words; ++w) {
    const std::uint32_t rivals = tile.rivals[32 * w + threadIdx.x % 32];
    const std::uint32_t own = rivals > 1 && rivals <= rivals_max ? ceil_div(rivals, list_step) : 0;
    const std::uint32_t upto = before + warp_prefix(own);
    begins.of_word[w] = own && upto <= room ? upto - own : not_listed;
    before = __shfl_sync(all_lanes, upto, 31);
  }
  return begins;
}

/// Writes the row at a place to where its rank says. `begin`: where its list does, or not_listed.
template <typename Tile>
__device__ void write_row(const Tile& tile, const Job& job, std::uint32_t place, std::uint32_t begin, Row* to) {
  if (!counts(tile, place))
    return;
  const std::uint32_t rank = tile.rank[place];
  const std::uint32_t rivals = tile.rivals[place];
  const std::uint32_t best = capacity_max - 1 - tile.best[place] % capacity_max;
  to[rank] = rivals < 2 || begin != not_listed ? Row(job.first + tile.row_at[place], rivals, best,
                                                     static_cast<std::uint32_t>(list_vectors(job.first)) + begin)
                                               : Row::unlisted(job.first + tile.row_at[place], best, rank);
}

constexpr std::uint32_t row_vectors = rivals_max / list_step;
static_assert(rivals_max % list_step == 0 && 32 % row_vectors == 0);

/// Writes lists, a vector a lane, as many lanes a row as vectors may be.
template <typename Tile>
__device__ void write_lists(const Tile& tile, const Job& job, const Begins<Tile>& begins, uint4* to) {
  to += list_vectors(job.first);
  for (std::uint32_t base = threadIdx.x / 32 * 32; base < job.rows * row_vectors; base += blockDim.x) {
    const std::uint32_t place = (base + threadIdx.x % 32) / row_vectors;
    const std::uint32_t number = threadIdx.x % row_vectors;
    const std::uint32_t rivals = tile.rivals[place];
    const std::uint32_t begin = rarely(tile.crowded) ? begins.of(place) : share_of(place);
    if (begin != not_listed && rivals > 1 && number * list_step < rivals)
      to[begin + number] = reinterpret_cast<const uint4*>(tile.list[place])[number];
  }
}

/// In the place of those of a frame that do not count: the reduce loads as many rows as there can be.
__device__ inline void write_absent(Row* rows, std::uint32_t counted, std::uint32_t capacity) {
  for (std::uint32_t rank = counted + threadIdx.x; rank < capacity; rank += blockDim.x)
    rows[rank] = Row::absent();
}

/// What is known of a frame without candidates, by one block. Not inlined, since it is in the way.
static __noinline__ __device__ void write_none(Found to, std::uint32_t capacity) {
  if (threadIdx.x == 0)
    *to.tally = {};
  write_absent(to.rows, 0, capacity);
}

/// The block writes what it knows, once map_tile() has been here.
template <typename Tile>
__device__ void write_rows(const Arguments& a, const Tile& tile, const Job& job, const Found& to) {
  const unsigned warp = threadIdx.x / 32;
  const unsigned warps = blockDim.x / 32;
  Begins<Tile> begins = share_room<Tile>();
  if (rarely(tile.crowded))
    begins = place_lists(tile, job);
  if (!a.first_rival)
    write_lists(tile, job, begins, to.lists);
#pragma unroll
  for (unsigned w = 0; w < Tile::words; ++w)
    if (warp == warps - 1 - w % warps)
      write_row(tile, job, 32 * w + threadIdx.x % 32, a.first_rival ? not_listed : begins.of_word[w], to.rows);
  if (job.first == 0) {
    if (threadIdx.x == 0)
      *to.tally = tile.tally;
    write_absent(to.rows, job.n - tile.tally.malformed - tile.tally.low, a.frames.capacity);
  }
}

}  // namespace crowd::direct
