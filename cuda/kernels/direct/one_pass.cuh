// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Map-reduce of frames of more than 4096 candidates, where it matters only whether a candidate has a suppressor. The
// map (one_pass_map.cu) finds the survivors of each tile of rows, the reduce (one_pass_reduce.cu) their ranks. Where
// candidates are counted on the device, these two launches take frames of up to 4096 as well, as map.cu and reduce.cu
// would.
#pragma once

#include "kernels/direct/direct.cuh"

namespace crowd::CROWD_DIRECT {

/// Threads of a block of both kernels.
constexpr unsigned one_pass_threads = 1024;
constexpr unsigned one_pass_warps = one_pass_threads / 32;
/// Largest tile of a frame of more than 4096 candidates, in words of 32 rows.
constexpr unsigned one_pass_words = 4;
/// Tiles of a frame. Their survivors take about half of the workspace of the stages at most.
constexpr unsigned one_pass_tiles_max = 512;
static_assert(one_pass_tiles_max <= one_pass_threads, "a thread loads each tile's count");
static_assert(tuning::one_pass_capacity <= one_pass_tiles_max * 32 * one_pass_words);

/// A survivor as the map leaves it.
struct alignas(8) Survivor {
  std::uint32_t key;  ///< score_key()
  std::uint32_t index;
};

/// What the map finds of a tile's rows.
struct TileCounts {
  std::uint32_t survivors, invalid, below_threshold;
};

/// DirectArguments are those of frames of up to `capacity` candidates.
struct OnePassArguments : DirectArguments {
  std::uint32_t tiles;  ///< of a larger frame: all have the same number of rows, but for the last
  unsigned words;       ///< of such a tile at most
  // Of frame 0; those of the others follow:
  Survivor* survivors;  ///< of each tile, by index, with room for 32 * words
  TileCounts* counts;   ///< of each tile

  /// Index of the tile's entry in `counts`.
  __device__ std::size_t slot(std::uint32_t frame, std::uint32_t of_tile) const {
    return static_cast<std::size_t>(frame) * tiles + of_tile;
  }
  __device__ bool is_few(std::uint32_t n) const {
    return n <= capacity;
  }
};

void launch_one_pass_map(const Call& call, const OnePassArguments& arguments);

}  // namespace crowd::CROWD_DIRECT
