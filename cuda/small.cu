// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Map and reduce of a frame of a few hundred candidates in one launch, by a thread-block cluster (Hopper and up): the
// last block ranks, the others map a tile of rows each, into the shared memory of the first, which then reduces.

#include <cooperative_groups.h>

#include "map_tile.cuh"
#include "reduce_frame.cuh"

namespace crowd::direct {

namespace {

constexpr unsigned threads = tuning::small_block;
constexpr unsigned group = tuning::small_group;
constexpr unsigned mappers = group - 1;
constexpr unsigned capacity = tuning::small_capacity;
constexpr unsigned tile_max = (capacity + mappers - 1) / mappers;
static_assert(capacity <= threads * rank_items && capacity <= capacity_max);

struct Shared {
  Tile<tile_max, threads / 32> tile;
  std::uint32_t listed;
  Verdicts verdicts;
  // Of the first block alone:
  Row rows[mappers * tile_max];
  alignas(sizeof(uint2)) std::uint16_t lists[mappers * tile_max * list_room];  ///< read as vectors
};

constexpr std::size_t shared_bytes = (sizeof(Shared) + sizeof(uint4) - 1) / sizeof(uint4) * sizeof(uint4);

template <bool greedy, bool bounded>
__global__ void __launch_bounds__(threads, 1) small(Arguments a) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ uint4 memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const auto cluster = cooperative_groups::this_cluster();
  const unsigned part = cluster.block_rank();
  const std::uint32_t frame = blockIdx.x / group;
  if (threadIdx.x == 0)
    shared.listed = shared.verdicts.malformed = shared.verdicts.low = shared.verdicts.waiting = 0;
  __syncthreads();
  // Everybody is there to be written to once all have arrived.
  cluster.barrier_arrive();
  await_previous();
  View view{a,
            shared.verdicts,
            carve(memory + shared_bytes / sizeof(uint4)),
            frame,
            a.frames.size(frame),
            a.frames.slot(frame),
            a.frames.input(frame),
            shared.rows,
            shared.lists,
            a.tile,
            a.tile * list_room};
  const std::uint32_t first = part * a.tile;
  if (part < mappers && first < view.n) {
    const std::uint32_t rows = min(a.tile, view.n - first);
    map_tile<bounded>(a, shared.tile, view.input, view.n, first, rows, ceil_div(a.frames.capacity, columns_per_warp));
    cluster.barrier_wait();
    Row* to_rows = cluster.map_shared_rank(shared.rows, 0) + first;
    std::uint16_t* to_lists = cluster.map_shared_rank(shared.lists, 0) + first * list_room;
    for (std::uint32_t r = threadIdx.x / 32; r < rows; r += threads / 32)
      write_row(shared.tile, r, to_rows, to_lists, shared.listed, a.tile * list_room);
  } else if (part == mappers) {
    cluster.barrier_wait();
    view.memory.ranking.by_rank = cluster.map_shared_rank(view.memory.ranking.by_rank, 0);
    view.memory.ranking.rank_of = cluster.map_shared_rank(view.memory.ranking.rank_of, 0);
    rank(view);
    __syncthreads();
    if (threadIdx.x == 0) {
      Verdicts* to = cluster.map_shared_rank(&shared.verdicts, 0);
      to->malformed = shared.verdicts.malformed;
      to->low = shared.verdicts.low;
    }
  } else {
    cluster.barrier_wait();
  }
  __syncwarp();
  cluster.sync();
  if (part == 0)
    reduce_frame<greedy>(view);
#endif
}

}  // namespace

void launch_small(const Call& call, const Arguments& arguments) {
  const bool greedy = call.params.method == CROWD_NMS_GREEDY;
  const auto kernel = bounded(arguments.rule) ? (greedy ? small<true, true> : small<false, true>)
                                              : (greedy ? small<true, false> : small<false, false>);
  Arguments of_cluster = arguments;
  of_cluster.tile = ceil_div(call.frames.capacity, mappers);
  constexpr std::size_t bytes = shared_bytes + memory_bytes(threads);
  launch_early(kernel, call, {{call.frame_count * group, 1, 1}, threads, bytes, bytes, group}, of_cluster);
}

}  // namespace crowd::direct
