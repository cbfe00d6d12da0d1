// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The map of a tile of rows by one block, against all columns of the frame. Each axis of the plane has bins with a bit
// for every row. A row sets its bit where a suppressor's centre can lie; a column ANDs the words of its own two bins to
// find the rows near it. A binary search over the rows' scores says which rows a column outranks, and counts for the
// rows' ranks. The few pairs left are queued, and tested a pair a thread.
#pragma once

#include "kernels/direct/tile_pairs.cuh"
#include "kernels/direct/tile_results.cuh"
#include "kernels/direct/tile_rows.cuh"

namespace crowd::CROWD_DIRECT {

/// Finds how many rows each column outranks (Columns::key), counts that in tile.above, and sets `near` to a mask of
/// these rows.
template <typename Tile, unsigned items>
__device__ void count_better(Tile& tile, const Columns<items, Tile::bounded>& columns,
                             std::uint32_t (&near)[items][Tile::words]) {
  const SharedWords begin(tile.sorted);
  // The first two steps of each search and its last need only four keys: loaded once.
  constexpr unsigned quarter = Tile::rows_max / 4;
  const std::uint32_t first = begin[quarter - 1];
  const std::uint32_t middle = begin[2 * quarter - 1];
  const std::uint32_t third = begin[3 * quarter - 1];
  const std::uint32_t last = begin[4 * quarter - 1];
  SharedWords at[items];
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    const bool upper = middle < columns.key[k];
    at[k] = begin;
    at[k] += upper ? 2 * quarter : 0;
    if ((upper ? third : first) < columns.key[k])
      at[k] += quarter;
  }
#pragma unroll
  for (unsigned step = quarter / 2; step; step /= 2)
#pragma unroll
    for (unsigned k = 0; k < items; ++k)
      if (at[k][step - 1] < columns.key[k])
        at[k] += step;
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    if (last < columns.key[k])
      at[k] += 1;
  // After all searches: the compiler moves no load ahead of an atomic.
  const std::uint32_t above = SharedWords(tile.above) - begin;
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    const std::uint32_t below = at[k] - begin;
    at[k] += above;
    at[k].count();
#pragma unroll
    for (unsigned w = 0; w < Tile::words; ++w)
      near[k][w] = low_bits(below > 32 * w ? below - 32 * w : 0);
  }
}

/// Records that column `i` suppresses the row at `place`.
template <typename Tile>
__device__ void add_suppressor(const DirectArguments& a, Tile& tile, const BlockRows& block, std::uint32_t place,
                               std::uint32_t i) {
  const std::uint32_t number = atomicAdd(&tile.suppressors[place], 1u);
  const std::uint32_t key = number_key(a.frames.scores[block.input + i]);
  const std::uint32_t own = as_best(key, i);
  if (!unlikely(a.names_best))
    atomicMax(&tile.best[place], own);
  else if (atomicMax(&tile.best[place], own) / capacity_max == key / capacity_max)
    atomicOr(&tile.tied[place / 32], 1u << place % 32);
  if (number < suppressors_max)
    tile.list[place][number] = static_cast<std::uint16_t>(i * list_unit);
  if (unlikely(number >= list_share * list_step))
    tile.crowded = 1;
}

/// Tests whether column `i` suppresses the row at `place`, and records it.
template <typename Tile>
__device__ void test_pair(const DirectArguments& a, Tile& tile, const BlockRows& block, std::uint32_t place,
                          std::uint32_t i) {
  if (suppresses_row(a, tile, block, place, i))
    add_suppressor(a, tile, block, place, i);
}

template <typename Tile>
__device__ void test_pairs(const DirectArguments& a, Tile& tile, const BlockRows& block, std::uint32_t count) {
  for (std::uint32_t q = threadIdx.x; q < count; q += blockDim.x) {
    const Pair pair = tile.queue[q];
    test_pair(a, tile, block, pair.place(), pair.column());
  }
}

/// The rows of a word that have set their bit in any bin of the range.
__device__ inline std::uint32_t marked(const std::uint32_t* near, const IndexRange& bin_range) {
  std::uint32_t rows = 0;
  for (std::uint32_t k = 0; k < bin_range.count; ++k)
    rows |= near[(static_cast<std::uint32_t>(bin_range.first) + k) % axis_bins];
  return rows;
}

/// Drops rows that are too far from the column to be suppressed by it.
template <typename Tile>
__device__ void drop_far(const Tile& tile, const AxisBins<Tile::bounded>& bins, std::uint32_t (&rows)[Tile::words]) {
  if constexpr (Tile::bounded) {
#pragma unroll
    for (unsigned w = 0; w < Tile::words; ++w)
      rows[w] &= bin_word(tile.near[0][w], bins.x);
#pragma unroll
    for (unsigned w = 0; w < Tile::words; ++w)
      if (rows[w])  // few lanes left: fewer bank conflicts
        rows[w] &= bin_word(tile.near[1][w], bins.y);
  } else {
#pragma unroll
    for (unsigned w = 0; w < Tile::words; ++w)
      rows[w] &= marked(tile.near[0][w], bins.x) & marked(tile.near[1][w], bins.y);
  }
}

/// Drops pairs of rows that have a suppressor, where that is all that matters. For a whole warp.
template <typename Tile, unsigned items>
__device__ void drop_settled(const Tile& tile, std::uint32_t (&near)[items][Tile::words]) {
#pragma unroll
  for (unsigned w = 0; w < Tile::words; ++w) {
    const std::uint32_t settled = __ballot_sync(all_lanes, tile.suppressors[place_of(w)]);
#pragma unroll
    for (unsigned k = 0; k < items; ++k)
      near[k][w] &= ~settled;
  }
}

/// Moves one of the rows near a column, if any, to the queue.
__device__ inline void queue_pair(SharedWords& to, std::uint32_t& near, std::uint32_t word, std::uint32_t column) {
  const std::uint32_t bit = near & (0 - near);
  to.append_if(near, bit, word * capacity_max + column);
  near ^= bit;
}

/// Moves pairs of columns and rows near them to the queue, as far as there is room. The queue spreads neighbours over
/// threads, whatever the order of candidates.
template <typename Tile, unsigned items>
__device__ void queue_pairs(Tile& tile, std::uint32_t (&near)[items][Tile::words]) {
  std::uint32_t own = 0;
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
#pragma unroll
    for (unsigned w = 0; w < Tile::words; ++w)
      own += static_cast<std::uint32_t>(__popc(near[k][w]));
  const std::uint32_t place = take_places(tile.queued, own);
  const SharedWords begin(&tile.queue[0].bit);
  SharedWords to = begin;
  to += pair_words * place;
  // Most threads have two rows near their columns at most: no loop for these.
  if (!unlikely(place + own > Tile::queue_room))
#pragma unroll
    for (unsigned row = 0; row < 2; ++row) {
      std::uint32_t left = 0;
#pragma unroll
      for (unsigned k = 0; k < items; ++k)
#pragma unroll
        for (unsigned w = 0; w < Tile::words; ++w) {
          queue_pair(to, near[k][w], w, k * blockDim.x + threadIdx.x);
          left |= near[k][w];
        }
      if (!left)
        return;
    }
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
#pragma unroll
    for (unsigned w = 0; w < Tile::words; ++w)
      while (near[k][w] && to - begin < pair_words * Tile::queue_room)
        queue_pair(to, near[k][w], w, k * blockDim.x + threadIdx.x);
}

/// Leaves all rows of a dense tile to write_masks(). Best suppressors are not the very best then: Tile::tied. A barrier
/// has to follow.
template <typename Tile>
__device__ void start_anew(const DirectArguments& a, Tile& tile) {
  if (threadIdx.x == 0)
    tile.crowded = Tile::dense;
  if (a.existence_only)
    return;
  for (unsigned k = threadIdx.x; k < Tile::rows_max; k += blockDim.x) {
    tile.suppressors[k] = 0;
    tile.best[k] = 0;
    tile.tied[k / 32] = ~0u;
  }
}

/// Whether masks of all rows take less time than queues: there are more pairs than fit one. Where it matters only
/// whether rows have suppressors, a few queues settle most.
__device__ inline bool is_dense(const DirectArguments& a, unsigned queues, bool overflows) {
  return overflows && (!a.existence_only || queues > tuning::direct_queues);
}

/// Finds and tests all pairs of the tile, a queue at a time, or finds that it is dense.
template <typename Tile, unsigned items>
__device__ void find_suppressors(const DirectArguments& a, Tile& tile, const BlockRows& block,
                                 const Columns<items, Tile::bounded>& columns,
                                 std::uint32_t (&near)[items][Tile::words]) {
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    drop_far(tile, columns.bins[k], near[k]);
  for (unsigned queues = 1;; ++queues) {
    queue_pairs<Tile, items>(tile, near);
    __syncthreads();
    const std::uint32_t queued = tile.queued;
    const bool overflows = unlikely(queued > Tile::queue_room);
    if (is_dense(a, queues, overflows))
      return start_anew(a, tile);
    test_pairs(a, tile, block, min(queued, Tile::queue_room));
    if (!overflows)
      return;
    __syncthreads();
    if (threadIdx.x == 0)
      tile.queued = 0;
    drop_settled<Tile, items>(tile, near);
    __syncthreads();
  }
}

/// Maps a tile of one row or more, `items` columns a thread: writes rows by rank, and lists from the tile's first
/// vector on. The tile is clear. Calls `wait` before the first write to `to`.
template <unsigned items, typename Tile, typename Function>
__device__ void map_tile(const DirectArguments& a, Tile& tile, const BlockRows& block, const Found& to,
                         const Function& wait) {
  constexpr unsigned tasks = row_tasks<Tile>;
  const unsigned warp = threadIdx.x / 32;
  // A few warps prepare the rows while the columns' loads are in flight.
  for (unsigned task = warp; task < tasks; task += blockDim.x / 32)
    store_rows(a, tile, block, task);
  Raw raw[items];
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    if (const std::uint32_t i = k * blockDim.x + threadIdx.x; i < block.n)
      raw[k] = load(a, block.input + i);
  __syncthreads();
  sort_rows(tile, block);
  const Columns<items, Tile::bounded> columns = judge_columns<Tile, items>(a, tile, block, raw);
  __syncthreads();
  std::uint32_t near[items][Tile::words];
  count_better(tile, columns, near);
  find_suppressors(a, tile, block, columns, near);
  const Results<Tile> results(tile, block);
  __syncthreads();
  wait();
  results.write(a, tile, block, to);
  write_rejected(a, tile, block, to);
}

}  // namespace crowd::CROWD_DIRECT
