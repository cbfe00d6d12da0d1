// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Prepares the rows of a tile: sorts them by score and sets their bits in the axis bins. A few warps load the rows, a
// row a lane, while the others load columns.
#pragma once

#include "kernels/direct/tile.cuh"

namespace crowd::CROWD_DIRECT {

/// Where along an axis a column can be that overlaps a row from `from` to `to`: its centre if that is bounded, else any
/// part of its box.
struct AxisRange {
  float from, to;

  template <bool bounded>
  __device__ static AxisRange of(float from, float to, bool tiny, const PairRule& rule) {
    if (!bounded && rule.disjoint_too)
      return {-INFINITY, INFINITY};
    if (!bounded)
      return {from - with_slack(rule.overlap.offset, from), to + with_slack(rule.overlap.offset, to)};
    const float centre = Grid::centre(from, to);
    const float far = with_slack(tiny ? INFINITY : rule.reach * (to - from + rule.overlap.offset), centre);
    return {centre - far, centre + far};
  }
};

/// The bins of a range: the first in the upper half of the word, their number in the lower.
template <bool bounded>
__device__ inline std::uint32_t bin_range_of(const AxisRange& range, float per) {
  if (bounded) {
    const float from = bin_at(2 * range.from, per);
    const float to = bin_at(2 * range.to, per);
    const std::uint32_t first = __float_as_uint(from) / 4;
    const std::uint32_t span = __float_as_uint(to) / 4 - first;
    const bool all = !(from >= bin_zero - bin_limit && to < bin_zero + bin_limit && span < axis_bins);
    return first % axis_bins << 16 | (all ? axis_bins : span + 1);
  }
  const IndexRange bin_range = range_between(range.from, range.to, per, axis_bins);
  return static_cast<std::uint32_t>(bin_range.first) % axis_bins << 16 | bin_range.count;
}

/// Where row 32 * word + lane is in the arrays, or the tile's last one beyond the end.
__device__ inline std::size_t place_of_row(const BlockRows& block, unsigned word) {
  return block.input + block.first + min(32 * word + threadIdx.x % 32, block.rows - 1);
}

/// Bins per unit along an axis: half as wide as the mean reach of the warp's rows; half that number if `bounded`, as
/// bin_at() takes it. All warps wait for this: the reciprocal is approximated within an eighth, which affects speed
/// alone.
template <bool bounded>
__device__ inline float measure_bins(float extent, bool valid, const PairRule& rule) {
  constexpr float part = 0.5f;
  if (unlikely(!__all_sync(all_lanes, valid)))
    return (bounded ? 0.5f : 1.0f) * measure_cells(extent, valid, rule, part);
  // As in measure_cells(), with 32 boxes.
  const float mean = __uint_as_float(warp_sum(__float_as_uint(extent) >> 5));
  const float size = (bounded ? 2.0f : 1.0f) * part * cell_reach(rule) * mean;
  return size > 1e-30f && size < 1e30f ? __uint_as_float(0x7ef311c7u - __float_as_uint(size)) : 1.0f;
}

/// Warps that store_rows() needs.
template <typename Tile>
constexpr unsigned row_tasks = 2 * Tile::words;

/// A warp loads a word of rows, a row a lane, and stores one half of what the tile needs of them: the bin range along
/// one axis, with either key and box or the label. The width of bins follows from the rows of word 0.
template <typename Tile>
__device__ void store_rows(const DirectArguments& a, Tile& tile, const BlockRows& block, unsigned task) {
  const unsigned word = Tile::words == 1 ? 0 : task / 2;
  const unsigned axis = task % 2;
  const std::uint32_t r = 32 * word + threadIdx.x % 32;
  const float offset = a.rule.overlap.offset;
  const auto is_valid_row = [&](unsigned of_word, const Raw& raw) {
    return is_valid(a, place_of_row(block, of_word), raw);
  };
  const auto from = [&](const float4& b) { return axis ? b.y : b.x; };
  const auto to = [&](const float4& b) { return axis ? b.w : b.z; };
  const Raw first = load(a, place_of_row(block, 0));
  const bool first_valid = is_valid_row(0, first);
  const Raw row = word ? load(a, place_of_row(block, word)) : first;
  const bool row_valid = r < block.rows && (word ? is_valid_row(word, row) : first_valid);
  const float4& b = row.box;
  const float bins_per_unit =
      measure_bins<Tile::bounded>(to(first.box) - from(first.box) + offset, first_valid, a.rule);
  const bool tiny = area(as_box(b), offset) < tiny_area;
  tile.bin_range[axis][r] =
      bin_range_of<Tile::bounded>(AxisRange::of<Tile::bounded>(from(b), to(b), tiny, a.rule), bins_per_unit);
  if (axis) {
    tile.label[r] = a.rule.by_class && r < block.rows ? a.frames.classes[block.input + block.first + r] : 0;
    tile.bins_per_unit.y = bins_per_unit;
  } else {
    tile.box[r] = b;
    tile.key[r] = row_valid ? number_key(row.score) : ~0u;
    tile.bins_per_unit.x = bins_per_unit;
  }
}

/// Threads that sort and mark a row together.
template <typename Tile>
constexpr unsigned row_threads = Tile::words == 1 ? 32 : 16;

/// Sets the bit of the row at `place` in its bins: half of its threads along x, half along y.
template <typename Tile>
__device__ void mark(Tile& tile, std::uint32_t bin_range, std::uint32_t place) {
  constexpr unsigned half = row_threads<Tile> / 2;
  const std::uint32_t count = bin_range & 0xffff;
  std::uint32_t* const near = tile.near[threadIdx.x / half % 2][place / 32];
  const auto set = [&](std::uint32_t k) { atomicOr(near + ((bin_range >> 16) + k) % axis_bins, 1u << place % 32); };
  // Few rows mark more bins than they have threads.
  const std::uint32_t own = threadIdx.x % half;
  if (own < count)
    set(own);
  if (unlikely(count > half))
    for (std::uint32_t k = own + half; k < count; k += half)
      set(k);
}

/// Sorts the stored rows by key, and marks them. Rows that are not valid come last and mark nothing.
template <typename Tile>
__device__ void sort_rows(Tile& tile, const BlockRows& block) {
  constexpr unsigned threads = row_threads<Tile>;
  constexpr unsigned keys = Tile::rows_max / threads;
  const unsigned own = threadIdx.x % threads;
  std::uint32_t key[keys];
#pragma unroll
  for (unsigned k = 0; k < keys; ++k)
    key[k] = tile.key[threads * k + own];
  // Whole warps loop together: the ballots below are collective.
  for (std::uint32_t base = threadIdx.x / 32 * (32 / threads); base < block.rows; base += blockDim.x / threads) {
    const std::uint32_t r = base + threadIdx.x % 32 / threads;
    const std::uint32_t mine = tile.key[r];
    const std::uint32_t bin_range = tile.bin_range[threadIdx.x / (threads / 2) % 2][r];
    std::uint32_t upto = 0;
    std::uint32_t ties = 0;
#pragma unroll
    for (unsigned k = 0; k < keys; ++k) {
      upto += key[k] <= mine;
      ties += key[k] == mine && threads * k + own >= r;
    }
    if constexpr (threads == 32) {
      upto = static_cast<std::uint32_t>(__popc(__ballot_sync(all_lanes, upto)));
      ties = static_cast<std::uint32_t>(__popc(__ballot_sync(all_lanes, ties)));
    } else {
      const std::uint32_t both = group_sum<threads>(upto | ties << 16);
      upto = both & 0xffff;
      ties = both >> 16;
    }
    const std::uint32_t place = upto - ties;
    if (own == 0 && r < block.rows) {
      tile.sorted[place] = mine;
      tile.row_at[place] = r;
      tile.ties[place] = ties;
    }
    if (r < block.rows && mine != ~0u)
      mark(tile, bin_range, place);
  }
}

}  // namespace crowd::CROWD_DIRECT
