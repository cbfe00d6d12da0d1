// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The map of the one pass: a block compares a tile of rows with all columns of its frame. A warp takes 64 columns at a
// time. A column ANDs the words of its own two bins, of its score's level and of the rows that are still open. The
// pairs left go to a queue of the warp, from which each lane tests one. Warps wait for each other at the beginning and
// at the end alone.

#include <algorithm>

#include "kernels/direct/map_tile.cuh"
#include "kernels/direct/one_pass_tile.cuh"

namespace crowd::CROWD_DIRECT {

namespace {

constexpr unsigned threads = one_pass_threads;
constexpr unsigned warps = one_pass_warps;

/// Whether column `i`, as loaded, suppresses row `r`.
template <unsigned words>
__device__ bool suppresses_row(const OnePassArguments& a, const RowTile<words>& tile, const BlockRows& block,
                               std::uint32_t r, std::uint32_t i, const Raw& column) {
  const std::size_t at = block.input + i;
  const float4 row = tile.box[r];
  const std::uint32_t key = number_key(column.score);
  PairRule rule = a.rule;
  rule.overlap.metric = bounding(Ratios{}, rule.overlap.metric);
  rule.disjoint_too = false;
  return (key > tile.key[r] || (key == tile.key[r] && i < block.first + r)) && is_valid(a, at, column) &&
         crowd::suppresses(column.box, row, rule) && (!rule.by_class || a.frames.classes[at] == tile.label[r]) &&
         (!has_rules || a.rules.count(block.input, i, block.first + r, as_box(column.box), as_box(row)));
}

/// Columns of a lane at a time.
constexpr unsigned items = 2;

/// Number k is candidate index(k), if there is one.
struct LaneColumns {
  std::uint32_t part;  ///< of 32 * items columns
  Raw raw[items];

  __device__ LaneColumns(const OnePassArguments& a, const BlockRows& block, std::uint32_t of_part) : part(of_part) {
#pragma unroll
    for (unsigned k = 0; k < items; ++k)
      if (index(k) < block.n)
        raw[k] = load(a, block.input + index(k));
  }
  __device__ std::uint32_t index(unsigned k) const {
    return 32 * (items * part + k) + threadIdx.x % 32;
  }
};

/// Rows that a column may suppress, but for those that are not open.
template <unsigned words>
__device__ RowBits<words> near_column(const RowTile<words>& tile, const Raw& column, PerUnit bins_per_unit,
                                      std::uint32_t above, std::uint32_t level_log) {
  const auto bins = AxisBins<true>::of(column.box, bins_per_unit);
  const auto marked = [&](unsigned axis, float bin) { return tile.near[axis][__float_as_uint(bin) / 4 % axis_bins]; };
  return marked(0, bins.x) & marked(1, bins.y) & tile.outranked[min(above >> level_log, levels - 1)];
}

/// Rows near a lane's columns.
template <unsigned words>
struct NearRows {
  RowBits<words> of_column[items];

  __device__ bool any() const {
    bool found = false;
#pragma unroll
    for (unsigned k = 0; k < items; ++k)
      found |= CROWD_DIRECT::any(of_column[k]);
    return found;
  }
  __device__ std::uint32_t count() const {
    std::uint32_t pairs = 0;
#pragma unroll
    for (unsigned k = 0; k < items; ++k)
#pragma unroll
      for (unsigned w = 0; w < words; ++w)
        pairs += static_cast<std::uint32_t>(__popc(of_column[k].word[w]));
    return pairs;
  }
  /// Moves pairs to the places from `to` on, as far as there is room before `end`.
  __device__ void move(const LaneColumns& columns, QueuedPair* to, const QueuedPair* end) {
#pragma unroll
    for (unsigned k = 0; k < items; ++k)
#pragma unroll
      for (unsigned w = 0; w < words; ++w)
        for (std::uint32_t& rows = of_column[k].word[w]; rows && to < end; rows &= rows - 1)
          *to++ = {rows & (0 - rows), columns.index(k) * one_pass_words + w};
  }
  __device__ void drop_all_but(const RowBits<words>& open) {
#pragma unroll
    for (unsigned k = 0; k < items; ++k)
      of_column[k] = of_column[k] & open;
  }
};

/// Pairs that wait until a warp has 32.
template <unsigned words>
class PairQueue {
 public:
  __device__ explicit PairQueue(RowTile<words>& tile) : tile_(tile), pairs_(tile.queue[threadIdx.x / 32]) {}

  /// Adds pairs, and tests all but less than 32. What does not fit is tried again, a few times, since tests settle
  /// rows. Returns whether all pairs were added. For a whole warp.
  __device__ bool add(const OnePassArguments& a, const BlockRows& block, const LaneColumns& columns,
                      NearRows<words>& near) {
#pragma unroll 1
    for (unsigned round = 0; round < rounds; ++round) {
      const std::uint32_t own = near.count();
      const std::uint32_t upto = warp_prefix(own);
      const std::uint32_t all = size_ + __shfl_sync(all_lanes, upto, 31);
      near.move(columns, pairs_ + size_ + upto - own, pairs_ + queue_room);
      size_ = min(all, queue_room);
      __syncwarp();
      for (; size_ >= 32; size_ -= 32)
        test(a, block, pairs_[size_ - 32 + threadIdx.x % 32]);
      __syncwarp();
      if (all <= queue_room)
        return true;
      near.drop_all_but(load_open(tile_));
    }
    return false;
  }
  __device__ void finish(const OnePassArguments& a, const BlockRows& block) const {
    if (threadIdx.x % 32 < size_)
      test(a, block, pairs_[threadIdx.x % 32]);
  }

 private:
  static constexpr unsigned rounds = 4;

  __device__ void test(const OnePassArguments& a, const BlockRows& block, const QueuedPair& pair) const {
    const unsigned word = pair.column % one_pass_words;
    const std::uint32_t i = pair.column / one_pass_words;
    std::uint32_t& open = tile_.open.word[word];
    if ((load_relaxed(&open) & pair.bit) &&
        suppresses_row(a, tile_, block, 32 * word + highest_bit(pair.bit), i, load(a, block.input + i)))
      atomicAnd(&open, ~pair.bit);
  }

  RowTile<words>& tile_;
  QueuedPair* pairs_;
  std::uint32_t size_ = 0;
};

/// The open rows near a lane's columns.
template <unsigned words>
__device__ NearRows<words> near_columns(const RowTile<words>& tile, const BlockRows& block, const LaneColumns& columns,
                                        const Levels& from, const RowBits<words>& open) {
  NearRows<words> near;
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    const std::uint32_t key = number_key(columns.raw[k].score);
    const bool is_better = key >= from.min_key && columns.index(k) < block.n;
    near.of_column[k] =
        near_column(tile, columns.raw[k], from.bins_per_unit, key - from.min_key, from.level_log) & open;
    if (!is_better)
      near.of_column[k] = {};
  }
  return near;
}

/// Tests pairs of a part of the columns, where they are very many: all columns with one row after another. For a whole
/// warp.
template <unsigned words>
__device__ void test_by_rows(const OnePassArguments& a, RowTile<words>& tile, const BlockRows& block,
                             std::uint32_t part, const NearRows<words>& near) {
  // Loaded anew: no registers are kept for this rare path.
  const LaneColumns columns(a, block, part);
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
#pragma unroll
    for (unsigned w = 0; w < words; ++w) {
      const std::uint32_t own = near.of_column[k].word[w];
      std::uint32_t settled = 0;
#pragma unroll 1
      for (std::uint32_t rows = warp_or(own); rows; rows &= rows - 1) {
        const std::uint32_t bit = rows & (0 - rows);
        const bool suppresses =
            (own & bit) && suppresses_row(a, tile, block, 32 * w + highest_bit(bit), columns.index(k), columns.raw[k]);
        settled |= __any_sync(all_lanes, suppresses) ? bit : 0;
      }
      if (settled && threadIdx.x % 32 == 0)
        atomicAnd(&tile.open.word[w], ~settled);
    }
}

/// Compares all columns with the tile, up to where no row is open. `next`: the lane's first columns.
template <unsigned words>
__device__ void compare_columns(const OnePassArguments& a, RowTile<words>& tile, const BlockRows& block,
                                LaneColumns next) {
  PairQueue<words> queue(tile);
  const Levels from = tile.levels_from;
  const std::uint32_t parts = ceil_div(block.n, 32 * items);
  while (next.part < parts) {
    const LaneColumns columns = next;
    next = LaneColumns(a, block, take_part(tile));
    const RowBits<words> open = load_open(tile);
    if (!__any_sync(all_lanes, any(open)))
      return;
    NearRows<words> near = near_columns(tile, block, columns, from, open);
    if (__any_sync(all_lanes, near.any()) && unlikely(!queue.add(a, block, columns, near)))
      test_by_rows(a, tile, block, columns.part, near);
  }
  queue.finish(a, block);
}

/// Writes the tile's survivors by index, a warp a word of rows.
template <unsigned words>
__device__ void write_tile(const OnePassArguments& a, const RowTile<words>& tile, const BlockRows& block,
                           std::size_t slot) {
  const unsigned word = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (word >= words)
    return;
  TileCounts counts{};
  std::uint32_t before = 0;
#pragma unroll
  for (unsigned w = 0; w < words; ++w) {
    const auto survivors = static_cast<std::uint32_t>(__popc(tile.open.word[w]));
    before += w < word ? survivors : 0;
    counts.survivors += survivors;
    counts.invalid += tile.rejected[w].invalid;
    counts.below_threshold += tile.rejected[w].below_threshold;
  }
  const std::uint32_t own = tile.open.word[word], r = 32 * word + lane;
  if (own >> lane & 1)
    a.survivors[slot * 32 * a.words + before + lanes_before(own)] = {tile.key[r], block.first + r};
  if (threadIdx.x == 0)
    a.counts[slot] = counts;
}

/// Maps a tile of one row or more. The tile's marks are clear. `next`: the lane's first columns.
template <unsigned words>
__device__ void find_survivors(const OnePassArguments& a, RowTile<words>& tile, const BlockRows& block,
                               const LaneColumns& next, std::size_t slot) {
  const unsigned warp = threadIdx.x / 32;
  if (warp < 2 * words)
    prepare_rows(a, tile, block, warp);
  else if (warp == 2 * words)
    prepare_levels(a, tile, block);
  __syncthreads();
  compare_columns(a, tile, block, next);
  __syncthreads();
  write_tile(a, tile, block, slot);
}

/// Maps a tile of a frame of more than a.capacity candidates.
__device__ void map_many(const OnePassArguments& a, RowTile<one_pass_words>& memory, const Extent& extent,
                         std::uint32_t frame) {
  const std::size_t slot = a.slot(frame, blockIdx.x);
  const std::uint32_t rows = ceil_div(extent.n, a.tiles);
  const std::uint32_t first = rows * blockIdx.x;
  if (first >= extent.n) {
    if (threadIdx.x == 0)
      a.counts[slot] = {};
    return;
  }
  const BlockRows block{extent.input, extent.n, first, min(rows, extent.n - first)};
  const LaneColumns next(a, block, threadIdx.x / 32);
  if (rows <= 32)
    find_survivors(a, reinterpret_cast<RowTile<1>&>(memory), block, next, slot);
  else if (rows <= 64)
    find_survivors(a, reinterpret_cast<RowTile<2>&>(memory), block, next, slot);
  else
    find_survivors(a, memory, block, next, slot);
}

using FewPlan = Plan<true, 1, capacity_max / threads, warps>;
using FewTile = Tile<FewPlan>;

/// Maps a tile of a frame of up to a.capacity candidates, as map() does.
__device__ void map_few(const OnePassArguments& a, FewTile& tile, const Extent& extent, std::uint32_t frame) {
  Found to = a.found(frame);
  to.lists = nullptr;  // existence_only: none are written
  const std::uint32_t first = blockIdx.x * a.tile;
  if (first < extent.n)
    map_tile<FewPlan::items>(a, tile, {extent.input, extent.n, first, min(a.tile, extent.n - first)}, to, [] {});
  else if (first == 0)
    write_none(to, a.capacity);
}

/// A tile is of either kind.
constexpr std::size_t memory_vectors =
    ceil_div(std::max(sizeof(FewTile), sizeof(RowTile<one_pass_words>)), sizeof(uint4));

__global__ void __launch_bounds__(threads, 1) one_pass_map(const __grid_constant__ OnePassArguments a) {
  __shared__ uint4 memory[memory_vectors];
  auto& few = reinterpret_cast<FewTile&>(memory);
  auto& many = reinterpret_cast<RowTile<one_pass_words>&>(memory);
  auto* const marks = reinterpret_cast<std::uint32_t*>(memory);
  const std::uint32_t frame = blockIdx.y;
  Extent extent(a.frames, frame);
  // Frames whose candidates are counted are expected to have few.
  const bool is_counted = a.frames.counts;
  if (is_counted)
    clear(few);
  else
    clear_marks(marks, a.words);
  __syncthreads();
  pdl_wait();
  if (extent.on_device)
    extent.load(a.frames, frame);
  if (is_counted) {
    if (a.is_few(extent.n))
      return map_few(a, few, extent, frame);
    clear_marks(marks, a.words);
    __syncthreads();
  }
  map_many(a, many, extent, frame);
}

}  // namespace

void launch_one_pass_map(const Call& call, const OnePassArguments& arguments) {
  launch_pdl(one_pass_map, call, {call.grid(arguments.tiles), threads}, arguments);
}

}  // namespace crowd::CROWD_DIRECT
