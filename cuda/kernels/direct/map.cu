// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The launch of the map: a block for each tile of rows.

#include <algorithm>

#include "kernels/direct/map_tile.cuh"
#include "kernels/direct/tile_results.cuh"

namespace crowd::CROWD_DIRECT {

namespace {

constexpr unsigned threads_max = 1024;
// reduce() of a counted call with room for more than direct_early reads counts before it waits, and those may come from
// the map's predecessor. It has items_max rows a thread then, as the map has columns: both see which frames are tiny.
static_assert(tuning::direct_early == 2 * 1024);

/// `can_be_few`: where a frame has no more candidates than the block has threads, these take a column each.
template <typename Plan, bool can_be_few>
__global__ void __launch_bounds__(threads_max, 1) map(const __grid_constant__ DirectArguments a) {
  __shared__ Tile<Plan> tile;
  const std::uint32_t frame = blockIdx.y;
  // Computed before shared memory is cleared, while nothing waits for it: the compiler would move it behind pdl_wait(),
  // but not across the loops of clear().
  const std::uint32_t first = materialize(blockIdx.x * a.tile);
  Found to = a.found(frame);
  to.rows = materialize(to.rows);
  to.lists = materialize(to.lists + list_vectors(first));
  // A smaller reduce finds room beside the map.
  if (Plan::items * threads_max <= tuning::direct_early)
    pdl_start_successor();
  clear(tile);
  Extent extent(a.frames, frame);
  std::uint32_t rows = materialize(min(a.tile, extent.n - first));
  __syncthreads();
  pdl_wait();
  if (extent.on_device) {
    extent.load(a.frames, frame);
    if (unlikely(extent.n > a.capacity))
      return a.cleared.clear(frame, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x);
    if (a.cleared.first && first == 0 && threadIdx.x == 0)
      *a.cleared.done(frame) = 0;
    if (can_be_few && extent.n <= a.tiny)
      return;
    if (first >= extent.n) {
      if (first == 0)
        write_none(a.found(frame), a.capacity);
      return;
    }
    rows = min(a.tile, extent.n - first);
  }
  const BlockRows block{extent.input, extent.n, first, rows};
  if (can_be_few && block.n <= blockDim.x)
    map_tile<1>(a, tile, block, to, [] {});
  else
    map_tile<Plan::items>(a, tile, block, to, [] {});
}

template <bool bounded, unsigned words, unsigned items>
void launch(const Call& call, const DirectArguments& arguments) {
  const std::uint32_t capacity = arguments.capacity;
  // Results needs a warp for each word of rows.
  const unsigned warps = std::max(ceil_div(ceil_div(capacity, items), 32), words);
  using Shape = Plan<bounded, words, items, threads_max / 32>;
  constexpr bool can_be_few = items == items_max;
  // Smaller frames of a batch need not be few: with this 32 ragged ones of 1024 take 12.2 us, not 11.7.
  const bool few = has_few(call) && (words == 1 || arguments.tiny);
  launch_pdl(few ? map<Shape, can_be_few> : map<Shape, false>, call,
             {call.grid(ceil_div(capacity, arguments.tile)), 32 * warps}, arguments);
}

/// One block per multiprocessor is done soonest with few columns a thread; where several share one, four do best.
template <bool bounded>
void launch(const Call& call, const DirectArguments& arguments) {
  const std::uint32_t capacity = arguments.capacity;
  if (arguments.tile > 32)
    launch<bounded, words_max, items_max>(call, arguments);
  else if (capacity > 2 * threads_max)
    launch<bounded, 1, items_max>(call, arguments);
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

}  // namespace crowd::CROWD_DIRECT
