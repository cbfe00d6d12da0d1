// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Candidates given to clusters, one after another: a component by a warp or a block, a whole frame by a block.

#include "kernels/fusion/clusters.cuh"
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
  return {crowd::from_lane(its.box, lane), __shfl_sync(all_lanes, its.score, lane),
          __shfl_sync(all_lanes, its.place, lane), __shfl_sync(all_lanes, its.label, lane)};
}

/// Fuses `count` candidates, the one at place_at(0) first. For a whole warp.
template <typename PlaceAt>
__device__ void fuse_few(const FusionStage& f, std::uint32_t first, std::uint32_t count, PlaceAt place_at) {
  const unsigned lane = threadIdx.x % warp_size;
  Clusters clusters(f, first, lane, warp_size);
  for (std::uint32_t base = 0; base < count; base += warp_size) {
    const Fusing its = fusing(f, place_at(min(base + lane, count - 1)));
    const int here = static_cast<int>(min(count - base, warp_size));
    for (int k = 0; k < here; ++k) {
      const Fusing candidate = from_lane(its, k);
      clusters.take(candidate, closest_of_lanes(clusters.closest_to(candidate)));
    }
  }
  clusters.finish(count);
}

/// What a block has in shared memory.
struct BlockMemory {
  Closest of_warp[2][block_warps];
  std::uint32_t place[block];
  std::uint32_t found[block_warps];
  std::uint32_t total, first;
};

/// Appends the places of those of `block` ranks that belong, in order. Returns how many. Between barriers.
template <typename Belongs>
__device__ std::uint32_t collect(const FusionStage& f, BlockMemory& memory, std::uint32_t to, std::uint32_t base,
                                 Belongs belongs) {
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
    memory.place[to + before + static_cast<std::uint32_t>(__popc(of_warp & ((1u << lane) - 1)))] = place;
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
__device__ void fuse_many(const FusionStage& f, BlockMemory& memory, std::uint32_t first, std::uint32_t count,
                          Belongs belongs) {
  Clusters clusters(f, first, threadIdx.x, block);
  std::uint32_t left = count;
  for (std::uint32_t base = 0; left; base += block) {
    const std::uint32_t here = collect(f, memory, 0, base, belongs);
    left -= here;
    // Two arrays, so that what a warp writes of one candidate is read before it writes of the one after the next.
    for (std::uint32_t k = 0; k < here; ++k) {
      const Fusing candidate = fusing(f, memory.place[k]);
      clusters.take(candidate, closest_of_block(clusters.closest_to(candidate), memory.of_warp[k % 2]));
    }
    __syncthreads();
  }
  clusters.finish(count);
}

/// The same; a warp is quicker where it is enough.
template <typename Belongs>
__device__ void fuse_by_block(const FusionStage& f, BlockMemory& memory, std::uint32_t first, std::uint32_t count,
                              Belongs belongs) {
  if (count > tuning::fusion_list)
    return fuse_many(f, memory, first, count, belongs);
  std::uint32_t found = 0;
  for (std::uint32_t base = 0; found < count; base += block)
    found += collect(f, memory, found, base, belongs);
  if (threadIdx.x < warp_size)
    fuse_few(f, first, count, [&](std::uint32_t i) { return memory.place[i]; });
  __syncthreads();
}

/// Calls found(own, place) for candidates of other components that a fused box of the cluster in a slot may have
/// overlapped; `own` is the cluster's component. component(place): that of a candidate. For a whole warp.
template <typename Component, typename Found>
__device__ void check(const FusionStage& f, std::uint32_t slot, Component component, Found found) {
  const ClusterArrays& clusters = f.a.arrays.clusters;
  const std::size_t at = f.first_slot() + slot;
  // One that has had no second member is the founder's box.
  if (clusters.members[at] < 2)
    return;
  const float4 hull = clusters.hull[at];
  const float4 core = clusters.core[at];
  const float least_area = core.z > core.x && core.w > core.y ? f.area_of(core) : 0;
  const std::int32_t label = clusters.label[at];
  const std::uint32_t own = component(clusters.founder[at]);
  const Walk walk(f.stage, hull, label, f.stage.a.rule);
  for (std::uint32_t number = 0; number < walk.segments(); ++number) {
    const Segment segment = walk.at(number);
    const std::uint32_t end = segment.first + segment.count;
    for (std::uint32_t place = segment.first + threadIdx.x % warp_size; place < end; place += warp_size)
      if (f.share(hull, f.box(place), least_area + f.area_of(f.box(place)), f.a.overlap_part) &&
          component(place) != own && f.stage.label(f.key(place)) == label)
        found(own, place);
  }
}

/// Candidates of the components that are joined with this one. For a whole block.
__device__ std::uint32_t count_joined(const FusionStage& f, BlockMemory& memory, std::uint32_t joined) {
  if (threadIdx.x == 0)
    memory.total = 0;
  __syncthreads();
  for (std::uint32_t place = threadIdx.x; place < f.size(); place += block)
    if (f.component_size(place) && find_root(f.joined(), place) == joined)
      atomicAdd(&memory.total, f.component_size(place));
  __syncthreads();
  return memory.total;
}

/// Slots of the second half. For a whole block.
__device__ std::uint32_t take_slots(const FusionStage& f, BlockMemory& memory, std::uint32_t count) {
  if (threadIdx.x == 0)
    memory.first = atomicAdd(&f.counters().again, count);
  __syncthreads();
  return f.a.staged.frames.capacity + memory.first;
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
  fuse_few(f, begin, count, [&](std::uint32_t i) { return f.place_of(list[i]); });
}

__global__ void __launch_bounds__(block) fuse_large(FusionArguments a) {
  __shared__ BlockMemory memory;
  pdl_wait();
  const FusionStage f(a, blockIdx.y);
  if (blockIdx.x >= f.counters().large)
    return;
  const std::uint32_t root = a.arrays.large[f.stage.slot + blockIdx.x];
  fuse_by_block(f, memory, a.arrays.begin[f.stage.slot + root], f.component_size(root),
                [&](std::uint32_t place) { return f.root(place) == root; });
}

__global__ void __launch_bounds__(fusion_threads) check_clusters(FusionArguments a) {
  pdl_wait();
  const FusionStage f(a, blockIdx.y);
  const std::uint32_t slot = blockIdx.x * fusion_warps + threadIdx.x / warp_size;
  if (slot >= f.size())
    return;
  bool any = false;
  std::uint32_t component = 0;
  check(
      f, slot, [&](std::uint32_t place) { return f.root(place); },
      [&](std::uint32_t own, std::uint32_t place) {
        unite_two(f.joined(), own, f.root(place));
        component = own;
        any = true;
      });
  const unsigned lanes_with_any = __ballot_sync(all_lanes, any);
  if (any && __ffs(static_cast<int>(lanes_with_any)) - 1 == static_cast<int>(threadIdx.x % warp_size))
    a.arrays.conflict[f.stage.slot + atomicAdd(&f.counters().conflicts, 1u)] = component;
}

__global__ void __launch_bounds__(block) fuse_again(FusionArguments a) {
  __shared__ BlockMemory memory;
  pdl_wait();
  const FusionStage f(a, blockIdx.y);
  const std::uint32_t conflicts = f.counters().conflicts;
  const std::uint32_t* const conflict = a.arrays.conflict + f.stage.slot;
  for (std::uint32_t k = blockIdx.x; k < conflicts; k += gridDim.x) {
    const std::uint32_t joined = find_root(f.joined(), conflict[k]);
    bool earlier = false;
    for (std::uint32_t e = threadIdx.x; e < k; e += block)
      earlier |= find_root(f.joined(), conflict[e]) == joined;
    if (__syncthreads_or(earlier))
      continue;
    const std::uint32_t count = count_joined(f, memory, joined);
    const std::uint32_t first = take_slots(f, memory, count);
    fuse_by_block(f, memory, first, count, [&](std::uint32_t place) { return f.joined_root(place) == joined; });
  }
}

__global__ void __launch_bounds__(fusion_threads) check_again(FusionArguments a) {
  pdl_wait();
  const FusionStage f(a, blockIdx.y);
  const std::uint32_t number = blockIdx.x * fusion_warps + threadIdx.x / warp_size;
  if (number >= f.counters().again)
    return;
  check(
      f, a.staged.frames.capacity + number, [&](std::uint32_t place) { return f.joined_root(place); },
      [&](std::uint32_t, std::uint32_t) { store_relaxed(&f.counters().whole, 1); });
}

__global__ void __launch_bounds__(block) fuse_whole(FusionArguments a) {
  __shared__ BlockMemory memory;
  pdl_wait();
  const FusionStage f(a, blockIdx.y);
  if (a.all_meet || f.counters().whole)
    fuse_by_block(f, memory, 0, f.size(), [](std::uint32_t) { return true; });
}

}  // namespace crowd::ruled
