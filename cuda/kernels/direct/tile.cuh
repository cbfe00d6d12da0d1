// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A tile of rows in shared memory, and the columns of the block that maps it.
#pragma once

#include "kernels/direct/direct.cuh"

namespace crowd::direct {

/// No place for a list.
constexpr std::uint32_t not_listed = 0xffff;
static_assert(list_vectors(32 * words_max) < not_listed);
/// AxisBins along an axis, a power of two. They repeat themselves over the plane.
constexpr unsigned axis_bins = 512;
/// Pairs that a block queues at a time, for each of its warps.
constexpr unsigned queued_a_warp = 96;

/// The bin of a centre, by twice its coordinate and half as many bins as there are to a unit, in one instruction:
/// bin_zero is so large that a sum with it is a multiple of a quarter, rounded down. So the sum's bits are four times
/// the bin's number, as long as that is within bin_limit of 0. Monotone.
constexpr float bin_zero = 3 << 20;
constexpr float bin_limit = 1 << 20;
__device__ inline float bin_at(float twice, float half_per) {
  return __fmaf_rd(twice, half_per, bin_zero);
}
/// The bin's word among those of an axis.
__device__ inline std::uint32_t bin_word(const std::uint32_t (&words)[axis_bins], float bin) {
  constexpr std::uint32_t size = sizeof(std::uint32_t);
  const char* bytes = reinterpret_cast<const char*>(words);
  return *reinterpret_cast<const std::uint32_t*>(bytes + __float_as_uint(bin) % (axis_bins * size) / size * size);
}

/// How a block of the map works: at most 32 * `words_` rows, on at most `warps_` warps with `items_` columns a thread.
/// `bounded_`: the metric bounds how far boxes can be apart and overlap, so that centres are looked at.
template <bool bounded_, unsigned words_, unsigned items_, unsigned warps_>
struct Plan {
  static constexpr bool bounded = bounded_;
  static constexpr unsigned words = words_;
  static constexpr unsigned items = items_;
  static constexpr unsigned warps = warps_;
  static constexpr unsigned rows_max = 32 * words;
};

/// A row and a column that is near it. Which bit is set is found out by who tests them: full lanes, fewer instructions.
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

  std::uint32_t near[2][words][axis_bins];  ///< by x and by y; a bit for each row, in the order of `sorted`
  std::uint32_t bin_range[2][rows_max];     ///< the bins that a row marks: bin_range_of()
  PerUnit bins_per_unit;
  float4 box[rows_max];
  std::uint32_t key[rows_max];  ///< score_key(), greater than any if the row does not count
  std::int32_t label[rows_max];
  // By place, which is where a row's key is in ascending order:
  std::uint32_t sorted[rows_max];     ///< keys
  std::uint32_t row_at[rows_max];     ///< lane they are
  std::uint32_t ties[rows_max];       ///< rows from it on that have the same key
  std::uint32_t above[rows_max + 1];  ///< columns that rank better than so many rows of these, or as, and no more
  std::uint32_t min_key[rows_max];    ///< key of a column that still matters
  std::uint32_t suppressors[rows_max];
  std::uint32_t best[rows_max];  ///< the best suppressor by its key's upper bits, that is nearly the best: bits, ~index
  alignas(sizeof(uint4)) std::uint16_t list[rows_max][suppressors_max];  ///< as the reduce reads it, in whole vectors
  std::uint32_t crowded;  ///< whether a list is longer than its share of the room
  Pair queue[queue_room];
  std::uint32_t queued;  ///< that asked for a place in the queue
  RejectedCounts rejected;
};

/// What a block maps: rows `first` and on of a frame's n candidates, which begin at `input`.
struct Job {
  std::size_t input;
  std::uint32_t n, first, rows;
};

/// Where a column lies: the bins of its centre (bin_at()), or those that it meets.
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

/// The columns of a thread: number k is column k * blockDim.x + threadIdx.x.
template <unsigned items, bool bounded>
struct Columns {
  AxisBins<bounded> bins[items];
  /// score_key(), one more for columns of the tile and before: greater than a row's if the column ranks better, and if
  /// it is of the tile and has the same score. 0 if it does not count.
  std::uint32_t key[items];
};

/// A candidate as it lies in memory; by default one that does not count.
struct Raw {
  // Plain, and hardly in a bin.
  float4 box{0, 0, 1e-30f, 1e-30f};
  float score = NAN;
};

__device__ inline Raw load(const DirectArguments& a, std::size_t at) {
  return {a.frames.boxes[at], a.frames.scores[at]};
}

/// Tallies a thread's columns that do not count.
template <typename Tile>
__device__ void count_rejected(const DirectArguments& a, Tile& tile, const Job& job) {
#pragma unroll 1
  for (std::uint32_t i = threadIdx.x; i < job.n; i += blockDim.x) {
    const Raw raw = load(a, job.input + i);
    const Validity state = validity(raw.box, raw.score, a.rule, a.score_threshold);
    if (state != Validity::valid)
      atomicAdd(state == Validity::invalid ? &tile.rejected.invalid : &tile.rejected.below_threshold, 1u);
  }
}

/// Which of a thread's columns count, a bit each, the long way.
__device__ inline unsigned valid_columns(const DirectArguments& a, const Job& job) {
  unsigned counted = 0;
  unsigned bit = 1;
#pragma unroll 1
  for (std::uint32_t i = threadIdx.x; i < job.n; i += blockDim.x, bit *= 2) {
    const Raw raw = load(a, job.input + i);
    if (validity(raw.box, raw.score, a.rule, a.score_threshold) == Validity::valid)
      counted |= bit;
  }
  return counted;
}

/// Makes columns of what was loaded.
template <typename Tile, unsigned items>
__device__ Columns<items, Tile::bounded> judge_columns(const DirectArguments& a, Tile& tile, const Job& job,
                                                       const Raw (&raw)[items]) {
  Columns<items, Tile::bounded> columns;
  const PerUnit bins_per_unit = tile.bins_per_unit;
  std::uint32_t max_extent_code = 0;
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    columns.bins[k] = AxisBins<Tile::bounded>::of(raw[k].box, bins_per_unit);
    columns.key[k] = number_key(raw[k].score) + (k * blockDim.x + threadIdx.x < job.first + job.rows);
    max_extent_code = max(max_extent_code, extent_code(raw[k].box));
  }
  if (unlikely(max_extent_code >= unusual_extent)) {
    const unsigned counted = valid_columns(a, job);
#pragma unroll
    for (unsigned k = 0; k < items; ++k)
      columns.key[k] = counted >> k & 1 ? columns.key[k] : 0;
  } else {
#pragma unroll
    for (unsigned k = 0; k < items; ++k)
      columns.key[k] = raw[k].score >= a.score_threshold ? columns.key[k] : 0;
  }
  // One block of the frame says how many do not count.
  if (unlikely(job.first == 0)) {
    bool all = true;
#pragma unroll
    for (unsigned k = 0; k < items; ++k)
      all &= (columns.key[k] != 0) | (k * blockDim.x + threadIdx.x >= job.n);
    if (!all)
      count_rejected(a, tile, job);
  }
  return columns;
}

/// Clears what map_tile() counts on. A barrier has to follow.
template <typename Tile>
__device__ void clear(Tile& tile) {
  for (unsigned k = threadIdx.x; k < 2 * Tile::words * axis_bins; k += blockDim.x)
    (&tile.near[0][0][0])[k] = 0;
  for (unsigned k = threadIdx.x; k <= Tile::rows_max; k += blockDim.x)
    tile.above[k] = 0;
  for (unsigned k = threadIdx.x; k < Tile::rows_max; k += blockDim.x) {
    tile.sorted[k] = ~0u;
    tile.min_key[k] = 0;
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
  }
}

}  // namespace crowd::direct
