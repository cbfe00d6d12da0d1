// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The rows of a tile, before columns are looked at: sorted by score, and marked in each strip of the plane that a
// rival's centre can lie in. A few warps find the strips, a row a lane, while the others judge columns.
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

/// What store_rows() needs, a row a lane: those of word 0, and those of its own.
struct RawRows {
  Raw first, own;
};

__device__ inline RawRows load_raw_rows(const Arguments& a, const Job& job, unsigned task) {
  RawRows rows;
  rows.first = load_row(a, job, 0);
  rows.own = task / 2 ? load_row(a, job, task / 2) : rows.first;
  return rows;
}

/// Tasks of store_rows().
template <typename Tile>
constexpr unsigned row_tasks = 2 * Tile::words;

/// A warp stores what is known of the rows of a word: the strips along one axis in which rivals may be, and either key
/// and box or the rest.
template <typename Tile>
__device__ void store_rows(const Arguments& a, Tile& tile, const Job& job, unsigned task, const RawRows& rows) {
  // A third as wide as rivals are far from the rows of word 0, in the mean.
  constexpr float part = 0.33f;
  const unsigned lane = threadIdx.x % 32;
  const unsigned axis = task % 2;
  const std::uint32_t r = 32 * (task / 2) + lane;
  const float offset = a.rule.overlap.offset;
  const Raw& first = rows.first;
  const Raw& row = rows.own;
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

/// A warp sets a row's bit in its strips. Its lower half does x, the other y.
template <typename Tile>
__device__ void mark(Tile& tile, std::uint32_t r) {
  constexpr unsigned half = 16;
  const unsigned axis = threadIdx.x / half % 2;
  const std::uint32_t stretch = tile.stretch[axis][r];
  for (std::uint32_t k = threadIdx.x % half; k < (stretch & 0xffff); k += half)
    atomicOr(&tile.near[axis][r / 32][((stretch >> 16) + k) % strip_count], 1u << r % 32);
}

/// Sorts and marks the rows that are stored: a warp does a row at a time.
template <typename Tile>
__device__ void sort_rows(Tile& tile, const Job& job) {
  const unsigned lane = threadIdx.x % 32;
  std::uint32_t key[Tile::words];
#pragma unroll
  for (unsigned w = 0; w < Tile::words; ++w)
    key[w] = tile.key[32 * w + lane];
  for (std::uint32_t r = threadIdx.x / 32; r < job.rows; r += blockDim.x / 32) {
    const std::uint32_t mine = tile.key[r];
    unsigned less = 0;
    unsigned ties = 0;
#pragma unroll
    for (unsigned w = 0; w < Tile::words; ++w) {
      less += static_cast<unsigned>(__popc(__ballot_sync(all_lanes, key[w] < mine)));
      ties += static_cast<unsigned>(__popc(__ballot_sync(all_lanes, key[w] == mine && 32 * w + lane < r)));
    }
    if (lane == 0) {
      tile.sorted[less + ties] = mine;
      tile.place[r] = less + ties;
      tile.ties[r] = ties;
    }
    if (mine != ~0u)
      mark(tile, r);
  }
}

}  // namespace crowd::direct
