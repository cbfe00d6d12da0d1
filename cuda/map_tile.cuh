// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The map of a tile of rows by one block, against all of the frame's columns. A row leaves a bit in each strip of the
// plane, upright and level ones, that a rival's centre can lie in. A column finds the rows near it by the bits of its
// two strips. A binary search for its score among those of the rows says which rows it ranks better than, and counts
// for their ranks. The few pairs that are left are queued, and tested by a thread each.
#pragma once

#include "tile_rows.cuh"

namespace crowd::direct {

/// The first `count` bits of 32.
__device__ inline std::uint32_t lowest(std::uint32_t count) {
  return __funnelshift_lc(~0u, 0, count);
}

/// Counts the columns by how many rows they rank better than (or as, of the tile's own), and says which ones that are.
template <typename Tile, unsigned items>
__device__ void count_better(Tile& tile, const Columns<items>& columns, std::uint32_t (&near)[items][Tile::words]) {
  // By offsets in bytes, which take fewer instructions than indices.
  const auto sorted = [&](std::uint32_t at) {
    return *reinterpret_cast<const std::uint32_t*>(reinterpret_cast<const char*>(tile.sorted) + at);
  };
  constexpr unsigned size = sizeof tile.sorted[0];
  std::uint32_t at[items] = {};
#pragma unroll
  for (unsigned step = Tile::rows_max / 2; step; step /= 2)
#pragma unroll
    for (unsigned k = 0; k < items; ++k)
      if (sorted(at[k] + (step - 1) * size) < columns.key[k])
        at[k] += step * size;
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    if (sorted(at[k]) < columns.key[k])
      at[k] += size;
    const std::uint32_t below = at[k] / size;
    atomicAdd(&tile.above[below], 1u);
#pragma unroll
    for (unsigned w = 0; w < Tile::words; ++w)
      near[k][w] = lowest(below > 32 * w ? below - 32 * w : 0);
  }
}

/// Takes down that column `i` beats row `r`.
template <typename Tile>
__device__ void add_rival(const Arguments& a, Tile& tile, std::uint32_t r, std::uint32_t i, std::uint32_t key) {
  const std::uint32_t place = atomicAdd(&tile.rivals[r], 1u);
  atomicMax(&tile.best[r], key / capacity_max * capacity_max + (capacity_max - 1 - i));
  if (place < rivals_max)
    tile.list[r][place] = static_cast<std::uint16_t>(i);
  // More than the list holds: but for the best, there is nothing to be learned any more.
  if (a.first_rival || place >= rivals_max)
    atomicMax(&tile.least[r], a.first_rival ? ~0u : key);
}

/// Whether column `i` beats row `r`, which is near it; if so, takes that down.
template <typename Tile>
__device__ void test_pair(const Arguments& a, Tile& tile, const Job& job, std::uint32_t r, std::uint32_t i) {
  const Raw column = load(a, job.input + i);
  const std::uint32_t key = number_key(column.score);
  const bool better = key > tile.key[r] || (key == tile.key[r] && i < job.first + r);
  PairRule rule = a.rule;
  if (Tile::bounded) {
    rule.overlap.metric = CROWD_NMS_IOU;
    rule.apart_too = false;
  }
  if (better && suppresses(column.box, tile.box[r], rule) &&
      (!rule.by_class || a.frames.classes[job.input + i] == tile.label[r]))
    add_rival(a, tile, r, i, key);
}

/// The rows of a word that have marked any of these strips.
__device__ inline std::uint32_t marked(const std::uint32_t* near, float from, float to, float per) {
  const Stretch stretch = stretch_between(from, to, per, strip_count);
  std::uint32_t rows = 0;
  for (std::uint32_t k = 0; k < stretch.count; ++k)
    rows |= near[(static_cast<std::uint32_t>(stretch.first) + k) % strip_count];
  return rows;
}

/// The rows of each word that a column may beat, going by where it lies.
template <typename Tile>
__device__ void near_rows(const Tile& tile, const float4& b, std::uint32_t (&rows)[Tile::words]) {
  const PerUnit& strips = tile.strips;
  const std::uint32_t x = static_cast<std::uint32_t>(Grid::along(Grid::centre(b.x, b.z), strips.x)) % strip_count;
  const std::uint32_t y = static_cast<std::uint32_t>(Grid::along(Grid::centre(b.y, b.w), strips.y)) % strip_count;
#pragma unroll
  for (unsigned w = 0; w < Tile::words; ++w)
    rows[w] = Tile::bounded ? tile.near[0][w][x] & tile.near[1][w][y]
                            : marked(tile.near[0][w], b.x, b.z, strips.x) & marked(tile.near[1][w], b.y, b.w, strips.y);
}

/// Drops pairs that do not matter any more.
template <typename Tile, unsigned items>
__device__ void drop_settled(const Tile& tile, const Job& job, const Columns<items>& columns,
                             std::uint32_t (&near)[items][Tile::words]) {
#pragma unroll
  for (unsigned w = 0; w < Tile::words; ++w)
#pragma unroll 1
    for (unsigned r = 0; r < 32; ++r) {
      const std::uint32_t least = 32 * w + r < job.rows ? tile.least[tile.row_at[32 * w + r]] : 0;
#pragma unroll
      for (unsigned k = 0; k < items; ++k)
        near[k][w] &= ~(static_cast<unsigned>(columns.key[k] < least) << r);
    }
}

/// Queues pairs of columns with the rows near them, as many as there is room for, and forgets these. Whatever the order
/// of candidates, neighbours go to different threads from there.
template <typename Tile, unsigned items>
__device__ void queue_pairs(Tile& tile, std::uint32_t (&near)[items][Tile::words]) {
  std::uint32_t own = 0;
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
#pragma unroll
    for (unsigned w = 0; w < Tile::words; ++w)
      own += static_cast<std::uint32_t>(__popc(near[k][w]));
  std::uint32_t place = take_places(tile.queued, own);
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
#pragma unroll
    for (unsigned w = 0; w < Tile::words; ++w)
      for (; near[k][w] && place < Tile::queue_room; near[k][w] &= near[k][w] - 1) {
        const unsigned r = 32 * w + static_cast<unsigned>(__ffs(static_cast<int>(near[k][w]))) - 1;
        tile.queue[place++] = r * capacity_max + k * blockDim.x + threadIdx.x;
      }
}

/// Finds the pairs of columns with rows near them, and tests them.
template <typename Tile, unsigned items>
__device__ void find_rivals(const Arguments& a, Tile& tile, const Job& job, const Columns<items>& columns,
                            std::uint32_t (&near)[items][Tile::words]) {
  constexpr unsigned words = Tile::words;
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    std::uint32_t rows[words];
    near_rows(tile, columns.box[k], rows);
#pragma unroll
    for (unsigned w = 0; w < words; ++w)
      near[k][w] &= rows[w];
  }
  for (;;) {
    queue_pairs<Tile, items>(tile, near);
    __syncthreads();
    const std::uint32_t queued = tile.queued;
    for (std::uint32_t q = threadIdx.x; q < min(queued, Tile::queue_room); q += blockDim.x)
      test_pair(a, tile, job, tile.row_at[tile.queue[q] / capacity_max], tile.queue[q] % capacity_max);
    if (queued <= Tile::queue_room)
      return;
    __syncthreads();
    if (threadIdx.x == 0)
      tile.queued = 0;
    drop_settled(tile, job, columns, near);
    __syncthreads();
  }
}

/// Counts the candidates that rank better than each of a word's rows, by a warp, a row a lane.
template <typename Tile>
__device__ void rank_rows(Tile& tile, unsigned word) {
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t r = 32 * word + lane;
  const std::uint32_t place = tile.place[r];
  // Columns of the tile with the same score were all counted.
  std::uint32_t better = 0 - tile.ties[r];
#pragma unroll
  for (unsigned w = 0; w < Tile::words; ++w) {
    const std::uint32_t upto = warp_prefix(tile.above[32 * w + lane + 1]);
    const std::uint32_t all = __shfl_sync(all_lanes, upto, 31);
    // What is above no more than `place` rows does not count.
    const std::uint32_t before = __shfl_sync(all_lanes, upto, static_cast<int>((place - 1) % 32));
    better += place <= 32 * w ? all : place >= 32 * w + 32 ? 0 : all - before;
  }
  tile.rank[r] = better;
}

/// Finds the rivals of one row or more, and how many candidates rank better. The tile is clear. Ends with a barrier.
template <typename Plan>
__device__ void map_tile(const Arguments& a, Tile<Plan>& tile, const Job& job) {
  constexpr unsigned items = Plan::items;
  constexpr unsigned tasks = row_tasks<Tile<Plan>>;
  const unsigned warp = threadIdx.x / 32;
  // Rows are known and sorted while columns, which are many, are on their way.
  for (unsigned task = warp; task < tasks; task += blockDim.x / 32)
    store_rows(a, tile, job, task);
  Raw raw[items];
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    if (const std::uint32_t i = k * blockDim.x + threadIdx.x; i < job.n)
      raw[k] = load(a, job.input + i);
  __syncthreads();
  sort_rows(tile, job);
  const Columns<items> columns = judge_columns(a, tile, job, raw);
  __syncthreads();
  std::uint32_t near[items][Tile<Plan>::words];
  count_better(tile, columns, near);
  find_rivals(a, tile, job, columns, near);
  // By the last warps, which have the fewest pairs.
  for (unsigned word = blockDim.x / 32 - 1 - warp; word < Tile<Plan>::words; word += blockDim.x / 32)
    rank_rows(tile, word);
  __syncthreads();
}

}  // namespace crowd::direct
