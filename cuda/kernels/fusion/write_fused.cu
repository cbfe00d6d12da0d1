// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What weighted box fusion leaves behind: founders survive, in the order of their ranks.

#include "kernels/fusion/fusion.cuh"

namespace crowd::ruled {

namespace {

constexpr unsigned block = tuning::frame_block;
constexpr unsigned block_warps = block / warp_size;

__device__ void write_survivor(const FusionStage& f, std::uint32_t place, std::size_t cluster, std::uint32_t at_rank) {
  const CrowdNmsSurvivors& out = f.stage.a.out;
  if (at_rank >= out.max_survivors)
    return;
  const ClusterArrays& clusters = f.a.arrays.clusters;
  const std::size_t at = static_cast<std::size_t>(f.stage.frame) * out.max_survivors + at_rank;
  const std::uint64_t key = f.key(place);
  out.survivors[at] = rank_index(key);
  if (out.members)
    out.members[at] = clusters.members[cluster];
  if (out.boxes)
    out.boxes[at] = as_box(clusters.fused[cluster]);
  if (out.scores)
    out.scores[at] = fused_score(clusters.scores[cluster], clusters.members[cluster], f.a.models,
                                 key_score(static_cast<std::uint32_t>(key >> 32)));
}

__device__ void write_report(const FusionStage& f, std::uint32_t survivors) {
  const StagedArguments& a = f.stage.a;
  const std::uint32_t all = a.frames.count(f.stage.frame);
  a.out.reports[f.stage.frame] = {all,
                                  all - a.frames.size(f.stage.frame),
                                  f.stage.counters().invalid,
                                  f.stage.counters().below_threshold,
                                  survivors,
                                  survivors > a.out.max_survivors ? survivors - a.out.max_survivors : 0};
}

}  // namespace

__global__ void __launch_bounds__(block) write_fused(FusionArguments a) {
  static_assert(block_warps == warp_size, "a lane for each warp's count");
  __shared__ std::uint32_t founders[block_warps];
  pdl_wait();
  const FusionStage f(a, blockIdx.y);
  const unsigned lane = threadIdx.x % warp_size;
  const std::uint32_t size = f.size();
  std::uint32_t survivors = 0;
  for (std::uint32_t base = 0; base < size; base += block) {
    const std::uint32_t rank = base + threadIdx.x;
    const std::uint32_t place = f.place_of(min(rank, size - 1));
    const std::size_t cluster = f.first_slot() + f.cluster(place);
    const std::uint32_t founder = a.arrays.clusters.founder[cluster];
    const bool survives = rank < size && founder == place;
    if (rank < size && a.staged.out.representatives)
      a.staged.out.representatives[f.stage.slot + rank_index(f.key(place))] = rank_index(f.key(founder));
    const unsigned of_warp = __ballot_sync(all_lanes, survives);
    if (lane == 0)
      founders[threadIdx.x / warp_size] = static_cast<std::uint32_t>(__popc(of_warp));
    __syncthreads();
    const std::uint32_t its = founders[lane];
    const std::uint32_t upto = warp_prefix(its);
    const std::uint32_t before = __shfl_sync(all_lanes, upto - its, static_cast<int>(threadIdx.x / warp_size));
    if (survives)
      write_survivor(f, place, cluster,
                     survivors + before + static_cast<std::uint32_t>(__popc(of_warp & ((1u << lane) - 1))));
    survivors += __shfl_sync(all_lanes, upto, warp_size - 1);
    __syncthreads();
  }
  if (threadIdx.x == 0)
    write_report(f, survivors);
}

}  // namespace crowd::ruled
