// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Survivors of few members, and lists of members.

#include "kernels/memory.cuh"
#include "kernels/merge/merge.cuh"
#include "kernels/warp.cuh"

namespace crowd::merging {

__global__ void __launch_bounds__(tuning::frame_block) drop_small(MergeArguments a) {
  static_assert(tuning::frame_block == warp_size * warp_size, "a lane for each warp's count");
  __shared__ std::uint32_t kept_by_warp[warp_size];
  pdl_wait();
  const std::uint32_t frame = blockIdx.y;
  const unsigned lane = threadIdx.x % warp_size;
  const std::size_t first = a.first_found(frame);
  const std::uint32_t found = a.found.reports[frame].survivors;
  std::uint32_t kept = 0;
  // What is written was read by all threads before the barrier between.
  for (std::uint32_t base = 0; base < found; base += tuning::frame_block) {
    const std::uint32_t rank = base + threadIdx.x;
    const std::uint32_t survivor = rank < found ? a.found.survivors[first + rank] : 0;
    const std::uint32_t members = rank < found ? a.found.members[first + rank] : 0;
    const bool keeps = rank < found && members >= a.min_members;
    if (rank < found && !keeps)
      a.found.representatives[a.frames.slot(frame) + survivor] = CROWD_NMS_NONE;
    const unsigned of_warp = __ballot_sync(all_lanes, keeps);
    if (lane == 0)
      kept_by_warp[threadIdx.x / warp_size] = static_cast<std::uint32_t>(__popc(of_warp));
    __syncthreads();
    const std::uint32_t its = kept_by_warp[lane];
    const std::uint32_t upto = warp_prefix(its);
    const std::uint32_t before = __shfl_sync(all_lanes, upto - its, static_cast<int>(threadIdx.x / warp_size));
    const std::size_t at = first + kept + before + static_cast<std::uint32_t>(__popc(of_warp & ((1u << lane) - 1)));
    if (keeps) {
      a.found.survivors[at] = survivor;
      a.found.members[at] = members;
    }
    kept += __shfl_sync(all_lanes, upto, warp_size - 1);
    __syncthreads();
  }
  if (threadIdx.x == 0 && kept < found)
    a.found.reports[frame].survivors = kept;
}

// Survivors that are dropped, or not written, have no list either.
__global__ void __launch_bounds__(threads) clear_lists(MergeArguments a) {
  pdl_wait();
  const std::uint32_t i = blockIdx.x * threads + threadIdx.x;
  if (i == 0)
    a.lists.cursor[blockIdx.y] = 0;
  if (i < a.frames.held(blockIdx.y))
    a.lists.end[a.frames.slot(blockIdx.y) + i] = no_list;
}

__global__ void __launch_bounds__(threads) place_lists(MergeArguments a) {
  pdl_wait();
  const std::uint32_t frame = blockIdx.y;
  const std::uint32_t rank = blockIdx.x * threads + threadIdx.x;
  const std::uint32_t written = a.written(frame);
  if (rank / warp_size * warp_size >= written)
    return;
  const std::uint32_t members = rank < written ? a.found.members[a.first_found(frame) + rank] : 0;
  const bool listed = members > 1 && members <= tuning::merge_list;
  const std::uint32_t begin = take_places(a.lists.cursor[frame], listed ? members : 0);
  if (rank < written)
    a.lists.end[a.frames.slot(frame) + a.found.survivors[a.first_found(frame) + rank]] = listed ? begin : no_list;
}

__global__ void __launch_bounds__(threads) fill_lists(MergeArguments a) {
  pdl_wait();
  const std::uint32_t i = blockIdx.x * threads + threadIdx.x;
  if (i >= a.frames.held(blockIdx.y))
    return;
  const std::size_t slot = a.frames.slot(blockIdx.y);
  const std::uint32_t survivor = a.found.representatives[slot + i];
  if (survivor >= a.frames.capacity || load_relaxed(a.lists.end + slot + survivor) == no_list)
    return;
  a.lists.member[slot + atomicAdd(a.lists.end + slot + survivor, 1u)] = i;
}

}  // namespace crowd::merging
