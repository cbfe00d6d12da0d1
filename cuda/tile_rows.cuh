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

/// Rows of the tile, one a lane, number 32 * word + lane, of which a warp does one axis.
struct LaneRows {
  unsigned word, axis;
  Raw first;  ///< of word 0, by which strips are measured
  Raw row;

  /// The last row instead of those beyond.
  __device__ LaneRows(const Arguments& a, const Job& job, unsigned task)
      : word(task / 2),
        axis(task % 2),
        first(load(a, job.input + job.first + min(threadIdx.x % 32, job.rows - 1))),
        row(word ? load(a, job.input + job.first + min(32 * word + threadIdx.x % 32, job.rows - 1)) : first) {}
};

/// Stores the key, the box and what else is known of a row, and the strips along one axis in which its rivals may be.
template <typename Tile>
__device__ void store_rows(const Arguments& a, Tile& tile, const Job& job, const LaneRows& rows) {
  // A third as wide as rivals are far from the first rows, in the mean.
  constexpr float part = 0.33f;
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t r = 32 * rows.word + lane;
  const float offset = a.rule.overlap.offset;
  const auto counts = [&](const Raw& raw, std::uint32_t k) {
    return k < job.rows && is_counted(raw.box, raw.score, a.rule, a.score_threshold);
  };
  const auto from = [&](const float4& b) { return rows.axis ? b.y : b.x; };
  const auto to = [&](const float4& b) { return rows.axis ? b.w : b.z; };
  const float4& b = rows.row.box;
  const float strips =
      measure_cells(to(rows.first.box) - from(rows.first.box) + offset, counts(rows.first, lane), a.rule, part);
  const bool tiny = area(as_box(b), offset) < tiny_area;
  tile.stretch[rows.axis][r] = stretch_of(Range::of<Tile::bounded>(from(b), to(b), tiny, a.rule), strips);
  if (rows.axis) {
    tile.rivals[r] = 0;
    tile.best[r] = 0;
    tile.label[r] = a.rule.by_class && r < job.rows ? a.frames.classes[job.input + job.first + r] : 0;
    tile.strips.y = strips;
  } else {
    tile.box[r] = b;
    tile.key[r] = tile.least[r] = counts(rows.row, r) ? number_key(rows.row.score) : ~0u;
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
