// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the map of a tile has found, on its way to the reduce: ranks, the number of rivals, lists of them.
#pragma once

#include "tile.cuh"

namespace crowd::direct {

template <typename Tile>
__device__ bool counts(const Tile& tile, const Job& job, std::uint32_t r) {
  return r < job.rows && tile.key[r] != ~0u;
}

/// Where lists go among those of the tile, or not_listed, by a warp, a row of each word a lane. One after another; who
/// finds no room has none.
template <typename Tile>
struct Begins {
  std::uint32_t of_word[Tile::words];

  /// Of row `r`, which need not be the lane's.
  __device__ std::uint32_t of(std::uint32_t r) const {
    std::uint32_t begin = not_listed;
#pragma unroll
    for (unsigned w = 0; w < Tile::words; ++w)
      if (const std::uint32_t it = __shfl_sync(all_lanes, of_word[w], static_cast<int>(r % 32)); r / 32 == w)
        begin = it;
    return begin;
  }
};

template <typename Tile>
__device__ Begins<Tile> place_lists(const Tile& tile, const Job& job) {
  const auto room = static_cast<std::uint32_t>(list_vectors(job.first + job.rows) - list_vectors(job.first));
  Begins<Tile> begins;
  std::uint32_t before = 0;
#pragma unroll
  for (unsigned w = 0; w < Tile::words; ++w) {
    const std::uint32_t r = 32 * w + threadIdx.x % 32;
    const std::uint32_t rivals = counts(tile, job, r) ? tile.rivals[r] : 0;
    const std::uint32_t own = rivals > 1 && rivals <= rivals_max ? ceil_div(rivals, list_step) : 0;
    const std::uint32_t upto = before + warp_prefix(own);
    begins.of_word[w] = own && upto <= room ? upto - own : not_listed;
    before = __shfl_sync(all_lanes, upto, 31);
  }
  return begins;
}

/// Writes a row to where its rank says. `begin`: where its list does, or not_listed.
template <typename Tile>
__device__ void write_row(const Tile& tile, const Job& job, std::uint32_t r, std::uint32_t begin, Row* to) {
  if (!counts(tile, job, r))
    return;
  const std::uint32_t rank = tile.rank[r];
  const std::uint32_t rivals = tile.rivals[r];
  const std::uint32_t best = capacity_max - 1 - tile.best[r] % capacity_max;
  to[rank] = rivals < 2 || begin != not_listed
                 ? Row(job.first + r, rivals, best, static_cast<std::uint32_t>(list_vectors(job.first)) + begin)
                 : Row::unlisted(job.first + r, best, rank);
}

/// Writes the vector of a row's list that begins with rival `k`.
template <typename Tile>
__device__ void write_vector(const Tile& tile, std::uint32_t r, std::uint32_t k, uint4& to) {
  const uint4 some = reinterpret_cast<const uint4*>(tile.list[r])[k / list_step];
  const std::uint32_t left = tile.rivals[r] - k;
  const auto both = [&](std::uint32_t p, std::uint32_t bits) {
    const std::uint32_t first = p < left ? bits % (1u << 16) * list_unit : no_rival;
    const std::uint32_t second = p + 1 < left ? (bits >> 16) * list_unit : no_rival;
    return first | second << 16;
  };
  to = {both(0, some.x), both(2, some.y), both(4, some.z), both(6, some.w)};
}

constexpr std::uint32_t row_vectors = rivals_max / list_step;
static_assert(rivals_max % list_step == 0 && 32 % row_vectors == 0);

/// Writes lists, a vector a lane, as many lanes a row as vectors may be. Returns where they begin.
template <typename Tile>
__device__ Begins<Tile> write_lists(const Tile& tile, const Job& job, uint4* to) {
  const Begins<Tile> begins = place_lists(tile, job);
  for (std::uint32_t base = threadIdx.x / 32 * 32; base < job.rows * row_vectors; base += blockDim.x) {
    const std::uint32_t r = (base + threadIdx.x % 32) / row_vectors;
    const std::uint32_t number = threadIdx.x % row_vectors;
    const std::uint32_t begin = begins.of(r);
    if (begin != not_listed && number * list_step < tile.rivals[r])
      write_vector(tile, r, number * list_step, to[list_vectors(job.first) + begin + number]);
  }
  return begins;
}

/// The block writes what it knows, once map_tile() has been here.
template <typename Tile>
__device__ void write_rows(const Arguments& a, const Tile& tile, const Job& job, const Found& to) {
  Begins<Tile> begins;
#pragma unroll
  for (unsigned w = 0; w < Tile::words; ++w)
    begins.of_word[w] = not_listed;
  if (!a.first_rival && threadIdx.x / 32 * 32 < job.rows * row_vectors)
    begins = write_lists(tile, job, to.lists);
#pragma unroll
  for (unsigned w = 0; w < Tile::words; ++w)
    if (threadIdx.x / 32 == w % (blockDim.x / 32))
      write_row(tile, job, 32 * w + threadIdx.x % 32, begins.of_word[w], to.rows);
  if (job.first == 0) {
    if (threadIdx.x == 0)
      *to.tally = tile.tally;
    // The reduce loads as many rows as there are candidates before it knows how many count.
    for (std::uint32_t rank = job.n - tile.tally.malformed - tile.tally.low + threadIdx.x; rank < job.n;
         rank += blockDim.x)
      to.rows[rank] = Row::absent();
  }
}

}  // namespace crowd::direct
