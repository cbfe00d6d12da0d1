// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the map of a tile has found, on its way to the reduce: ranks, the number of rivals, lists of them.
#pragma once

#include "tile.cuh"

namespace crowd::direct {

/// Candidates that rank better than each of a word's rows, by a warp, a row a lane.
template <typename Tile>
__device__ std::uint32_t rank_of(const Tile& tile, unsigned word) {
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
  return better;
}

/// Writes a word's rows, by a warp, a row a lane, and says where their lists go.
template <typename Tile>
__device__ void write_word(const Arguments& a, Tile& tile, const Job& job, unsigned word, const Found& to) {
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t r = 32 * word + lane;
  const bool counts = r < job.rows && tile.key[r] != ~0u;
  const std::uint32_t rank = rank_of(tile, word);
  const std::uint32_t rivals = counts ? tile.rivals[r] : 0;
  const bool several = rivals > 1 && rivals <= rivals_max && !a.first_rival;
  const std::uint32_t length = several ? ceil_div(rivals, list_step) * list_step : 0;
  const std::uint32_t begin = take_places(tile.listed, length);
  const bool listed = length && begin + length <= job.rows * list_room;
  tile.begin[r] = listed ? static_cast<std::uint16_t>(begin) : not_listed;
  const std::uint32_t best = capacity_max - 1 - tile.best[r] % capacity_max;
  if (counts)
    to.rows[rank] = rivals < 2 || listed ? Row(job.first + r, rivals, best, (job.first * list_room + begin) / list_step)
                                         : Row::unlisted(job.first + r, best, rank);
}

/// Writes the lists: a thread does a vector at a time.
template <typename Tile>
__device__ void write_lists(const Tile& tile, const Job& job, std::uint16_t* to) {
  constexpr std::uint32_t vectors = rivals_max / list_step;
  for (std::uint32_t task = threadIdx.x; task < job.rows * vectors; task += blockDim.x) {
    const std::uint32_t r = task / vectors;
    const std::uint32_t k = task % vectors * list_step;
    if (tile.begin[r] == not_listed || k >= tile.rivals[r])
      continue;
    const auto* list = reinterpret_cast<const uint2*>(tile.list[r]);
    const uint2 some = list[k / list_step];
    const auto entry = [&](std::uint32_t p, std::uint32_t bits) {
      return k + p < tile.rivals[r] ? bits & 0xffff : nobody;
    };
    auto* vectors_of_tile = reinterpret_cast<uint2*>(to + job.first * list_room);
    vectors_of_tile[(tile.begin[r] + k) / list_step] = {entry(0, some.x) | entry(1, some.x >> 16) << 16,
                                                        entry(2, some.y) | entry(3, some.y >> 16) << 16};
  }
}

/// The block writes what it knows.
template <typename Tile>
__device__ void write_rows(const Arguments& a, Tile& tile, const Job& job, const Found& to) {
  const unsigned warps = blockDim.x / 32;
  for (unsigned w = threadIdx.x / 32; w < Tile::words; w += warps)
    write_word(a, tile, job, w, to);
  if (job.first == 0) {
    if (threadIdx.x == 0)
      *to.tally = tile.tally;
    // The reduce loads as many rows as there are candidates before it knows how many count.
    for (std::uint32_t rank = job.n - tile.tally.malformed - tile.tally.low + threadIdx.x; rank < job.n;
         rank += blockDim.x)
      to.rows[rank] = Row(uint2{0, 0});
  }
  if (a.first_rival)
    return;
  __syncthreads();
  write_lists(tile, job, to.lists);
}

}  // namespace crowd::direct
