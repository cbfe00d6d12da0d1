// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Writes what the map of a tile has found: ranks, numbers of suppressors, lists.
#pragma once

#include "kernels/direct/masks.cuh"

namespace crowd::CROWD_DIRECT {

/// Rank of the row at each of a word's places, a row a lane. For a whole warp.
template <typename Tile>
__device__ std::uint32_t rank_row(const Tile& tile, unsigned word) {
  const unsigned lane = threadIdx.x % 32;
  // Columns of the tile with the same score were all counted as better.
  std::uint32_t better = 0 - tile.ties[32 * word + lane];
#pragma unroll
  for (unsigned w = 0; w < Tile::words; ++w) {
    const std::uint32_t own = tile.above[32 * w + lane + 1];
    // Columns that outrank this row: those that outrank more rows than come before it.
    if (w >= word) {
      const std::uint32_t upto = warp_prefix(own);
      better += __shfl_sync(all_lanes, upto, 31);
      if (w == word)
        better -= upto - own;
    }
  }
  return better;
}

constexpr std::uint32_t row_vectors = suppressors_max / list_step;
static_assert(suppressors_max % list_step == 0 && 32 % row_vectors == 0);

/// A block's results. Each of the last `words` warps, which have the fewest pairs, writes a word of rows: the block has
/// at least as many warps.
template <typename Tile>
class Results {
 public:
  /// Before the last pairs are tested: what depends on ranks alone.
  __device__ Results(const Tile& tile, const BlockRows& block) {
    if (has_row()) {
      const std::uint32_t rank = rank_row(tile, word());
      rank_ = materialize(is_valid_row(tile, place()) ? rank : none);
      index_ = materialize(block.first + tile.row_at[place()]);
    }
    first_list_ = materialize(static_cast<std::uint32_t>(list_vectors(block.first)));
  }

  /// After a barrier that follows the last test.
  __device__ void write(const DirectArguments& a, Tile& tile, const BlockRows& block, const Found& to) const {
    // Relaxed: the compiler must not move these loads behind the next branch.
    const std::uint32_t suppressors = load_relaxed(&tile.suppressors[listed_place(threadIdx.x)]);
    const std::uint32_t crowded = load_relaxed(&tile.crowded);
    Begins<Tile> begins = share_room<Tile>();
    if (unlikely(crowded) && (!a.existence_only || crowded == Tile::dense)) {
      begins = place_lists(tile, block);
      if (crowded == Tile::dense || __any_sync(all_lanes, begins.leaves_out))
        write_masks(a, tile, block, begins, to.masks);
    }
    if (!a.existence_only)
      write_lists(tile, block, crowded, begins, suppressors, to.lists);
    if (has_row() && rank_ != none)
      write_row(tile, a.existence_only ? not_listed : begins.own(word()), to.rows);
  }

 private:
  static constexpr std::uint32_t none = ~0u;

  __device__ static unsigned word() {
    return Tile::words == 1 ? 0 : last_warp() - threadIdx.x / 32;
  }
  __device__ static unsigned last_warp() {
    return blockDim.x / 32 - 1;
  }
  __device__ static bool has_row() {
    return last_warp() - threadIdx.x / 32 < Tile::words;
  }
  __device__ static std::uint32_t place() {
    return place_of(word());
  }

  /// Writes a row at its rank. `begin`: its list, or not_listed.
  __device__ void write_row(const Tile& tile, std::uint32_t begin, Row* to) const {
    const std::uint32_t suppressors = tile.suppressors[place()];
    const std::uint32_t tied = suppressors > 1 ? tile.tied[word()] >> threadIdx.x % 32 & 1 : 0;
    const std::uint32_t best = tied * Row::tied_bit + (capacity_max - 1 - tile.best[place()] % capacity_max);
    to[rank_] = suppressors < 2 || begin != not_listed ? Row(index_, suppressors, best, first_list_ + begin)
                                                       : Row::masked(index_, best);
  }

  /// Consecutive threads write the vectors of one row's list.
  __device__ static std::uint32_t listed_place(std::uint32_t thread) {
    return thread / row_vectors % Tile::rows_max;
  }

  /// Writes lists, a vector a thread. `suppressors`: how many the thread's first row has.
  __device__ static void write_lists(const Tile& tile, const BlockRows& block, bool crowded, const Begins<Tile>& begins,
                                     std::uint32_t suppressors, uint4* to) {
    const std::uint32_t number = threadIdx.x % row_vectors;
    // Whole warps loop together: Begins::of() is collective.
    for (std::uint32_t thread = threadIdx.x; thread / 32 * 32 < block.rows * row_vectors;) {
      const std::uint32_t place = listed_place(thread);
      const std::uint32_t begin = unlikely(crowded) ? begins.of(place) : share_of(place);
      if (begin != not_listed && suppressors > 1 && number * list_step < suppressors)
        to[begin + number] = reinterpret_cast<const uint4*>(tile.list[place])[number];
      thread += blockDim.x;
      suppressors = tile.suppressors[listed_place(thread)];
    }
  }

  // The thread's row, if has_row():
  std::uint32_t rank_;  ///< none: not valid
  std::uint32_t index_;
  std::uint32_t first_list_;  ///< first vector of the tile among the frame's
};

/// Fills the ranks beyond the valid candidates: the reduce loads `capacity` rows.
__device__ inline void write_absent(Row* rows, std::uint32_t counted, std::uint32_t capacity) {
  for (std::uint32_t rank = counted + threadIdx.x; rank < capacity; rank += blockDim.x)
    rows[rank] = Row::absent();
}

/// Results of a frame without candidates, for a block. Not inlined, to keep this rare path out of the hot code.
static __noinline__ __device__ void write_none(Found to, std::uint32_t capacity) {
  if (threadIdx.x == 0)
    *to.rejected = {};
  write_absent(to.rows, 0, capacity);
}

/// The first block of a frame writes how many candidates are not valid.
template <typename Tile>
__device__ void write_rejected(const DirectArguments& a, const Tile& tile, const BlockRows& block, const Found& to) {
  if (block.first)
    return;
  if (threadIdx.x == 0)
    *to.rejected = tile.rejected;
  write_absent(to.rows, block.n - tile.rejected.invalid - tile.rejected.below_threshold, a.capacity);
}

}  // namespace crowd::CROWD_DIRECT
