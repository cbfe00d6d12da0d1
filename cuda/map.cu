// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The map over all multiprocessors, a tile of rows a block.

#include "map_tile.cuh"
#include "tile_results.cuh"

namespace crowd::direct {

namespace {

constexpr unsigned threads_max = 1024;

template <typename Plan>
__global__ void __launch_bounds__(threads_max, 1) map(Arguments a) {
  __shared__ Tile<Plan> tile;
  const std::uint32_t frame = blockIdx.y;
  clear(tile);
  __syncthreads();
  await_previous();
  const std::uint32_t n = a.frames.size(frame);
  const std::uint32_t first = blockIdx.x * a.tile;
  if (first >= n)
    return;
  const Job job{a.frames.input(frame), n, first, min(a.tile, n - first)};
  map_tile(a, tile, job);
  write_rows(a, tile, job, a.arrays.of(frame, a.frames.slot(frame)));
}

template <bool bounded, unsigned words, unsigned items>
void launch(const Call& call, const Arguments& arguments) {
  const std::uint32_t capacity = call.frames.capacity;
  launch_early(map<Plan<bounded, words, items, threads_max / 32>>, call,
               {call.grid(ceil_div(capacity, arguments.tile)), ceil_div(ceil_div(capacity, items), 32) * 32},
               arguments);
}

/// The fewer columns a thread has, the sooner a block is done; where blocks share a multiprocessor, the most do best.
template <bool bounded>
void launch(const Call& call, const Arguments& arguments) {
  const std::uint32_t capacity = call.frames.capacity;
  if (arguments.tile > 32)
    launch<bounded, words_max, 4>(call, arguments);
  else if (capacity > 2 * threads_max)
    launch<bounded, 1, 4>(call, arguments);
  else if (capacity > threads_max)
    launch<bounded, 1, 2>(call, arguments);
  else
    launch<bounded, 1, 1>(call, arguments);
}

}  // namespace

void launch_map(const Call& call, const Arguments& arguments) {
  if (bounded(arguments.rule))
    launch<true>(call, arguments);
  else
    launch<false>(call, arguments);
}

}  // namespace crowd::direct
