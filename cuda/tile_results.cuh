// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the map of a tile has found, on its way to the reduce: ranks, the number of rivals, lists of them.
#pragma once

#include "tile.cuh"

namespace crowd::direct {

/// Counts the candidates that rank better than each of a word's rows, by a warp, a row a lane.
template <typename Tile>
__device__ void rank_rows(Tile& tile, unsigned word) {
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t r = 32 * word + lane;
  const std::uint32_t place = tile.place[r];
  std::uint32_t better = tile.ties[r];
#pragma unroll
  for (unsigned w = 0; w < Tile::words; ++w) {
    const std::uint32_t upto = warp_prefix(tile.above[32 * w + lane + 1]);
    const std::uint32_t all = __shfl_sync(all_lanes, upto, 31);
    // What is above no more than `place` rows does not count.
    const std::uint32_t before = __shfl_sync(all_lanes, upto, static_cast<int>((place - 1) % 32));
    better += place <= 32 * w ? all : place >= 32 * w + 32 ? 0 : all - before;
  }
  tile.rank[r] = better;
}

template <typename Tile>
__device__ bool row_counts(const Tile& tile, const Job& job, std::uint32_t r) {
  return r < job.rows && tile.key[r] != ~0u;
}

/// Says where the lists of a word's rows go, by a warp, a row a lane. One after another; who finds no room has none.
template <typename Tile>
__device__ void place_lists(Tile& tile, const Job& job, unsigned word) {
  const unsigned lane = threadIdx.x % 32;
  const auto length_of = [&](std::uint32_t r) {
    const std::uint32_t rivals = row_counts(tile, job, r) ? tile.rivals[r] : 0;
    return rivals > 1 && rivals <= rivals_max ? ceil_div(rivals, list_step) * list_step : 0;
  };
  const std::uint32_t own = length_of(32 * word + lane);
  std::uint32_t begin = warp_prefix(own) - own;
  for (unsigned w = 0; w < word; ++w)
    begin += warp_sum(length_of(32 * w + lane));
  const bool listed = own && begin + own <= job.rows * list_room;
  tile.begin[32 * word + lane] = listed ? static_cast<std::uint16_t>(begin) : not_listed;
}

/// Writes a row to where its rank says.
template <typename Tile>
__device__ void write_row(const Arguments& a, const Tile& tile, const Job& job, std::uint32_t r, Row* to) {
  if (!row_counts(tile, job, r))
    return;
  const std::uint32_t rank = tile.rank[r];
  const std::uint32_t rivals = tile.rivals[r];
  const std::uint32_t begin = a.first_rival ? not_listed : tile.begin[r];
  const std::uint32_t best = capacity_max - 1 - tile.best[r] % capacity_max;
  to[rank] = rivals < 2 || begin != not_listed
                 ? Row(job.first + r, rivals, best, (job.first * list_room + begin) / list_step)
                 : Row::unlisted(job.first + r, best, rank);
}

constexpr std::uint32_t list_vectors = rivals_max / list_step;

/// Writes a vector of the lists, list_vectors of each row.
template <typename Tile>
__device__ void write_vector(const Tile& tile, const Job& job, std::uint32_t number, std::uint16_t* to) {
  const std::uint32_t r = number / list_vectors;
  const std::uint32_t k = number % list_vectors * list_step;
  if (tile.begin[r] == not_listed || k >= tile.rivals[r])
    return;
  const uint2 some = reinterpret_cast<const uint2*>(tile.list[r])[k / list_step];
  const auto entry = [&](std::uint32_t p, std::uint32_t bits) {
    return k + p < tile.rivals[r] ? bits & 0xffff : nobody;
  };
  auto* vectors_of_tile = reinterpret_cast<uint2*>(to + job.first * list_room);
  vectors_of_tile[(tile.begin[r] + k) / list_step] = {entry(0, some.x) | entry(1, some.x >> 16) << 16,
                                                      entry(2, some.y) | entry(3, some.y >> 16) << 16};
}

/// The block writes what it knows. Ranks are found by the first warps, and by the last where lists go.
template <typename Tile>
__device__ void write_rows(const Arguments& a, Tile& tile, const Job& job, const Found& to) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  const unsigned warps = blockDim.x / 32;
  for (unsigned word = warp; word < Tile::words; word += warps)
    rank_rows(tile, word);
  if (!a.first_rival) {
    for (unsigned word = warps - 1 - warp; word < Tile::words; word += warps)
      place_lists(tile, job, word);
    __syncthreads();
    for (std::uint32_t number = threadIdx.x; number < job.rows * list_vectors; number += blockDim.x)
      write_vector(tile, job, number, to.lists);
  }
  for (unsigned word = warp; word < Tile::words; word += warps)
    write_row(a, tile, job, 32 * word + lane, to.rows);
  if (job.first == 0) {
    if (threadIdx.x == 0)
      *to.tally = tile.tally;
    // The reduce loads as many rows as there are candidates before it knows how many count.
    for (std::uint32_t rank = job.n - tile.tally.malformed - tile.tally.low + threadIdx.x; rank < job.n;
         rank += blockDim.x)
      to.rows[rank] = Row(uint2{0, 0});
  }
}

}  // namespace crowd::direct
