// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A tile of rows of the one pass in shared memory, and how it is prepared: a bit for every row in bins of each axis
// (tile_rows.cuh), and in levels of scores.
#pragma once

#include <cstddef>

#include "kernels/direct/one_pass.cuh"
#include "kernels/direct/tile_rows.cuh"

namespace crowd::CROWD_DIRECT {

/// A bit for each row of a tile, loaded at once.
template <unsigned words>
struct alignas(words * sizeof(std::uint32_t)) RowBits {
  std::uint32_t word[words];
};

template <unsigned words>
__device__ RowBits<words> operator&(const RowBits<words>& a, const RowBits<words>& b) {
  RowBits<words> both;
#pragma unroll
  for (unsigned w = 0; w < words; ++w)
    both.word[w] = a.word[w] & b.word[w];
  return both;
}

template <unsigned words>
__device__ bool any(const RowBits<words>& rows) {
  std::uint32_t any = 0;
#pragma unroll
  for (unsigned w = 0; w < words; ++w)
    any |= rows.word[w];
  return any;
}

/// A pair to be tested. The bit's number is worked out when it is: all lanes of a warp are active there.
struct alignas(sizeof(uint2)) QueuedPair {
  std::uint32_t bit;     ///< of the row in its word
  std::uint32_t column;  ///< column * one_pass_words + word
};
/// Pairs that a warp's queue has room for. Less than 32 wait for more.
constexpr unsigned queue_room = 96;

/// Levels of score_key() from the lowest to the highest of a tile's rows, of a power of two keys each.
constexpr unsigned levels = 64;

/// What bins and levels of a tile are counted from.
struct Levels {
  PerUnit bins_per_unit;
  std::uint32_t min_key;    ///< of level 0
  std::uint32_t level_log;  ///< binary logarithm of the keys of a level
};

template <unsigned words_>
struct RowTile {
  static constexpr unsigned words = words_;
  static constexpr unsigned rows_max = 32 * words;

  // Cleared before anything is known:
  RowBits<words> near[2][axis_bins];  ///< along x and y: rows that a column with its centre in the bin may suppress
  RowBits<words> outranked[levels];   ///< rows that a column of the level may outrank
  // Not cleared:
  RowBits<words> open;  ///< valid rows without a suppressor so far
  Levels levels_from;
  float4 box[rows_max];
  std::uint32_t key[rows_max];  ///< score_key()
  std::int32_t label[rows_max];
  RejectedCounts rejected[words];  ///< of each word of rows
  std::uint32_t next_part;         ///< of the columns
  QueuedPair queue[one_pass_warps][queue_room];
};

/// Of the first words of a tile, those that are cleared.
CROWD_HD constexpr unsigned mark_words(unsigned words) {
  return (2 * axis_bins + levels) * words;
}
static_assert(offsetof(RowTile<1>, open) == mark_words(1) * sizeof(std::uint32_t) &&
              offsetof(RowTile<2>, open) == mark_words(2) * sizeof(std::uint32_t) &&
              offsetof(RowTile<one_pass_words>, open) == mark_words(one_pass_words) * sizeof(std::uint32_t));

/// Clears the marks of a tile of up to `words` words, which lies at `memory`.
__device__ inline void clear_marks(std::uint32_t* memory, unsigned words) {
  for (unsigned k = threadIdx.x; k < mark_words(words); k += blockDim.x)
    memory[k] = 0;
}

/// The next part of the columns that no warp has taken. For a whole warp.
template <unsigned words>
__device__ std::uint32_t take_part(RowTile<words>& tile) {
  std::uint32_t part = 0;
  if (threadIdx.x % 32 == 0)
    part = atomicAdd(&tile.next_part, 1u);
  return __shfl_sync(all_lanes, part, 0);
}

template <unsigned words>
__device__ RowBits<words> load_open(const RowTile<words>& tile) {
  RowBits<words> open;
#pragma unroll
  for (unsigned w = 0; w < words; ++w)
    open.word[w] = load_relaxed(&tile.open.word[w]);
  return open;
}

/// Of the first bins of a range, so many are marked by the row's own lane.
constexpr std::uint32_t own_bins = 16;

/// Sets the rows' bits in their bins, a row a lane.
template <unsigned words>
__device__ void mark_rows(RowBits<words> (&near)[axis_bins], unsigned word, std::uint32_t bin_range) {
  const auto set = [&](std::uint32_t range, std::uint32_t k, std::uint32_t row) {
    atomicOr(&near[((range >> 16) + k) % axis_bins].word[word], 1u << row);
  };
  const std::uint32_t lane = threadIdx.x % 32, count = bin_range & 0xffff;
  for (std::uint32_t k = 0; k < min(count, own_bins); ++k)
    set(bin_range, k, lane);
  for (std::uint32_t many = __ballot_sync(all_lanes, count > own_bins); many; many &= many - 1) {
    const std::uint32_t row = lowest_bit(many);
    const std::uint32_t range = __shfl_sync(all_lanes, bin_range, static_cast<int>(row));
    for (std::uint32_t k = own_bins + lane; k < (range & 0xffff); k += 32)
      set(range, k, row);
  }
}

/// A warp prepares one axis of a word of rows, a row a lane.
template <unsigned words>
__device__ void prepare_rows(const OnePassArguments& a, RowTile<words>& tile, const BlockRows& block, unsigned task) {
  const unsigned word = task / 2, axis = task % 2;
  const std::uint32_t lane = threadIdx.x % 32, r = 32 * word + lane;
  const float offset = a.rule.overlap.offset;
  const auto from = [&](const float4& b) { return axis ? b.y : b.x; };
  const auto to = [&](const float4& b) { return axis ? b.w : b.z; };
  const Raw first = load(a, place_of_row(block, 0));
  const std::size_t at = place_of_row(block, word);
  const Raw row = load(a, at);
  const bool first_valid = is_valid(a, place_of_row(block, 0), first);
  const bool valid = r < block.rows && is_valid(a, at, row);
  const float per = measure_bins<true>(to(first.box) - from(first.box) + offset, first_valid, a.rule);
  const bool tiny = area(as_box(row.box), offset) < tiny_area;
  const AxisRange range = AxisRange::of<true>(from(row.box), to(row.box), tiny, a.rule);
  mark_rows(tile.near[axis], word, valid ? bin_range_of<true>(range, per) : 0);
  if (axis) {
    tile.label[r] = a.rule.by_class ? a.frames.classes[at] : 0;
    tile.levels_from.bins_per_unit.y = per;
    return;
  }
  tile.box[r] = row.box;
  tile.key[r] = score_key(row.score);
  tile.levels_from.bins_per_unit.x = per;
  const Validity state = r < block.rows && !valid ? validity(a, at, row) : Validity::valid;
  const std::uint32_t open = __ballot_sync(all_lanes, valid);
  const std::uint32_t invalid = __ballot_sync(all_lanes, state == Validity::invalid);
  const std::uint32_t below = __ballot_sync(all_lanes, state == Validity::below_threshold);
  if (lane == 0) {
    tile.open.word[word] = open;
    tile.rejected[word] = {static_cast<std::uint32_t>(__popc(invalid)), static_cast<std::uint32_t>(__popc(below))};
  }
}

/// A warp prepares the levels of scores.
template <unsigned words>
__device__ void prepare_levels(const OnePassArguments& a, RowTile<words>& tile, const BlockRows& block) {
  const std::uint32_t lane = threadIdx.x % 32;
  std::uint32_t key[words], min_key = ~0u, max_key = 0;
#pragma unroll
  for (unsigned w = 0; w < words; ++w) {
    key[w] = score_key(a.frames.scores[place_of_row(block, w)]);
    min_key = key[w] ? min(min_key, key[w]) : min_key;  // without those that are NaN
    max_key = max(max_key, key[w]);
  }
  max_key = warp_max(max_key);
  min_key = min(warp_min(min_key), max_key);
  const std::uint32_t range = (max_key - min_key) / levels;
  const std::uint32_t log = range ? highest_bit(range) + 1 : 0;
#pragma unroll
  for (unsigned w = 0; w < words; ++w)
    if (key[w])
      atomicOr(&tile.outranked[(key[w] - min_key) >> log].word[w], 1u << lane);
  __syncwarp();
  // Those of lower levels as well. A lane has two levels.
  static_assert(levels == 64);
#pragma unroll
  for (unsigned w = 0; w < words; ++w) {
    std::uint32_t& lower = tile.outranked[2 * lane].word[w];
    std::uint32_t& upper = tile.outranked[2 * lane + 1].word[w];
    const std::uint32_t own = lower;
    std::uint32_t upto = own | upper;
#pragma unroll
    for (unsigned step = 1; step < 32; step *= 2) {
      const std::uint32_t other = __shfl_up_sync(all_lanes, upto, step);
      upto |= lane >= step ? other : 0;
    }
    const std::uint32_t before = __shfl_up_sync(all_lanes, upto, 1);
    lower = own | (lane ? before : 0);
    upper = upto;
  }
  if (lane == 0) {
    tile.next_part = blockDim.x / 32;
    tile.levels_from.min_key = min_key;
    tile.levels_from.level_log = log;
  }
}

}  // namespace crowd::CROWD_DIRECT
