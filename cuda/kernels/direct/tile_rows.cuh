// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The rows of a tile, before columns are looked at: sorted by score, and marked in each strip of the plane that a
// rival's centre can lie in. A few warps find the strips, a row a lane; the others ask for columns.
#pragma once

#include "kernels/direct/tile.cuh"

namespace crowd::direct {

/// Where in x or y a column may be that overlaps a row which reaches from `from` to `to`: its centre, if the metric
/// bounds that, else any of it.
struct Range {
  float from, to;

  template <bool bounded>
  __device__ static Range of(float from, float to, bool tiny, const PairRule& rule) {
    if (!bounded && rule.apart_too)
      return {-INFINITY, INFINITY};
    if (!bounded)
      return {from - with_slack(rule.overlap.offset, from), to + with_slack(rule.overlap.offset, to)};
    const float centre = Grid::centre(from, to);
    const float far = with_slack(tiny ? INFINITY : rule.reach * (to - from + rule.overlap.offset), centre);
    return {centre - far, centre + far};
  }
};

/// Strips along an axis, the first and how many, in one word.
template <bool bounded>
__device__ inline std::uint32_t stretch_of(const Range& range, float per) {
  if (bounded) {
    const float from = strip_at(2 * range.from, per);
    const float to = strip_at(2 * range.to, per);
    const std::uint32_t first = __float_as_uint(from) / 4;
    const std::uint32_t span = __float_as_uint(to) / 4 - first;
    const bool all = !(from >= strip_zero - strip_limit && to < strip_zero + strip_limit && span < strip_count);
    return first % strip_count << 16 | (all ? strip_count : span + 1);
  }
  const Stretch stretch = stretch_between(range.from, range.to, per, strip_count);
  return static_cast<std::uint32_t>(stretch.first) % strip_count << 16 | stretch.count;
}

/// Loads the row of a lane, number 32 * word + lane; the last instead of those beyond.
__device__ inline Raw load_row(const Arguments& a, const Job& job, unsigned word) {
  return load(a, job.input + job.first + min(32 * word + threadIdx.x % 32, job.rows - 1));
}

/// Strips along an axis per unit, for a warp's rows: half as wide as rivals are far from them, in the mean; half as
/// many if `bounded` (strip_at()). Chosen in few instructions, since everybody waits: the reciprocal is wrong by up to
/// an eighth, which no answer depends on.
template <bool bounded>
__device__ inline float measure_strips(float extent, bool counts, const PairRule& rule) {
  constexpr float part = 0.5f;
  if (rarely(!__all_sync(all_lanes, counts)))
    return (bounded ? 0.5f : 1.0f) * measure_cells(extent, counts, rule, part);
  // As measure_cells() has it, of 32.
  const float mean = __uint_as_float(warp_sum(__float_as_uint(extent) >> 5));
  const float size = (bounded ? 2.0f : 1.0f) * part * cell_reach(rule) * mean;
  return size > 1e-30f && size < 1e30f ? __uint_as_float(0x7ef311c7u - __float_as_uint(size)) : 1.0f;
}

/// Tasks of store_rows().
template <typename Tile>
constexpr unsigned row_tasks = 2 * Tile::words;

/// A warp loads the rows of a word, a row a lane, and stores what is known of them: the strips along one axis in which
/// rivals may be, and either key and box or the rest. Strips go by the rows of word 0.
template <typename Tile>
__device__ void store_rows(const Arguments& a, Tile& tile, const Job& job, unsigned task) {
  const unsigned word = Tile::words == 1 ? 0 : task / 2;
  const unsigned axis = task % 2;
  const std::uint32_t r = 32 * word + threadIdx.x % 32;
  const float offset = a.rule.overlap.offset;
  const auto counts = [&](const Raw& raw) { return is_counted(raw.box, raw.score, a.rule, a.score_threshold); };
  const auto from = [&](const float4& b) { return axis ? b.y : b.x; };
  const auto to = [&](const float4& b) { return axis ? b.w : b.z; };
  const Raw first = load_row(a, job, 0);
  const bool first_counts = counts(first);
  const Raw row = word ? load_row(a, job, word) : first;
  const bool row_counts = r < job.rows && (word ? counts(row) : first_counts);
  const float4& b = row.box;
  const float strips = measure_strips<Tile::bounded>(to(first.box) - from(first.box) + offset, first_counts, a.rule);
  const bool tiny = area(as_box(b), offset) < tiny_area;
  tile.stretch[axis][r] = stretch_of<Tile::bounded>(Range::of<Tile::bounded>(from(b), to(b), tiny, a.rule), strips);
  if (axis) {
    tile.label[r] = a.rule.by_class && r < job.rows ? a.frames.classes[job.input + job.first + r] : 0;
    tile.strips.y = strips;
  } else {
    tile.box[r] = b;
    tile.key[r] = row_counts ? number_key(row.score) : ~0u;
    tile.strips.x = strips;
  }
}

/// Threads that sort and mark a row together. With few rows every warp has one.
template <typename Tile>
constexpr unsigned row_threads = Tile::words == 1 ? 32 : 16;

/// Sets the bit of the row at a place of the sorted ones in its strips: half of its threads along x, half along y.
template <typename Tile>
__device__ void mark(Tile& tile, std::uint32_t stretch, std::uint32_t place) {
  constexpr unsigned half = row_threads<Tile> / 2;
  const std::uint32_t count = stretch & 0xffff;
  std::uint32_t* const near = tile.near[threadIdx.x / half % 2][place / 32];
  const auto set = [&](std::uint32_t k) { atomicOr(near + ((stretch >> 16) + k) % strip_count, 1u << place % 32); };
  // Few rows have a second round.
  const std::uint32_t own = threadIdx.x % half;
  if (own < count)
    set(own);
  if (rarely(count > half))
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
    const std::uint32_t stretch = tile.stretch[threadIdx.x / (threads / 2) % 2][r];
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
      mark(tile, stretch, place);
  }
}

}  // namespace crowd::direct
