// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Candidates given to clusters, one after another: a component by a warp or a block, a whole frame by a block.

#include "kernels/fusion/fusion.cuh"
#include "kernels/sort_list.cuh"

namespace crowd::ruled {

namespace {

constexpr unsigned block = tuning::frame_block;
constexpr unsigned block_warps = block / warp_size;

__device__ Fusing fusing(const FusionStage& f, std::uint32_t place) {
  const std::uint64_t key = f.key(place);
  return {f.box(place), key_score(static_cast<std::uint32_t>(key >> 32)), place, f.stage.label(key)};
}

__device__ Fusing from_lane(const Fusing& its, int lane) {
  return {{__shfl_sync(all_lanes, its.box.x, lane), __shfl_sync(all_lanes, its.box.y, lane),
           __shfl_sync(all_lanes, its.box.z, lane), __shfl_sync(all_lanes, its.box.w, lane)},
          __shfl_sync(all_lanes, its.score, lane),
          __shfl_sync(all_lanes, its.place, lane),
          __shfl_sync(all_lanes, its.label, lane)};
}

/// Fuses the candidates of these ranks, which are in order. For a whole warp.
__device__ void fuse_list(const FusionStage& f, std::uint32_t first, const std::uint32_t* ranks, std::uint32_t count) {
  const unsigned lane = threadIdx.x % warp_size;
  Clusters clusters(f, first);
  for (std::uint32_t base = 0; base < count; base += warp_size) {
    const Fusing its = fusing(f, f.place_of(ranks[min(base + lane, count - 1)]));
    const int here = static_cast<int>(min(count - base, warp_size));
    for (int k = 0; k < here; ++k) {
      const Fusing candidate = from_lane(its, k);
      clusters.take(candidate, closest_of_lanes(clusters.closest_to(candidate, lane, warp_size)), true);
    }
  }
  clusters.finish(count, lane, warp_size);
}

/// What a block has in shared memory.
struct BlockMemory {
  Closest of_warp[2][block_warps];
  std::uint32_t place[block];
  std::uint32_t found[block_warps];
};

/// Puts the places of those of `block` ranks that belong into order. Returns how many. Between barriers.
template <typename Belongs>
__device__ std::uint32_t collect(const FusionStage& f, BlockMemory& memory, std::uint32_t base, Belongs belongs) {
  static_assert(block_warps == warp_size, "a lane for each warp's count");
  const unsigned lane = threadIdx.x % warp_size;
  const std::uint32_t rank = base + threadIdx.x;
  const std::uint32_t place = rank < f.size() ? f.place_of(rank) : 0;
  const bool here = rank < f.size() && belongs(place);
  const unsigned of_warp = __ballot_sync(all_lanes, here);
  if (lane == 0)
    memory.found[threadIdx.x / warp_size] = static_cast<std::uint32_t>(__popc(of_warp));
  __syncthreads();
  const std::uint32_t its = memory.found[lane];
  const std::uint32_t upto = warp_prefix(its);
  const std::uint32_t before = __shfl_sync(all_lanes, upto - its, static_cast<int>(threadIdx.x / warp_size));
  if (here)
    memory.place[before + static_cast<std::uint32_t>(__popc(of_warp & ((1u << lane) - 1)))] = place;
  __syncthreads();
  return __shfl_sync(all_lanes, upto, warp_size - 1);
}

__device__ Closest closest_of_block(const Closest& mine, Closest* of_warp) {
  const Closest its = closest_of_lanes(mine);
  if (threadIdx.x % warp_size == 0)
    of_warp[threadIdx.x / warp_size] = its;
  __syncthreads();
  return closest_of_lanes(of_warp[threadIdx.x % warp_size]);
}

/// Fuses the candidates of the frame that belong, `count` of them. For a whole block.
template <typename Belongs>
__device__ void fuse_frame(const FusionStage& f, BlockMemory& memory, std::uint32_t first, std::uint32_t count,
                           Belongs belongs) {
  Clusters clusters(f, first);
  std::uint32_t left = count;
  for (std::uint32_t base = 0; left; base += block) {
    const std::uint32_t here = collect(f, memory, base, belongs);
    left -= here;
    // Two arrays, so that what a warp writes of one candidate is read before it writes of the one after the next.
    for (std::uint32_t k = 0; k < here; ++k) {
      const Fusing candidate = fusing(f, memory.place[k]);
      const Closest closest =
          closest_of_block(clusters.closest_to(candidate, threadIdx.x, block), memory.of_warp[k % 2]);
      clusters.take(candidate, closest, threadIdx.x < warp_size);
      __syncthreads();
    }
    __syncthreads();
  }
  clusters.finish(count, threadIdx.x, block);
}

}  // namespace

__global__ void __launch_bounds__(fusion_threads) fuse(FusionArguments a) {
  __shared__ std::uint32_t lists[fusion_warps][tuning::fusion_list];
  pdl_wait();
  const FusionStage f(a, blockIdx.y);
  const std::uint32_t place = blockIdx.x * fusion_warps + threadIdx.x / warp_size;
  if (place >= f.size())
    return;
  const std::uint32_t count = f.component_size(place);
  if (count == 0 || count > tuning::fusion_list)
    return;
  const std::uint32_t begin = a.arrays.begin[f.stage.slot + place];
  std::uint32_t* const list = lists[threadIdx.x / warp_size];
  for (std::uint32_t i = threadIdx.x % warp_size; i < count; i += warp_size)
    list[i] = a.arrays.member[f.stage.slot + begin + i];
  sort_list(list, count);
  fuse_list(f, begin, list, count);
}

__global__ void __launch_bounds__(block) fuse_large(FusionArguments a) {
  __shared__ BlockMemory memory;
  pdl_wait();
  const FusionStage f(a, blockIdx.y);
  if (blockIdx.x >= f.stage.counters().tickets)
    return;
  const std::uint32_t root = a.arrays.large[f.stage.slot + blockIdx.x];
  fuse_frame(f, memory, a.arrays.begin[f.stage.slot + root], f.component_size(root),
             [&](std::uint32_t place) { return f.root(place) == root; });
}

__global__ void __launch_bounds__(fusion_threads) check_clusters(FusionArguments a) {
  pdl_wait();
  const FusionStage f(a, blockIdx.y);
  const std::uint32_t number = blockIdx.x * fusion_warps + threadIdx.x / warp_size;
  // One that has had no second member is the founder's box.
  if (number >= f.size() || a.arrays.clusters.members[f.stage.slot + number] < 2)
    return;
  const float4 hull = a.arrays.clusters.hull[f.stage.slot + number];
  const std::int32_t label = a.arrays.clusters.label[f.stage.slot + number];
  const std::uint32_t root = f.root(a.arrays.clusters.founder[f.stage.slot + number]);
  const Walk walk(f.stage, hull);
  for (std::uint32_t s = 0; s < walk.segments(); ++s) {
    const Segment segment = walk.at(s);
    const std::uint32_t end = segment.first + segment.count;
    for (std::uint32_t place = segment.first + threadIdx.x % warp_size; place < end; place += warp_size)
      if (f.root(place) != root && f.meet(hull, f.box(place)) && f.stage.label(f.key(place)) == label)
        f.fuse_in_turn();
  }
}

__global__ void __launch_bounds__(block) fuse_whole(FusionArguments a) {
  __shared__ BlockMemory memory;
  pdl_wait();
  const FusionStage f(a, blockIdx.y);
  if (f.is_in_turn())
    fuse_frame(f, memory, 0, f.size(), [](std::uint32_t) { return true; });
}

}  // namespace crowd::ruled
