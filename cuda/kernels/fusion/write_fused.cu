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

}  // namespace

__global__ void __launch_bounds__(block) write_fused(FusionArguments a) {
  static_assert(block_warps == warp_size, "a lane for each warp's count");
  constexpr unsigned step = 4;  // candidates a thread, whose loads precede the first barrier
  __shared__ std::uint32_t founders[step][block_warps];
  pdl_wait();
  const FusionStage f(a, blockIdx.y);
  const unsigned lane = threadIdx.x % warp_size;
  const std::uint32_t size = f.size();
  std::uint32_t survivors = 0;
  for (std::uint32_t base = 0; base < size; base += step * block) {
    std::uint32_t place[step], founder[step];
    std::size_t cluster[step];
#pragma unroll
    for (unsigned s = 0; s < step; ++s)
      place[s] = f.place_of(min(base + s * block + threadIdx.x, size - 1));
#pragma unroll
    for (unsigned s = 0; s < step; ++s)
      cluster[s] = f.first_slot() + f.cluster(place[s]);
#pragma unroll
    for (unsigned s = 0; s < step; ++s)
      founder[s] = a.arrays.clusters.founder[cluster[s]];
    unsigned of_warp[step];
#pragma unroll
    for (unsigned s = 0; s < step; ++s) {
      const bool here = base + s * block + threadIdx.x < size;
      of_warp[s] = __ballot_sync(all_lanes, here && founder[s] == place[s]);
      if (lane == 0)
        founders[s][threadIdx.x / warp_size] = static_cast<std::uint32_t>(__popc(of_warp[s]));
      if (here && a.staged.out.representatives)
        a.staged.out.representatives[f.stage.slot + rank_index(f.key(place[s]))] = rank_index(f.key(founder[s]));
    }
    __syncthreads();
#pragma unroll
    for (unsigned s = 0; s < step; ++s) {
      const std::uint32_t its = founders[s][lane];
      const std::uint32_t upto = warp_prefix(its);
      const std::uint32_t before = __shfl_sync(all_lanes, upto - its, static_cast<int>(threadIdx.x / warp_size));
      if (of_warp[s] >> lane & 1)
        write_survivor(f, place[s], cluster[s],
                       survivors + before + static_cast<std::uint32_t>(__popc(of_warp[s] & ((1u << lane) - 1))));
      survivors += __shfl_sync(all_lanes, upto, warp_size - 1);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0)
    f.stage.write_report(survivors);
}

}  // namespace crowd::ruled
