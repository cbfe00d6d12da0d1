// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The reduce of the one pass: a block for each tile sorts the tile's survivors, and finds by binary search how many of
// these each survivor of other tiles outranks. That gives the ranks. Of few candidates the first block does what
// reduce() does. And the launch of both kernels.

#include <algorithm>

#include "core/carver.hpp"
#include "kernels/direct/one_pass.cuh"
#include "kernels/direct/reduce_frame.cuh"

namespace crowd::CROWD_DIRECT {

namespace {

constexpr unsigned threads = one_pass_threads;
constexpr unsigned warps = one_pass_warps;

struct SortedSurvivors {
  static constexpr unsigned max = 32 * one_pass_words;

  std::uint32_t key[max];  ///< in the order of survivors by index
  /// In ascending order of ranks, the worst first, 32 a row; ~0 behind the last. The other columns are not used: the
  /// middles of four rows are in different banks.
  std::uint32_t sorted[one_pass_words][40];
  std::uint32_t index[max];                   ///< in this order
  std::uint32_t above[max + 1];               ///< [k]: survivors of other tiles that outrank exactly the first k
  std::uint32_t of_tile[one_pass_tiles_max];  ///< survivors of each tile
};

/// Threads that sort or rank a survivor together.
constexpr unsigned team = threads / SortedSurvivors::max;

/// Sorts the tile's survivors, of which there are `count`.
__device__ void sort_survivors(SortedSurvivors& own, const Survivor* survivors, std::uint32_t count) {
  const std::uint32_t r = threadIdx.x / team;
  const Survivor mine = r < count ? survivors[r] : Survivor{~0u, 0};
  if (threadIdx.x % team == 0) {
    own.key[r] = mine.key;
    own.sorted[r / 32][r % 32] = ~0u;
    own.above[r] = 0;
  }
  if (threadIdx.x == 0)
    own.above[SortedSurvivors::max] = 0;
  __syncthreads();
  std::uint32_t before = 0;
  for (std::uint32_t k = threadIdx.x % team; k < count; k += team)
    before += own.key[k] < mine.key || (own.key[k] == mine.key && k > r);
  const std::uint32_t place = group_sum<team>(before);
  if (threadIdx.x % team == 0 && r < count) {
    own.sorted[place / 32][place % 32] = mine.key;
    own.index[place] = mine.index;
  }
}

/// Finds how many of the tile's survivors, 32 * `words` at most, have a lower key.
template <unsigned words>
class LowerKeys {
 public:
  __device__ explicit LowerKeys(SortedSurvivors& own) : sorted_(own.sorted[0]) {
#pragma unroll
    for (unsigned w = 0; w + 1 < words; ++w)
      last_[w] = own.sorted[w][31];
  }
  template <unsigned items>
  __device__ void count(const std::uint32_t (&key)[items], std::uint32_t (&below)[items]) const {
    SharedWords row[items], at[items];
#pragma unroll
    for (unsigned k = 0; k < items; ++k) {
      row[k] = sorted_;
      below[k] = 0;
#pragma unroll
      for (unsigned w = 0; w + 1 < words; ++w)
        if (last_[w] < key[k]) {
          row[k] += stride;
          below[k] += 32;
        }
      at[k] = row[k];
    }
#pragma unroll
    for (unsigned step = 16; step; step /= 2)
#pragma unroll
      for (unsigned k = 0; k < items; ++k)
        if (at[k][step - 1] < key[k])
          at[k] += step;
#pragma unroll
    for (unsigned k = 0; k < items; ++k)
      below[k] += at[k] - row[k] + (at[k][0] < key[k] ? 1 : 0);
  }

 private:
  static constexpr unsigned stride = sizeof(SortedSurvivors::sorted[0]) / sizeof(std::uint32_t);

  SharedWords sorted_;
  std::uint32_t last_[words];  ///< of each row of `sorted` but the last
};

/// Counts, for each survivor of other tiles, how many of the tile's it outranks. A warp a tile.
template <unsigned words>
__device__ void count_others(const OnePassArguments& a, SortedSurvivors& own, std::uint32_t frame) {
  constexpr unsigned items = 2;
  const LowerKeys<words> lower(own);
  for (std::uint32_t tile = threadIdx.x / 32; tile < a.tiles; tile += warps) {
    const std::uint32_t count = tile == blockIdx.x ? 0 : own.of_tile[tile];
    const Survivor* const survivors = a.survivors + a.slot(frame, tile) * 32 * a.words;
    // Of equal scores the lower index is better.
    const std::uint32_t before = tile < blockIdx.x ? 1 : 0;
    for (std::uint32_t i = threadIdx.x % 32; i < count; i += 32 * items) {
      std::uint32_t key[items], below[items];
#pragma unroll
      for (unsigned k = 0; k < items; ++k)
        key[k] = i + 32 * k < count ? survivors[i + 32 * k].key + before : 0;
      lower.count(key, below);
#pragma unroll
      for (unsigned k = 0; k < items; ++k)
        if (below[k])
          atomicAdd(&own.above[below[k]], 1u);
    }
  }
}

/// A warp writes the frame's report.
__device__ void write_report(const OnePassArguments& a, std::uint32_t frame) {
  TileCounts all{};
  for (std::uint32_t tile = threadIdx.x % 32; tile < a.tiles; tile += 32) {
    const TileCounts counts = a.counts[a.slot(frame, tile)];
    all.survivors += counts.survivors;
    all.invalid += counts.invalid;
    all.below_threshold += counts.below_threshold;
  }
  all = {warp_sum(all.survivors), warp_sum(all.invalid), warp_sum(all.below_threshold)};
  if (threadIdx.x % 32)
    return;
  a.out.reports[frame] = frame_report(a.frames.count(frame), a.frames.size(frame), all.invalid, all.below_threshold,
                                      all.survivors, a.out.max_survivors);
}

/// Ranks and writes the survivors of a tile of a frame of more than a.capacity candidates.
__device__ void rank_survivors(const OnePassArguments& a, SortedSurvivors& own, std::uint32_t frame) {
  const std::size_t slot = a.slot(frame, blockIdx.x);
  if (threadIdx.x < a.tiles)
    own.of_tile[threadIdx.x] = a.counts[a.slot(frame, threadIdx.x)].survivors;
  const std::uint32_t count = a.counts[slot].survivors;
  if (blockIdx.x == 0 && threadIdx.x / 32 == warps - 1)
    write_report(a, frame);
  if (!count)
    return;
  sort_survivors(own, a.survivors + slot * 32 * a.words, count);
  __syncthreads();
  if (count <= 32)
    count_others<1>(a, own, frame);
  else if (count <= 64)
    count_others<2>(a, own, frame);
  else
    count_others<one_pass_words>(a, own, frame);
  __syncthreads();
  const std::uint32_t place = threadIdx.x / team;
  std::uint32_t better = 0;
  for (std::uint32_t k = place + 1 + threadIdx.x % team; k <= count; k += team)
    better += own.above[k];
  const std::uint32_t rank = group_sum<team>(better) + count - 1 - place;
  if (threadIdx.x % team == 0 && place < count && rank < a.out.max_survivors)
    a.out.survivors[std::size_t{frame} * a.out.max_survivors + rank] = own.index[place];
}

__global__ void __launch_bounds__(threads, 1) one_pass_reduce(const __grid_constant__ OnePassArguments a) {
  extern __shared__ uint4 memory[];
  __shared__ ReduceShared shared;
  const std::uint32_t frame = blockIdx.y;
  constexpr unsigned items = capacity_max / threads;
  const bool may_be_few = blockIdx.x == 0 && a.frames.counts;
  if (may_be_few)
    clear(carve(memory, a.capacity), shared, a.capacity);
  __syncthreads();
  pdl_wait();
  const std::uint32_t n = a.frames.size(frame);
  if (!a.is_few(n))
    return rank_survivors(a, reinterpret_cast<SortedSurvivors&>(*memory), frame);
  if (may_be_few)
    reduce_frame<false, items>({a, shared, carve(memory, a.capacity), frame, n, a.frames.input(frame), a.found(frame)},
                               a.found(frame).rows + Mine<items>::rank(0));
}

/// Tiles of a frame: so many that all multiprocessors have work, and that those of few candidates have 32 rows at most.
std::uint32_t tiles_for(const Call& call) {
  const std::uint32_t for_all = std::min(ceil_div(current_device().processors, call.frame_count), one_pass_tiles_max);
  return std::max({for_all, ceil_div(call.frames.capacity, 32 * one_pass_words), capacity_max / 32});
}

void launch_one_pass_reduce(const Call& call, const OnePassArguments& arguments) {
  constexpr std::size_t bytes = memory_bytes(capacity_max);
  static_assert(sizeof(SortedSurvivors) <= bytes);
  launch_pdl(one_pass_reduce, call, {call.grid(arguments.tiles), threads, bytes, bytes}, arguments);
}

}  // namespace

void launch_one_pass(const Call& call, Carver carver) {
  const std::uint32_t tiles = tiles_for(call);
  const unsigned words = ceil_div(ceil_div(call.frames.capacity, tiles), 32);
  const unsigned tile_words = words > 2 ? one_pass_words : words;
  const DirectArguments direct = direct_arguments(call, carver, ceil_div(capacity_max, tiles));
  const std::size_t all = std::size_t{call.frame_count} * tiles;
  const OnePassArguments arguments{direct, tiles, tile_words, carver.take<Survivor>(all * 32 * tile_words),
                                   carver.take<TileCounts>(all)};
  launch_one_pass_map(call, arguments);
  if (call.error == cudaSuccess)
    launch_one_pass_reduce(call, arguments);
}

}  // namespace crowd::CROWD_DIRECT
