// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The map: masks of rows that have more suppressors than a list has room for. A block compares such rows of its tile
// with all columns once more, 32 columns a warp at a time, which leave a word of each row's mask.
#pragma once

#include "kernels/direct/tile_lists.cuh"
#include "kernels/direct/tile_pairs.cuh"

namespace crowd::CROWD_DIRECT {

/// A warp's 32 columns as rows are compared with them, in place of queued pairs.
struct StagedColumns {
  float4 box[32];
  float part[32];         ///< Bounded::part
  std::uint32_t key[32];  ///< Columns::key

  template <typename Tile>
  __device__ static StagedColumns& of_warp(Tile& tile) {
    static_assert(sizeof(StagedColumns) <= queued_a_warp * sizeof(Pair) &&
                  queued_a_warp * sizeof(Pair) % alignof(StagedColumns) == 0);
    return *reinterpret_cast<StagedColumns*>(tile.queue + threadIdx.x / 32 * queued_a_warp);
  }
};

/// Columns::key, with the full test of validity.
__device__ inline std::uint32_t column_key(const DirectArguments& a, const BlockRows& block, std::uint32_t i) {
  if (i >= block.n)
    return 0;
  const Raw raw = load(a, block.input + i);
  const bool valid = validity(a, block.input + i, raw) == Validity::valid;
  return valid ? number_key(raw.score) + (i < block.first + block.rows) : 0;
}

/// Stages the warp's columns, a column a lane.
__device__ inline void stage_column(const DirectArguments& a, const BlockRows& block, std::uint32_t i,
                                    StagedColumns& columns) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t key = column_key(a, block, i);
  const Bounded it = Bounded::of(key ? a.frames.boxes[block.input + i] : float4{}, a.rule);
  __syncwarp();
  columns.box[lane] = it.box;
  columns.part[lane] = it.part;
  columns.key[lane] = key;
  __syncwarp();
}

/// Of 32 columns, those that suppress a row, and one of them: as_best().
struct ColumnsFound {
  std::uint32_t bits = 0, best = 0;
};

/// Compares columns `first` to `first` + 31, which are staged, with the row at `place`. A thread a row.
template <typename Tile>
__device__ ColumnsFound compare_columns(const DirectArguments& a, const Tile& tile, const BlockRows& block,
                                        const StagedColumns& columns, std::uint32_t first, std::uint32_t place) {
  const Bounded row = Bounded::of(tile.box[tile.row_at[place]], a.rule);
  const std::uint32_t row_key = tile.sorted[place];
  std::uint32_t may = 0, sure = 0;
#pragma unroll 8
  for (std::uint32_t c = 0; c < 32; ++c) {
    const Glance glance = Glance::of({columns.box[c], columns.part[c]}, row, a.rule);
    may |= static_cast<std::uint32_t>(glance.may & (columns.key[c] > row_key)) << c;
    sure |= static_cast<std::uint32_t>(glance.sure) << c;
  }
  // What suppresses_row() asks besides.
  if (a.rule.by_class || (first < block.first + block.rows && first + 32 > block.first))
    sure = 0;
  for (std::uint32_t unsure = may & ~sure; unsure; unsure &= unsure - 1) {
    const std::uint32_t c = highest_bit(unsure & (0 - unsure));
    may ^= suppresses_row(a, tile, block, place, first + c) ? 0 : 1u << c;
  }
  if (!may)
    return {};
  const std::uint32_t c = highest_bit(may & (0 - may));
  return {may, as_best(columns.key[c], first + c)};
}

/// Writes masks of the rows that get no list. Of a dense tile, counts their suppressors anew, and names one of the
/// better ones; if it matters only whether they have any: that alone. `to`: masks of the frame. For a whole block,
/// between barriers. Not inlined: most frames have no such rows.
template <typename Tile>
static __noinline__ __device__ void write_masks(const DirectArguments& a, Tile& tile, BlockRows block,
                                                Begins<Tile> begins, std::uint32_t* to) {
#if defined(__CUDA_ARCH__) && CUDART_VERSION >= 12000
  __builtin_assume(__isGridConstant(&a));
#endif
  const std::uint32_t words = mask_words(a.capacity);
  const bool dense = tile.crowded == Tile::dense;
  StagedColumns& columns = StagedColumns::of_warp(tile);
  // Counts are about to change.
  bool masked[Tile::words];
#pragma unroll
  for (unsigned w = 0; w < Tile::words; ++w)
    masked[w] =
        dense ? is_valid_row(tile, place_of(w)) : tile.suppressors[place_of(w)] > 1 && begins.own(w) == not_listed;
  __syncthreads();
#pragma unroll
  for (unsigned w = 0; w < Tile::words; ++w) {
    const std::uint32_t place = place_of(w);
    const bool mine = masked[w];
    std::uint32_t* const mask = to + static_cast<std::size_t>(block.first + (mine ? tile.row_at[place] : 0)) * words;
    std::uint32_t suppressors = 0, best = 0;
    // Up to the end of the last vector, where there are no columns perhaps.
#pragma unroll 1
    for (std::uint32_t i = threadIdx.x; i / 32 < words; i += blockDim.x) {
      const bool open = mine && !(a.existence_only && load_relaxed(&tile.suppressors[place]));
      if (!__any_sync(all_lanes, open))
        continue;
      stage_column(a, block, i, columns);
      if (!open)
        continue;
      const ColumnsFound found = compare_columns(a, tile, block, columns, i / 32 * 32, place);
      suppressors += static_cast<std::uint32_t>(__popc(found.bits));
      best = max(best, found.best);
      if (!a.existence_only)
        mask[i / 32] = found.bits;
      else if (found.bits)
        atomicAdd(&tile.suppressors[place], 1u);
    }
    if (dense && !a.existence_only && suppressors) {
      atomicAdd(&tile.suppressors[place], suppressors);
      atomicMax(&tile.best[place], best);
    }
  }
  __syncthreads();
}

}  // namespace crowd::CROWD_DIRECT
