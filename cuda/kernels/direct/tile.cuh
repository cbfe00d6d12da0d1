// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A tile of rows in shared memory, and the columns of the block that maps it. Rows and columns are candidates of one
// frame, as in the paper's matrix.
#pragma once

#include "kernels/direct/direct.cuh"

namespace crowd::CROWD_DIRECT {

/// In place of a list's first vector: there is no list.
constexpr std::uint32_t not_listed = 0xffff;
static_assert(list_vectors(32 * words_max) < not_listed);
/// Bins along an axis, a power of two. They repeat over the plane.
constexpr unsigned axis_bins = 512;
/// Room of the queue of pairs, for each warp of the block.
constexpr unsigned queued_a_warp = 96;

/// The bin of a centre from twice its coordinate and half the bins per unit, in one instruction. bin_zero is so large
/// that floats near it are multiples of a quarter: rounded down, the sum's bits are four times the bin's number plus a
/// constant, while that number is within bin_limit of 0. Monotone.
constexpr float bin_zero = 3 << 20;
constexpr float bin_limit = 1 << 20;
__device__ inline float bin_at(float twice, float half_per) {
  return __fmaf_rd(twice, half_per, bin_zero);
}
/// The word of a bin, given bin_at().
__device__ inline std::uint32_t bin_word(const std::uint32_t (&words)[axis_bins], float bin) {
  constexpr std::uint32_t size = sizeof(std::uint32_t);
  const char* bytes = reinterpret_cast<const char*>(words);
  return *reinterpret_cast<const std::uint32_t*>(bytes + __float_as_uint(bin) % (axis_bins * size) / size * size);
}

/// Template parameters of the map: up to 32 * `words_` rows a block, `items_` columns a thread, up to `warps_` warps.
/// `bounded_`: the distance of centres is bounded, so bins are compared by centres.
template <bool bounded_, unsigned words_, unsigned items_, unsigned warps_>
struct Plan {
  static constexpr bool bounded = bounded_;
  static constexpr unsigned words = words_;
  static constexpr unsigned items = items_;
  static constexpr unsigned warps = warps_;
  static constexpr unsigned rows_max = 32 * words;
};

/// A queued pair. The bit's number is worked out when the pair is tested: all lanes of a warp are active there.
struct alignas(sizeof(uint2)) Pair {
  std::uint32_t bit;          ///< of the row's place in its word
  std::uint32_t word_column;  ///< word * capacity_max + column

  __device__ std::uint32_t place() const {
    return 32 * (word_column / capacity_max) + highest_bit(bit);
  }
  __device__ std::uint32_t column() const {
    return word_column % capacity_max;
  }
};
constexpr unsigned pair_words = sizeof(Pair) / sizeof(std::uint32_t);

/// A tile of rows in shared memory.
template <typename Plan>
struct Tile {
  static constexpr unsigned words = Plan::words;
  static constexpr unsigned rows_max = Plan::rows_max;
  static constexpr unsigned queue_room = Plan::warps * queued_a_warp;
  static constexpr bool bounded = Plan::bounded;
  static constexpr std::uint32_t dense = 2;

  std::uint32_t near[2][words][axis_bins];  ///< along x and y: a bit for each row, in the order of `sorted`
  std::uint32_t bin_range[2][rows_max];     ///< bins that a row marks: bin_range_of()
  PerUnit bins_per_unit;
  float4 box[rows_max];
  std::uint32_t key[rows_max];  ///< score_key(); ~0 if the row is not valid
  std::int32_t label[rows_max];
  // By place, the position of a row in ascending order of keys:
  std::uint32_t sorted[rows_max];     ///< keys in ascending order
  std::uint32_t row_at[rows_max];     ///< number of the row
  std::uint32_t ties[rows_max];       ///< rows of the same key whose number is not lower, itself included
  std::uint32_t above[rows_max + 1];  ///< [k]: columns that outrank exactly the first k rows (Columns::key)
  std::uint32_t suppressors[rows_max];
  std::uint32_t best[rows_max];  ///< nearly the best suppressor: upper bits of its key, then its index, inverted
  std::uint32_t tied[words];     ///< a bit for each place where a suppressor with these upper bits may be better
  alignas(sizeof(uint4)) std::uint16_t list[rows_max][suppressors_max];  ///< suppressors, in whole vectors
  std::uint32_t crowded;  ///< 1 if a list is longer than its share of the room; or `dense`: rows get masks, not lists
  alignas(sizeof(uint4)) Pair queue[queue_room];
  std::uint32_t queued;  ///< pairs that need a place in the queue, more perhaps than it has
  RejectedCounts rejected;
};

/// A block's work: rows `first` to `first + rows - 1` of a frame's n candidates, which begin at `input`.
struct BlockRows {
  std::size_t input;
  std::uint32_t n, first, rows;
};

/// A column's bins: that of its centre (bin_at()), or the ranges that its box covers.
template <bool bounded>
struct AxisBins {
  float x, y;

  __device__ static AxisBins of(const float4& b, const PerUnit& per) {
    return {bin_at(b.x + b.z, per.x), bin_at(b.y + b.w, per.y)};
  }
};
template <>
struct AxisBins<false> {
  IndexRange x, y;

  __device__ static AxisBins of(const float4& b, const PerUnit& per) {
    return {range_between(b.x, b.z, per.x, axis_bins), range_between(b.y, b.w, per.y, axis_bins)};
  }
};

/// A thread's columns: number k is candidate k * blockDim.x + threadIdx.x.
template <unsigned items, bool bounded>
struct Columns {
  AxisBins<bounded> bins[items];
  /// score_key(), plus one for candidates of the tile and before it; 0 if not valid. A key greater than a row's means
  /// that the column outranks it, or is of the tile and has the same score.
  std::uint32_t key[items];
};

/// A candidate as loaded; by default one that is not valid.
struct Raw {
  // Extents that is_valid() takes for usual.
  float4 box{0, 0, 1e-30f, 1e-30f};
  float score = NAN;
};

__device__ inline Raw load(const CandidateArguments& a, std::size_t at) {
  return {a.frames.boxes[at], a.frames.scores[at]};
}

/// Of the candidate at `at` in the arrays, as loaded.
__device__ inline Validity validity(const CandidateArguments& a, std::size_t at, const Raw& raw) {
  return a.rules.admit(at, raw.box, raw.score, raw.score, a.rule, a.score_threshold);
}

/// validity() == Validity::valid, in few instructions for usual boxes.
__device__ inline bool is_valid(const CandidateArguments& a, std::size_t at, const Raw& raw) {
  if (has_rules && (!a.rules.admits_all || (a.rules.has_two_boxes && a.rules.whole_extent_code(at) >= unusual_extent)))
    return validity(a, at, raw) == Validity::valid;
  return crowd::is_valid(raw.box, raw.score, a.rule, a.score_threshold);
}

/// Counts a thread's columns that are not valid.
template <typename Tile>
__device__ void count_rejected(const DirectArguments& a, Tile& tile, const BlockRows& block) {
#pragma unroll 1
  for (std::uint32_t i = threadIdx.x; i < block.n; i += blockDim.x) {
    const Raw raw = load(a, block.input + i);
    const Validity state = validity(a, block.input + i, raw);
    if (state != Validity::valid)
      atomicAdd(state == Validity::invalid ? &tile.rejected.invalid : &tile.rejected.below_threshold, 1u);
  }
}

/// A bit for each of the thread's columns that is valid, by the full test.
__device__ inline unsigned valid_columns(const DirectArguments& a, const BlockRows& block) {
  unsigned counted = 0;
  unsigned bit = 1;
#pragma unroll 1
  for (std::uint32_t i = threadIdx.x; i < block.n; i += blockDim.x, bit *= 2) {
    const Raw raw = load(a, block.input + i);
    if (validity(a, block.input + i, raw) == Validity::valid)
      counted |= bit;
  }
  return counted;
}

/// The largest extent_code() of the whole boxes of the thread's columns.
template <unsigned items>
__device__ std::uint32_t whole_extent_code(const DirectArguments& a, const BlockRows& block) {
  std::uint32_t code = 0;
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    if (const std::uint32_t i = k * blockDim.x + threadIdx.x; i < block.n)
      code = max(code, a.rules.whole_extent_code(block.input + i));
  return code;
}

/// Prepares the loaded columns.
template <typename Tile, unsigned items>
__device__ Columns<items, Tile::bounded> judge_columns(const DirectArguments& a, Tile& tile, const BlockRows& block,
                                                       const Raw (&raw)[items]) {
  Columns<items, Tile::bounded> columns;
  const PerUnit bins_per_unit = tile.bins_per_unit;
  std::uint32_t max_extent_code = 0;
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    columns.bins[k] = AxisBins<Tile::bounded>::of(raw[k].box, bins_per_unit);
    columns.key[k] = number_key(raw[k].score) + (k * blockDim.x + threadIdx.x < block.first + block.rows);
    max_extent_code = max(max_extent_code, extent_code(raw[k].box));
  }
  if (has_rules && a.rules.has_two_boxes)
    max_extent_code = max(max_extent_code, whole_extent_code<items>(a, block));
  if (unlikely(max_extent_code >= unusual_extent) || !a.rules.admits_all) {
    const unsigned counted = valid_columns(a, block);
#pragma unroll
    for (unsigned k = 0; k < items; ++k)
      columns.key[k] = counted >> k & 1 ? columns.key[k] : 0;
  } else {
#pragma unroll
    for (unsigned k = 0; k < items; ++k)
      columns.key[k] = raw[k].score >= a.score_threshold ? columns.key[k] : 0;
  }
  // The first block of a frame counts candidates that are not valid.
  if (unlikely(block.first == 0)) {
    bool all = true;
#pragma unroll
    for (unsigned k = 0; k < items; ++k)
      all &= (columns.key[k] != 0) | (k * blockDim.x + threadIdx.x >= block.n);
    if (!all)
      count_rejected(a, tile, block);
  }
  return columns;
}

/// Clears a tile before map_tile(). A barrier has to follow.
template <typename Tile>
__device__ void clear(Tile& tile) {
  for (unsigned k = threadIdx.x; k < 2 * Tile::words * axis_bins; k += blockDim.x)
    (&tile.near[0][0][0])[k] = 0;
  for (unsigned k = threadIdx.x; k <= Tile::rows_max; k += blockDim.x)
    tile.above[k] = 0;
  for (unsigned k = threadIdx.x; k < Tile::rows_max; k += blockDim.x) {
    tile.sorted[k] = ~0u;
    tile.suppressors[k] = 0;
    tile.best[k] = 0;
  }
  constexpr std::uint32_t no_suppressors = no_suppressor << 16 | no_suppressor;
  for (unsigned k = threadIdx.x; k < Tile::rows_max * suppressors_max / list_step; k += blockDim.x)
    reinterpret_cast<uint4*>(&tile.list[0][0])[k] = {no_suppressors, no_suppressors, no_suppressors, no_suppressors};
  if (threadIdx.x == 0) {
    tile.rejected = {};
    tile.queued = 0;
    tile.crowded = 0;
#pragma unroll
    for (unsigned w = 0; w < Tile::words; ++w)
      tile.tied[w] = 0;
  }
}

}  // namespace crowd::CROWD_DIRECT
