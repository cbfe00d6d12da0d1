// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The rows of a tile, before columns are looked at: sorted by score, and marked in each strip of the plane that a
// rival's centre can lie in.
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

/// Rows of the tile, one a lane: number 32 * word + lane.
struct LaneRow {
  float4 box;
  std::uint32_t key;  ///< greater than any if the row does not count
};

/// Loads a row a lane, the last instead of those beyond.
__device__ inline Raw load_row(const Arguments& a, const Job& job, unsigned word) {
  return load(a, job.input + job.first + min(32 * word + threadIdx.x % 32, job.rows - 1));
}

__device__ inline LaneRow judge_row(const Arguments& a, const Job& job, unsigned word, const Raw& raw) {
  const bool counts =
      32 * word + threadIdx.x % 32 < job.rows && is_counted(raw.box, raw.score, a.rule, a.score_threshold);
  return {raw.box, counts ? number_key(raw.score) : ~0u};
}

template <typename Tile>
__device__ void store_row(const Arguments& a, Tile& tile, const Job& job, unsigned word, const LaneRow& row) {
  const std::uint32_t r = 32 * word + threadIdx.x % 32;
  tile.box[r] = row.box;
  tile.key[r] = tile.least[r] = row.key;
  tile.label[r] = a.rule.by_class && r < job.rows ? a.frames.classes[job.input + job.first + r] : 0;
  tile.rivals[r] = 0;
  tile.best[r] = 0;
}

/// Strips along an axis, the first and how many, in one word.
__device__ inline std::uint32_t stretch_of(const Range& range, float per) {
  const Stretch stretch = stretch_between(range.from, range.to, per, strip_count);
  return static_cast<std::uint32_t>(stretch.first) % strip_count << 16 | stretch.count;
}

/// The strips where a row's rivals may be.
struct Near {
  std::uint32_t x, y;  ///< stretch_of()
};

template <typename Tile>
__device__ Near near_of(const Arguments& a, const float4& b, const PerUnit& strips) {
  const bool tiny = area(as_box(b), a.rule.overlap.offset) < tiny_area;
  return {stretch_of(Range::of<Tile::bounded>(b.x, b.z, tiny, a.rule), strips.x),
          stretch_of(Range::of<Tile::bounded>(b.y, b.w, tiny, a.rule), strips.y)};
}

/// A warp sets a row's bit in these. Its lower half does x, the other y.
template <typename Tile>
__device__ void mark(Tile& tile, const Near& near, unsigned word, unsigned row) {
  constexpr unsigned half = 16;
  const unsigned axis = threadIdx.x / half % 2;
  const std::uint32_t stretch = axis ? near.y : near.x;
  for (std::uint32_t k = threadIdx.x % half; k < (stretch & 0xffff); k += half)
    atomicOr(&tile.near[axis][word][((stretch >> 16) + k) % strip_count], 1u << row);
}

/// What is to be known of the rows before columns are looked at: a warp takes a row at a time.
template <typename Tile>
__device__ PerUnit prepare_rows(const Arguments& a, Tile& tile, const Job& job, const Raw (&raw)[Tile::words]) {
  const unsigned warp = threadIdx.x / 32;
  const unsigned warps = blockDim.x / 32;
  const unsigned lane = threadIdx.x % 32;
  LaneRow rows[Tile::words];
#pragma unroll
  for (unsigned w = 0; w < Tile::words; ++w)
    rows[w] = judge_row(a, job, w, raw[w]);
  // A third as wide as rivals are far from the first rows, in the mean.
  const PerUnit strips = measure_cells(rows[0].box, rows[0].key != ~0u, a.rule, 0.33f);
#pragma unroll
  for (unsigned w = 0; w < Tile::words; ++w) {
    if (warp == w % warps)
      store_row(a, tile, job, w, rows[w]);
    const Near near = near_of<Tile>(a, rows[w].box, strips);
    for (unsigned r = warp; r < 32 && 32 * w + r < job.rows; r += warps) {
      const std::uint32_t mine = __shfl_sync(all_lanes, rows[w].key, static_cast<int>(r));
      unsigned less = 0;
      unsigned ties = 0;
#pragma unroll
      for (unsigned v = 0; v < Tile::words; ++v) {
        less += static_cast<unsigned>(__popc(__ballot_sync(all_lanes, rows[v].key < mine)));
        ties +=
            static_cast<unsigned>(__popc(__ballot_sync(all_lanes, rows[v].key == mine && 32 * v + lane < 32 * w + r)));
      }
      if (lane == 0) {
        tile.sorted[less + ties] = mine;
        tile.place[32 * w + r] = less + ties;
        tile.ties[32 * w + r] = ties;
      }
      const Near of_row{__shfl_sync(all_lanes, near.x, static_cast<int>(r)),
                        __shfl_sync(all_lanes, near.y, static_cast<int>(r))};
      if (mine != ~0u)
        mark(tile, of_row, w, r);
    }
  }
  return strips;
}

}  // namespace crowd::direct
