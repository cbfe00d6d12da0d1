// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Map and reduce of a small frame in one launch, by a thread-block cluster (compute capability 9.0): each block maps a
// tile of rows into the shared memory of the first block, which then reduces.

#include <cooperative_groups.h>

#include "kernels/direct/map_tile.cuh"
#include "kernels/direct/reduce_frame.cuh"
#include "kernels/direct/tile_results.cuh"

namespace crowd::CROWD_DIRECT {

namespace {

constexpr unsigned group = tuning::small_group;
constexpr unsigned capacity = tuning::small_capacity;
/// Rows that a warp sorts: more warps than the columns need, so that sorting takes less time.
constexpr unsigned rows_per_warp = 2;
constexpr unsigned threads_max = 32 * ceil_div(ceil_div(capacity, group), rows_per_warp);
static_assert(group * rows_per_warp <= 32, "a thread for each column");
static_assert(ceil_div(capacity, group) <= 32 && capacity <= capacity_max);

template <bool bounded>
struct SmallShared {
  Tile<Plan<bounded, 1, 1, threads_max / 32>> tile;
  ReduceShared reduce;
  // Written by all blocks, in the first block's copy:
  RejectedCounts rejected;
  Row rows[capacity];
  uint4 lists[list_vectors(group * 32)];
};

constexpr std::size_t shared_bytes = (sizeof(SmallShared<true>) + sizeof(uint4) - 1) / sizeof(uint4) * sizeof(uint4);
static_assert(sizeof(SmallShared<true>) == sizeof(SmallShared<false>));

template <bool greedy, bool bounded>
__global__ void __launch_bounds__(threads_max, 1) small(const __grid_constant__ DirectArguments a) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ uint4 memory[];
  auto& shared = *reinterpret_cast<SmallShared<bounded>*>(memory);
  const auto cluster = cooperative_groups::this_cluster();
  const unsigned part = cluster.block_rank();
  const std::uint32_t frame = blockIdx.x / group;
  const Memory own = carve(memory + shared_bytes / sizeof(uint4), capacity);
  clear(shared.tile);
  if (part == 0)
    clear(own, shared.reduce, a.capacity);
  __syncthreads();
  // A block's shared memory may be written by others once all blocks have arrived.
  cluster.barrier_arrive();
  Extent extent(a.frames, frame);
  const std::uint32_t first = materialize(part * a.tile);
  pdl_wait();
  if (extent.on_device)
    extent.load(a.frames, frame);
  const std::uint32_t n = extent.n;
  const BlockRows block{extent.input, n, first, first < n ? min(a.tile, n - first) : 0};
  const Found found{cluster.map_shared_rank(shared.rows, 0),
                    cluster.map_shared_rank(shared.lists, 0) + list_vectors(first), a.found(frame).masks,
                    cluster.map_shared_rank(&shared.rejected, 0)};
  if (block.rows) {
    map_tile<1>(a, shared.tile, block, found, [&] { cluster.barrier_wait(); });
  } else {
    cluster.barrier_wait();
    if (part == 0)
      write_none(found, a.capacity);
  }
  __syncwarp();
  cluster.sync();
  if (part == 0)
    reduce_frame<greedy, 1, true>({a,
                                   shared.reduce,
                                   own,
                                   frame,
                                   n,
                                   block.input,
                                   {shared.rows, shared.lists, a.found(frame).masks, &shared.rejected}},
                                  shared.rows + Mine<1>::rank(0));
#endif
}

}  // namespace

void launch_small(const Call& call, const DirectArguments& arguments) {
  const bool greedy = !call.all_suppress;
  const auto kernel = bounded(arguments.rule) ? (greedy ? small<true, true> : small<false, true>)
                                              : (greedy ? small<true, false> : small<false, false>);
  DirectArguments of_cluster = arguments;
  of_cluster.tile = ceil_div(arguments.capacity, group);
  constexpr std::size_t bytes = shared_bytes + memory_bytes(capacity);
  const unsigned threads = 32 * ceil_div(of_cluster.tile, rows_per_warp);
  launch_pdl(kernel, call, {{call.frame_count * group, 1, 1}, threads, bytes, bytes, group}, of_cluster);
}

}  // namespace crowd::CROWD_DIRECT
