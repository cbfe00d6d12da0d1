// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The map of Oro et al. 2020 without the matrix: every pair is tested where it is needed and nothing but the verdict of
// a row is stored. A block holds a tile of rows and walks tiles of columns through shared memory; each row has several
// threads, which share out the columns of a tile.

#include <algorithm>

#include "frames.cuh"
#include "tuning.hpp"

namespace crowd {

namespace {

struct Tile {
  float4 box[tuning::pair_tile];
  std::uint64_t key[tuning::pair_tile];
  std::int32_t label[tuning::pair_tile];
};

/// Each thread of a row takes 32 columns of a tile.
constexpr unsigned judge_threads = tuning::pair_tile * tuning::pair_tile / 32;

struct PairRule {
  OverlapRule overlap;
  bool by_class;
  /// Ratio 0 counts as overlap, so that boxes apart are to be tested too.
  bool apart_too;
};

struct Row {
  float4 box;
  std::uint64_t key;
  std::int32_t label;
};

// Whether the better-ranked column of the tile overlaps `row`, given that their boxes meet.
__device__ bool beaten(const Row& row, const Tile& tile, std::uint32_t column, const PairRule& rule) {
  if (tile.key[column] <= row.key || (rule.by_class && tile.label[column] != row.label))
    return false;
  return overlaps(as_box(tile.box[column]), as_box(row.box), rule.overlap);
}

// Which of the 32 columns from `first` on have a box that meets the row's. Straight-line code, so that the tests
// overlap each other; what few bits are set is looked at afterwards.
__device__ std::uint32_t meeting(const Row& row, const Tile& tile, std::uint32_t first, const PairRule& rule) {
  std::uint32_t bits = 0;
#pragma unroll
  for (std::uint32_t c = 0; c < 32; ++c) {
    const float4 b = tile.box[first + c];
    const float w = smaller(row.box.z, b.z) - larger(row.box.x, b.x) + rule.overlap.offset;
    const float h = smaller(row.box.w, b.w) - larger(row.box.y, b.y) + rule.overlap.offset;
    bits |= static_cast<std::uint32_t>(w > 0 && h > 0) << c;
  }
  return rule.apart_too ? ~0u : bits;
}

__device__ bool beaten_by_any(const Row& row, const Tile& tile, std::uint32_t first, const PairRule& rule) {
  for (std::uint32_t bits = meeting(row, tile, first, rule); bits; bits &= bits - 1)
    if (beaten(row, tile, first + static_cast<std::uint32_t>(__ffs(static_cast<int>(bits))) - 1, rule))
      return true;
  return false;
}

// A column that is out of the race gets key 0 and a box that meets nobody: it beats nobody.
__device__ void load_column(Tile& tile, const Frames& frames, const Scratch& scratch, const Lists& columns,
                            std::uint32_t frame, std::uint32_t position, std::uint32_t length) {
  const std::uint32_t t = threadIdx.x;
  if (t >= tuning::pair_tile)
    return;
  tile.key[t] = 0;
  tile.box[t] = {0, 0, -INFINITY, -INFINITY};
  tile.label[t] = 0;
  if (position >= length)
    return;
  const std::uint32_t j = columns.at(frames, frame, position);
  const std::uint32_t state = scratch.state[frames.slot(frame) + j];
  if (state >= dead)
    return;
  tile.key[t] = scratch.key[frames.slot(frame) + j];
  tile.box[t] = frames.boxes[frames.input(frame) + j];
  tile.label[t] = frames.classes ? frames.classes[frames.input(frame) + j] : 0;
}

// Which of a walk's tiles of columns may hold a box that meets one of the tile of rows; a warp decides.
__device__ std::uint32_t live_tiles(const Lists& rows, const Lists& columns, std::uint32_t row_tile,
                                    std::uint32_t first_tile, std::uint32_t walk, std::uint32_t tile_count,
                                    std::size_t bounds_start, const PairRule& rule) {
  const std::uint32_t tile = first_tile + threadIdx.x;
  bool live = threadIdx.x < walk && tile < tile_count;
  if (live && !rule.apart_too) {
    const float4 r = rows.bounds[bounds_start + row_tile];
    const float4 c = columns.bounds[bounds_start + tile];
    live = smaller(r.z, c.z) - larger(r.x, c.x) + rule.overlap.offset > 0 &&
           smaller(r.w, c.w) - larger(r.y, c.y) + rule.overlap.offset > 0;
  }
  return __ballot_sync(~0u, live);
}

// Gives every row of `rows` that a better-ranked live column beats the state `verdict`. Blocks of the same rows share
// the columns out among them (blockIdx.x) and may store the same verdict twice.
__global__ void __launch_bounds__(judge_threads)
    judge(Frames frames, Scratch scratch, Lists rows, Lists columns, PairRule rule, State verdict, std::uint32_t tiles,
          std::uint32_t walk) {
  __shared__ Tile tile;
  __shared__ std::uint32_t live;
  const std::uint32_t frame = blockIdx.y;
  const std::uint32_t row_count = rows.length(frames, frame);
  const std::uint32_t column_count = columns.length(frames, frame);
  const std::uint32_t walks = ceil_div(tiles, walk);
  const std::uint32_t row_tile = blockIdx.x / walks;
  const std::uint32_t first_tile = blockIdx.x % walks * walk;
  if (row_tile * tuning::pair_tile >= row_count || first_tile * tuning::pair_tile >= column_count)
    return;
  if (threadIdx.x < 32) {
    const std::uint32_t found =
        live_tiles(rows, columns, row_tile, first_tile, walk, ceil_div(column_count, tuning::pair_tile),
                   static_cast<std::size_t>(frame) * tiles, rule);
    if (threadIdx.x == 0)
      live = found;
  }
  __syncthreads();
  if (!live)
    return;

  Row row{};
  std::uint32_t i = 0;
  const std::uint32_t position = row_tile * tuning::pair_tile + threadIdx.x % tuning::pair_tile;
  const std::uint32_t first_column = threadIdx.x / tuning::pair_tile * 32;
  bool open = position < row_count;
  if (open) {
    i = rows.at(frames, frame, position);
    open = scratch.state[frames.slot(frame) + i] <= dominated;
    row = {frames.boxes[frames.input(frame) + i], scratch.key[frames.slot(frame) + i],
           frames.classes ? frames.classes[frames.input(frame) + i] : 0};
  }
  bool lost = false;
  for (std::uint32_t todo = live; todo; todo &= todo - 1) {
    if (!__syncthreads_or(open && !lost))
      break;
    const std::uint32_t number = first_tile + static_cast<std::uint32_t>(__ffs(static_cast<int>(todo))) - 1;
    load_column(tile, frames, scratch, columns, frame, number * tuning::pair_tile + threadIdx.x, column_count);
    __syncthreads();
    if (open && !lost)
      lost = beaten_by_any(row, tile, first_column, rule);
  }
  if (lost)
    atomicExch(&scratch.state[frames.slot(frame) + i], verdict);
}

void launch_judge(const Call& call, const Lists& rows, const Lists& columns, State verdict) {
  const OverlapRule overlap = call.rule();
  const PairRule rule{overlap, call.by_class(), overlap.or_equal && overlap.threshold == 0};
  const std::uint32_t tiles = pair_tiles(call.frames.capacity);
  const std::uint32_t walk = std::clamp(tiles / tuning::pair_walks, 1u, 32u);
  judge<<<call.grid(ceil_div(tiles, walk) * tiles), judge_threads, 0, call.stream>>>(
      call.frames, call.scratch, rows, columns, rule, verdict, tiles, walk);
}

}  // namespace

void launch_dominate(const Call& call, const Lists& list) {
  launch_judge(call, list, list, dominated);
}

void launch_suppress(const Call& call, const Lists& list, const Lists& leaders) {
  launch_judge(call, list, leaders, dead);
}

}  // namespace crowd
