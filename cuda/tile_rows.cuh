// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The rows of a tile, before columns are looked at: sorted by score, and marked in each strip of the plane that a
// rival's centre can lie in. A few warps find the strips, a row a lane; the others ask for columns.
#pragma once

#include "tile.cuh"

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
__device__ inline std::uint32_t stretch_of(const Range& range, float per) {
  const Stretch stretch = stretch_between(range.from, range.to, per, strip_count);
  return static_cast<std::uint32_t>(stretch.first) % strip_count << 16 | stretch.count;
}

/// Loads the row of a lane, number 32 * word + lane; the last instead of those beyond.
__device__ inline Raw load_row(const Arguments& a, const Job& job, unsigned word) {
  return load(a, job.input + job.first + min(32 * word + threadIdx.x % 32, job.rows - 1));
}

/// Tasks of store_rows().
template <typename Tile>
constexpr unsigned row_tasks = 2 * Tile::words;

/// A warp loads the rows of a word, a row a lane, and stores what is known of them: the strips along one axis in which
/// rivals may be, and either key and box or the rest.
template <typename Tile>
__device__ void store_rows(const Arguments& a, Tile& tile, const Job& job, unsigned task) {
  const Raw first = load_row(a, job, 0);
  const Raw row = task / 2 ? load_row(a, job, task / 2) : first;
  // Half as wide as rivals are far from the rows of word 0, in the mean.
  constexpr float part = 0.5f;
  const unsigned lane = threadIdx.x % 32;
  const unsigned axis = task % 2;
  const std::uint32_t r = 32 * (task / 2) + lane;
  const float offset = a.rule.overlap.offset;
  const auto counts = [&](const Raw& raw, std::uint32_t k) {
    return k < job.rows && is_counted(raw.box, raw.score, a.rule, a.score_threshold);
  };
  const auto from = [&](const float4& b) { return axis ? b.y : b.x; };
  const auto to = [&](const float4& b) { return axis ? b.w : b.z; };
  const float4& b = row.box;
  const float strips = measure_cells(to(first.box) - from(first.box) + offset, counts(first, lane), a.rule, part);
  const bool tiny = area(as_box(b), offset) < tiny_area;
  tile.stretch[axis][r] = stretch_of(Range::of<Tile::bounded>(from(b), to(b), tiny, a.rule), strips);
  if (axis) {
    tile.rivals[r] = 0;
    tile.best[r] = 0;
    tile.label[r] = a.rule.by_class && r < job.rows ? a.frames.classes[job.input + job.first + r] : 0;
    tile.strips.y = strips;
  } else {
    tile.box[r] = b;
    tile.key[r] = tile.least[r] = counts(row, r) ? number_key(row.score) : ~0u;
    tile.strips.x = strips;
  }
}

/// Threads that sort and mark a row together. With few rows every warp has one.
template <typename Tile>
constexpr unsigned row_threads = Tile::words == 1 ? 32 : 16;

/// Sets the bit of the row at a place of the sorted ones in its strips: half of its threads along x, half along y.
template <typename Tile>
__device__ void mark(Tile& tile, std::uint32_t r, std::uint32_t place) {
  constexpr unsigned half = row_threads<Tile> / 2;
  const unsigned axis = threadIdx.x / half % 2;
  const std::uint32_t stretch = tile.stretch[axis][r];
  const std::uint32_t count = tile.key[r] != ~0u ? stretch & 0xffff : 0;
  for (std::uint32_t k = threadIdx.x % half; k < count; k += half)
    atomicOr(&tile.near[axis][place / 32][((stretch >> 16) + k) % strip_count], 1u << place % 32);
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
      tile.place[r] = place;
      tile.ties[r] = ties;
    }
    if (r < job.rows)
      mark(tile, r, place);
  }
}

}  // namespace crowd::direct
