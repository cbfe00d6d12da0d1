// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The rows of a tile, before columns are looked at: sorted by score, and marked in each bin of the plane that a
// suppressor's centre can lie in. A few warps find the bins, a row a lane; the others ask for columns.
#pragma once

#include "kernels/direct/tile.cuh"

namespace crowd::direct {

/// Where in x or y a column may be that overlaps a row which reaches from `from` to `to`: its centre, if the metric
/// bounds that, else any of it.
struct Range {
  float from, to;

  template <bool bounded>
  __device__ static Range of(float from, float to, bool tiny, const PairRule& rule) {
    if (!bounded && rule.disjoint_too)
      return {-INFINITY, INFINITY};
    if (!bounded)
      return {from - with_slack(rule.overlap.offset, from), to + with_slack(rule.overlap.offset, to)};
    const float centre = Grid::centre(from, to);
    const float far = with_slack(tiny ? INFINITY : rule.reach * (to - from + rule.overlap.offset), centre);
    return {centre - far, centre + far};
  }
};

/// AxisBins along an axis, the first and how many, in one word.
template <bool bounded>
__device__ inline std::uint32_t bin_range_of(const Range& range, float per) {
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

/// Loads the row of a lane, number 32 * word + lane; the last instead of those beyond.
__device__ inline Raw load_row(const DirectArguments& a, const Job& job, unsigned word) {
  return load(a, job.input + job.first + min(32 * word + threadIdx.x % 32, job.rows - 1));
}

/// AxisBins along an axis per unit, for a warp's rows: half as wide as suppressors are far from them, in the mean; half
/// as many if `bounded` (bin_at()). Chosen in few instructions, since everybody waits: the reciprocal is wrong by up to
/// an eighth, which no answer depends on.
template <bool bounded>
__device__ inline float measure_bins(float extent, bool valid, const PairRule& rule) {
  constexpr float part = 0.5f;
  if (unlikely(!__all_sync(all_lanes, valid)))
    return (bounded ? 0.5f : 1.0f) * measure_cells(extent, valid, rule, part);
  // As measure_cells() has it, of 32.
  const float mean = __uint_as_float(warp_sum(__float_as_uint(extent) >> 5));
  const float size = (bounded ? 2.0f : 1.0f) * part * cell_reach(rule) * mean;
  return size > 1e-30f && size < 1e30f ? __uint_as_float(0x7ef311c7u - __float_as_uint(size)) : 1.0f;
}

/// Tasks of store_rows().
template <typename Tile>
constexpr unsigned row_tasks = 2 * Tile::words;

/// A warp loads the rows of a word, a row a lane, and stores what is known of them: the bins along one axis in which
/// suppressors may be, and either key and box or the rest. AxisBins go by the rows of word 0.
template <typename Tile>
__device__ void store_rows(const DirectArguments& a, Tile& tile, const Job& job, unsigned task) {
  const unsigned word = Tile::words == 1 ? 0 : task / 2;
  const unsigned axis = task % 2;
  const std::uint32_t r = 32 * word + threadIdx.x % 32;
  const float offset = a.rule.overlap.offset;
  const auto is_valid_row = [&](const Raw& raw) { return is_valid(raw.box, raw.score, a.rule, a.score_threshold); };
  const auto from = [&](const float4& b) { return axis ? b.y : b.x; };
  const auto to = [&](const float4& b) { return axis ? b.w : b.z; };
  const Raw first = load_row(a, job, 0);
  const bool first_valid = is_valid_row(first);
  const Raw row = word ? load_row(a, job, word) : first;
  const bool row_valid = r < job.rows && (word ? is_valid_row(row) : first_valid);
  const float4& b = row.box;
  const float bins_per_unit =
      measure_bins<Tile::bounded>(to(first.box) - from(first.box) + offset, first_valid, a.rule);
  const bool tiny = area(as_box(b), offset) < tiny_area;
  tile.bin_range[axis][r] =
      bin_range_of<Tile::bounded>(Range::of<Tile::bounded>(from(b), to(b), tiny, a.rule), bins_per_unit);
  if (axis) {
    tile.label[r] = a.rule.by_class && r < job.rows ? a.frames.classes[job.input + job.first + r] : 0;
    tile.bins_per_unit.y = bins_per_unit;
  } else {
    tile.box[r] = b;
    tile.key[r] = row_valid ? number_key(row.score) : ~0u;
    tile.bins_per_unit.x = bins_per_unit;
  }
}

/// Threads that sort and mark a row together. With few rows every warp has one.
template <typename Tile>
constexpr unsigned row_threads = Tile::words == 1 ? 32 : 16;

/// Sets the bit of the row at a place of the sorted ones in its bins: half of its threads along x, half along y.
template <typename Tile>
__device__ void mark(Tile& tile, std::uint32_t bin_range, std::uint32_t place) {
  constexpr unsigned half = row_threads<Tile> / 2;
  const std::uint32_t count = bin_range & 0xffff;
  std::uint32_t* const near = tile.near[threadIdx.x / half % 2][place / 32];
  const auto set = [&](std::uint32_t k) { atomicOr(near + ((bin_range >> 16) + k) % axis_bins, 1u << place % 32); };
  // Few rows have a second round.
  const std::uint32_t own = threadIdx.x % half;
  if (own < count)
    set(own);
  if (unlikely(count > half))
    for (std::uint32_t k = own + half; k < count; k += half)
      set(k);
}

/// Sorts and marks the rows that are stored. Those that do not count come last.
template <typename Tile>
__device__ void sort_rows(Tile& tile, const Job& job) {
  constexpr unsigned threads = row_threads<Tile>;
  constexpr unsigned keys = Tile::rows_max / threads;
  const unsigned own = threadIdx.x % threads;
  std::uint32_t key[keys];
#pragma unroll
  for (unsigned k = 0; k < keys; ++k)
    key[k] = tile.key[threads * k + own];
  // Whole warps go on together.
  for (std::uint32_t base = threadIdx.x / 32 * (32 / threads); base < job.rows; base += blockDim.x / threads) {
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
    if (own == 0 && r < job.rows) {
      tile.sorted[place] = mine;
      tile.row_at[place] = r;
      tile.ties[place] = ties;
    }
    if (r < job.rows && mine != ~0u)
      mark(tile, bin_range, place);
  }
}

}  // namespace crowd::direct
