// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The map over all multiprocessors, a tile of rows a block.

#include "map_tile.cuh"

namespace crowd::direct {

namespace {

constexpr unsigned tile_max = tuning::direct_tile_max;
constexpr unsigned threads_max = capacity_max / columns_per_lane;

template <bool bounded>
__global__ void __launch_bounds__(threads_max, 1) map(Arguments a) {
  __shared__ Tile<tile_max, threads_max / 32> tile;
  __shared__ std::uint32_t listed;
  const std::uint32_t frame = blockIdx.y;
  await_previous();
  const std::uint32_t n = a.frames.size(frame);
  const std::uint32_t first = blockIdx.x * a.tile;
  if (first >= n)
    return;
  const std::uint32_t rows = min(a.tile, n - first);
  if (threadIdx.x == 0)
    listed = 0;
  map_tile<bounded>(a, tile, a.frames.input(frame), n, first, rows, blockDim.x / 32);
  const std::size_t slot = a.frames.slot(frame);
  for (std::uint32_t r = threadIdx.x / 32; r < rows; r += blockDim.x / 32)
    write_row(tile, r, a.arrays.rows + slot + first, a.arrays.lists + (slot + first) * list_room, listed,
              rows * list_room);
}

}  // namespace

void launch_map(const Call& call, const Arguments& arguments) {
  const std::uint32_t capacity = call.frames.capacity;
  const unsigned threads = ceil_div(capacity, columns_per_warp) * 32;
  launch_early(bounded(arguments.rule) ? map<true> : map<false>, call,
               {call.grid(ceil_div(capacity, arguments.tile)), threads}, arguments);
}

}  // namespace crowd::direct
