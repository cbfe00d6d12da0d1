// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Where a tile's lists of suppressors go in the room that it has for them.
#pragma once

#include "kernels/direct/tile.cuh"

namespace crowd::CROWD_DIRECT {

template <typename Tile>
__device__ bool is_valid_row(const Tile& tile, std::uint32_t place) {
  return tile.sorted[place] != ~0u;
}

/// The lane's place in a word.
__device__ inline std::uint32_t place_of(unsigned word) {
  return 32 * word + threadIdx.x % 32;
}

/// First vectors of the tile's lists, or not_listed; a lane holds that of its row of each word.
template <typename Tile>
struct Begins {
  std::uint32_t of_word[Tile::words];
  bool leaves_out = false;  ///< one of the lane's rows has several suppressors and no list
  static_assert(Tile::words <= 2);

  __device__ std::uint32_t own(unsigned word) const {
    return word ? of_word[Tile::words - 1] : of_word[0];
  }
  /// Of any row; for a whole warp.
  __device__ std::uint32_t of(std::uint32_t place) const {
    std::uint32_t begin = not_listed;
#pragma unroll
    for (unsigned w = 0; w < Tile::words; ++w)
      if (const std::uint32_t it = __shfl_sync(all_lanes, of_word[w], static_cast<int>(place % 32)); place / 32 == w)
        begin = it;
    return begin;
  }
};

/// If no list is longer than its share of the room, each starts at its share.
__device__ inline std::uint32_t share_of(std::uint32_t place) {
  return list_share * place;
}

template <typename Tile>
__device__ Begins<Tile> share_room() {
  Begins<Tile> begins;
#pragma unroll
  for (unsigned w = 0; w < Tile::words; ++w)
    begins.of_word[w] = share_of(place_of(w));
  return begins;
}

/// Else lists follow one another, and those beyond the room are left out; all in a dense tile. For a whole warp.
template <typename Tile>
__device__ Begins<Tile> place_lists(const Tile& tile, const BlockRows& block) {
  const auto all_room = static_cast<std::uint32_t>(list_vectors(block.first + block.rows) - list_vectors(block.first));
  const std::uint32_t room = tile.crowded == Tile::dense ? 0 : all_room;
  Begins<Tile> begins;
  std::uint32_t before = 0;
#pragma unroll
  for (unsigned w = 0; w < Tile::words; ++w) {
    const std::uint32_t suppressors = tile.suppressors[place_of(w)];
    const std::uint32_t own = suppressors > 1 && suppressors <= suppressors_max ? ceil_div(suppressors, list_step) : 0;
    const std::uint32_t upto = before + warp_prefix(own);
    begins.of_word[w] = own && upto <= room ? upto - own : not_listed;
    begins.leaves_out |= suppressors > 1 && begins.of_word[w] == not_listed;
    before = __shfl_sync(all_lanes, upto, 31);
  }
  return begins;
}

}  // namespace crowd::CROWD_DIRECT
