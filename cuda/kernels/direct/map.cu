// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The map over all multiprocessors, a tile of rows a block.

#include <algorithm>

#include "kernels/direct/map_tile.cuh"
#include "kernels/direct/tile_results.cuh"

namespace crowd::direct {

namespace {

constexpr unsigned threads_max = 1024;

template <typename Plan>
__global__ void __launch_bounds__(threads_max, 1) map(DirectArguments a) {
  __shared__ Tile<Plan> tile;
  const std::uint32_t frame = blockIdx.y;
  // Before shared memory is cleared: instructions are moved across the wait, but not across loops.
  const std::uint32_t first = materialize(blockIdx.x * a.tile);
  Found to = a.arrays.of(frame, a.frames.slot(frame));
  to.rows = materialize(to.rows);
  to.lists = materialize(to.lists + list_vectors(first));
  clear(tile);
  Extent extent(a.frames, frame);
  std::uint32_t rows = materialize(min(a.tile, extent.n - first));
  __syncthreads();
  pdl_wait();
  if (extent.on_device) {
    extent.load(a.frames, frame);
    if (first >= extent.n) {
      if (first == 0)
        write_none(a.arrays.of(frame, a.frames.slot(frame)), a.frames.capacity);
      return;
    }
    rows = min(a.tile, extent.n - first);
  }
  const Job job{extent.input, extent.n, first, rows};
  map_tile(a, tile, job, to, [] {});
}

template <bool bounded, unsigned words, unsigned items>
void launch(const Call& call, const DirectArguments& arguments) {
  const std::uint32_t capacity = call.frames.capacity;
  // Each word of rows has a warp of its own: Results.
  const unsigned warps = std::max(ceil_div(ceil_div(capacity, items), 32), words);
  launch_pdl(map<Plan<bounded, words, items, threads_max / 32>>, call,
             {call.grid(ceil_div(capacity, arguments.tile)), 32 * warps}, arguments);
}

/// The fewer columns a thread has, the sooner a block is done; where blocks share a multiprocessor, the most do best.
template <bool bounded>
void launch(const Call& call, const DirectArguments& arguments) {
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

void launch_map(const Call& call, const DirectArguments& arguments) {
  if (bounded(arguments.rule))
    launch<true>(call, arguments);
  else
    launch<false>(call, arguments);
}

}  // namespace crowd::direct
