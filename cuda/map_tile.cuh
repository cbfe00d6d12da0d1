// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The map of a tile of rows by one block: all pairs of them with the frame's columns. Each warp keeps a few columns a
// lane in registers and walks the rows in shared memory. Most pairs are too far apart, which costs two subtractions and
// two comparisons. The others queue up, each warp has a queue of its own, until there are enough for all lanes to test
// one.
#pragma once

#include "direct.cuh"

namespace crowd::direct {

constexpr unsigned columns_per_lane = tuning::direct_columns;
constexpr unsigned columns_per_warp = 32 * columns_per_lane;
/// Rivals of a row that the block keeps in mind.
constexpr unsigned rivals_max = 64;
/// Room for what a warp finds at one look, beside less than a warp's worth left from before.
constexpr unsigned queue_room = 32 * (2 * columns_per_lane + 1);

/// A tile of at most `tile_max` rows in shared memory, for a block of at most `warps` warps.
template <unsigned tile_max, unsigned warps>
struct Tile {
  float4 near[tile_max];  ///< centre, and how far away in x and y a rival's can be
  float4 box[tile_max];
  uint2 id[tile_max];  ///< score_key(), index
  std::int32_t label[tile_max];
  unsigned long long best[tile_max];
  std::uint32_t rivals[tile_max];
  std::uint16_t list[tile_max][rivals_max];
  std::uint32_t queue[warps][queue_room];  ///< row << 16 | column
  std::uint32_t queued[warps];
};

template <typename Tile>
__device__ void load_row(const Arguments& a, Tile& tile, std::size_t input, std::uint32_t r, std::uint32_t i) {
  const float4 b = a.frames.boxes[input + i];
  const float score = a.frames.scores[input + i];
  const bool counts = standing(a, b, score) == undecided;
  const float w = width(b, a.rule.overlap.offset);
  const float h = height(b, a.rule.overlap.offset);
  const float reach = w * h < tiny_area ? INFINITY : a.rule.reach;
  const float x = Grid::centre(b.x, b.z);
  const float y = Grid::centre(b.y, b.w);
  // Nobody is nearer than a negative distance.
  tile.near[r] = counts ? float4{x, y, with_slack(reach * w, x), with_slack(reach * h, y)} : float4{0, 0, -1, -1};
  tile.box[r] = counts ? b : float4{0, 0, -INFINITY, -INFINITY};
  tile.id[r] = {counts ? score_key(score) : ~0u, i};
  tile.label[r] = a.rule.by_class ? a.frames.classes[input + i] : 0;
  tile.best[r] = 0;
  tile.rivals[r] = 0;
}

/// A column by its centre, where the metric bounds how far overlapping boxes are apart.
template <bool bounded>
struct Column {
  float x, y;

  __device__ static Column of(const float4& b) {
    return {Grid::centre(b.x, b.z), Grid::centre(b.y, b.w)};
  }
  __device__ static Column none() {
    return {NAN, NAN};
  }
  __device__ bool may_beat(const float4& near, const float4&, const PairRule&) const {
    return static_cast<bool>((fabsf(x - near.x) <= near.z) & (fabsf(y - near.y) <= near.w));
  }
};

/// Else by its box, which has to meet the row's.
template <>
struct Column<false> {
  float4 box;

  __device__ static Column of(const float4& b) {
    return {b};
  }
  __device__ static Column none() {
    return {{INFINITY, INFINITY, -INFINITY, -INFINITY}};
  }
  __device__ bool may_beat(const float4&, const float4& b, const PairRule& rule) const {
    const float w = fminf(box.z, b.z) - fmaxf(box.x, b.x) + rule.overlap.offset;
    const float h = fminf(box.w, b.w) - fmaxf(box.y, b.y) + rule.overlap.offset;
    return static_cast<bool>(((w > 0) & (h > 0)) | rule.apart_too);
  }
};

/// Tests `count` pairs of a warp's queue, one a lane.
template <typename Tile>
__device__ void test_queue(const Arguments& a, Tile& tile, std::size_t input, std::uint32_t n,
                           const std::uint32_t* queue, unsigned count) {
  const unsigned lane = threadIdx.x % 32;
  if (lane >= count)
    return;
  const std::uint32_t r = queue[lane] >> 16;
  const std::uint32_t i = queue[lane] & 0xffff;
  if (i >= n)
    return;
  const uint2 id = tile.id[r];
  const float score = a.frames.scores[input + i];
  const std::uint32_t key = score_key(score);
  const float4 box = a.frames.boxes[input + i];
  if (key < id.x || (key == id.x && i >= id.y) || standing(a, box, score) != undecided ||
      !suppresses(box, tile.box[r], a.rule) || (a.rule.by_class && a.frames.classes[input + i] != tile.label[r]))
    return;
  atomicMax(&tile.best[r], static_cast<unsigned long long>(key) << 32 | static_cast<std::uint32_t>(~i));
  const std::uint32_t place = atomicAdd(&tile.rivals[r], 1u);
  if (place < rivals_max)
    tile.list[r][place] = static_cast<std::uint16_t>(i);
}

/// A warp writes what the block knows of a row: to `rows`, and its rivals to `lists`, the first `listed` of whose
/// `room` entries are taken.
template <typename Tile>
__device__ void write_row(const Tile& tile, std::uint32_t r, Row* rows, std::uint16_t* lists, std::uint32_t& listed,
                          std::uint32_t room) {
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t rivals = tile.rivals[r];
  const std::uint32_t length = ceil_div(rivals, list_step) * list_step;
  std::uint32_t begin = 0;
  if (lane == 0 && rivals)
    begin = rivals <= rivals_max ? atomicAdd(&listed, length) : not_listed;
  begin = __shfl_sync(all_lanes, begin, 0);
  if (begin + length > room)
    begin = not_listed;
  else
    for (std::uint32_t k = lane; k < length; k += 32)
      lists[begin + k] = k < rivals ? tile.list[r][k] : nobody;
  if (lane == 0)
    rows[r] = {static_cast<std::uint16_t>(rivals), static_cast<std::uint16_t>(rank_index(tile.best[r])),
               static_cast<std::uint16_t>(begin), 0};
}

/// Tests what the warp has queued, 32 pairs at a time; what is left over only if `all`.
template <typename Tile>
__device__ void work_off(const Arguments& a, Tile& tile, std::size_t input, std::uint32_t n, bool all) {
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  __syncwarp();
  unsigned queued = tile.queued[warp];
  if (queued < 32 && !all)
    return;
  for (; queued >= 32; queued -= 32)
    test_queue(a, tile, input, n, &tile.queue[warp][queued - 32], 32);
  if (all)
    test_queue(a, tile, input, n, tile.queue[warp], queued);
  __syncwarp();
  if (lane == 0)
    tile.queued[warp] = queued;
  __syncwarp();
}

/// Finds the rivals of the tile's rows, from `first` on. The warps share out the columns, and the rows where there are
/// more warps than columns for them. Ends with a barrier.
template <bool bounded, typename Tile>
__device__ void map_tile(const Arguments& a, Tile& tile, std::size_t input, std::uint32_t n, std::uint32_t first,
                         std::uint32_t rows, unsigned groups) {
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t first_column = warp % groups * columns_per_warp + lane;
  Column<bounded> column[columns_per_lane];
#pragma unroll
  for (unsigned c = 0; c < columns_per_lane; ++c) {
    const std::uint32_t i = first_column + 32 * c;
    column[c] = i < n ? Column<bounded>::of(a.frames.boxes[input + i]) : Column<bounded>::none();
  }
  for (std::uint32_t r = threadIdx.x; r < rows; r += blockDim.x)
    load_row(a, tile, input, r, first + r);
  if (lane == 0)
    tile.queued[warp] = 0;
  __syncthreads();
  const unsigned parts = blockDim.x / 32 / groups;
  // Warps beyond a whole number of groups have nothing to do.
  for (std::uint32_t r = warp / groups < parts ? warp / groups : rows; r < rows; r += 2 * parts) {
    unsigned close = 0;
#pragma unroll
    for (unsigned k = 0; k < 2; ++k) {
      // Behind the last row, the last once more; its findings are dropped.
      const std::uint32_t row = min(r + k * parts, rows - 1);
      const float4 near = tile.near[row];
      const float4 box = bounded ? float4{} : tile.box[row];
#pragma unroll
      for (unsigned c = 0; c < columns_per_lane; ++c)
        if (column[c].may_beat(near, box, a.rule))
          close |= 1u << (columns_per_lane * k + c);
      // Nobody beats itself.
      const std::uint32_t self = first + row - first_column;
      if (self < columns_per_warp && self % 32 == 0)
        close &= ~(1u << (columns_per_lane * k + self / 32));
    }
    if (r + parts >= rows)
      close &= (1u << columns_per_lane) - 1;
    if (!__any_sync(all_lanes, close))
      continue;
    if (close) {
      std::uint32_t place = atomicAdd(&tile.queued[warp], static_cast<std::uint32_t>(__popc(close)));
      for (; close; close &= close - 1) {
        const unsigned bit = static_cast<unsigned>(__ffs(static_cast<int>(close))) - 1;
        tile.queue[warp][place++] =
            (r + bit / columns_per_lane * parts) << 16 | (first_column + 32 * (bit % columns_per_lane));
      }
    }
    work_off(a, tile, input, n, false);
  }
  work_off(a, tile, input, n, true);
  __syncthreads();
}

}  // namespace crowd::direct
