// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Stable compaction, one block per frame, and the reports.

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "frames.cuh"
#include "tuning.hpp"

namespace crowd {

namespace {

using Scan = cub::BlockScan<std::uint32_t, tuning::frame_block>;
using Reduce = cub::BlockReduce<std::uint32_t, tuning::frame_block>;

// Two counts of at most frame_block in one word, so that one scan serves two lists.
__device__ constexpr std::uint32_t packed(bool low, bool high) {
  return static_cast<std::uint32_t>(low) | static_cast<std::uint32_t>(high) << 16;
}

__global__ void __launch_bounds__(tuning::frame_block)
    elect(Frames frames, Scratch scratch, Lists from, Lists leaders, Lists rest) {
  __shared__ typename Scan::TempStorage temporary;
  const std::uint32_t frame = blockIdx.y;
  const std::uint32_t length = from.length(frames, frame);
  const std::size_t slot = frames.slot(frame);
  std::uint32_t leader_count = 0;
  std::uint32_t rest_count = 0;
  for (std::uint32_t base = 0; base < length; base += tuning::frame_block) {
    const bool inside = base + threadIdx.x < length;
    const std::uint32_t i = inside ? from.at(frames, frame, base + threadIdx.x) : 0;
    const std::uint32_t state = inside ? scratch.state[slot + i] : dead;
    const bool leads = state == undecided;
    const bool waits = state == dominated;
    std::uint32_t before, sum;
    Scan(temporary).ExclusiveSum(packed(leads, waits), before, sum);
    if (leads) {
      leaders.index[slot + leader_count + (before & 0xffff)] = i;
      scratch.state[slot + i] = kept;
    }
    if (waits) {
      rest.index[slot + rest_count + (before >> 16)] = i;
      scratch.state[slot + i] = undecided;
    }
    leader_count += sum & 0xffff;
    rest_count += sum >> 16;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    leaders.size[frame] = leader_count;
    rest.size[frame] = rest_count;
  }
}

__global__ void __launch_bounds__(tuning::frame_block)
    collect(Frames frames, Scratch scratch, CrowdNmsReport* reports, std::uint32_t max_survivors) {
  __shared__ typename Scan::TempStorage temporary;
  __shared__ typename Reduce::TempStorage reduction;
  const std::uint32_t frame = blockIdx.y;
  const std::uint32_t length = frames.size(frame);
  const std::size_t slot = frames.slot(frame);
  std::uint32_t survivors = 0;
  std::uint32_t malformed = 0;
  std::uint32_t low = 0;
  for (std::uint32_t base = 0; base < length; base += tuning::frame_block) {
    const std::uint32_t i = base + threadIdx.x;
    const std::uint32_t state = i < length ? scratch.state[slot + i] : dead;
    malformed += state == invalid;
    low += state == below_threshold;
    std::uint32_t before, sum;
    Scan(temporary).ExclusiveSum(static_cast<std::uint32_t>(state == kept), before, sum);
    if (state == kept)
      scratch.leaders.index[slot + survivors + before] = i;
    survivors += sum;
    __syncthreads();
  }
  malformed = Reduce(reduction).Sum(malformed);
  __syncthreads();
  low = Reduce(reduction).Sum(low);
  if (threadIdx.x == 0) {
    scratch.leaders.size[frame] = survivors;
    const std::uint32_t count = frames.count(frame);
    reports[frame] = {count, count - length, malformed,
                      low,   survivors,      survivors > max_survivors ? survivors - max_survivors : 0};
  }
}

}  // namespace

void launch_elect(const Call& call, const Lists& from, const Lists& leaders, const Lists& rest) {
  elect<<<call.grid(1), tuning::frame_block, 0, call.stream>>>(call.frames, call.scratch, from, leaders, rest);
}

void launch_collect(const Call& call) {
  collect<<<call.grid(1), tuning::frame_block, 0, call.stream>>>(call.frames, call.scratch, call.out.reports,
                                                                 call.out.max_survivors);
}

}  // namespace crowd
