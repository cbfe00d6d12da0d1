// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Stable compaction, one block per frame, and the reports.

#include <cub/block/block_scan.cuh>

#include "kernels/frames.cuh"
#include "kernels/launch.cuh"
#include "kernels/tuning.hpp"

namespace crowd {

namespace {

using Scan = cub::BlockScan<std::uint32_t, tuning::frame_block>;

constexpr unsigned items = tuning::frame_items;
constexpr std::uint32_t candidates_per_pass = tuning::frame_block * items;

__global__ void __launch_bounds__(tuning::frame_block)
    collect(Frames frames, PaperScratch scratch, CrowdNmsReport* reports, std::uint32_t max_survivors) {
  __shared__ typename Scan::TempStorage temporary;
  const std::uint32_t frame = blockIdx.y;
  const std::uint32_t length = frames.size(frame);
  const std::size_t slot = frames.slot(frame);
  std::uint32_t survivors = 0;
  for (std::uint32_t base = 0; base < length; base += candidates_per_pass) {
    std::uint32_t before[items], sum;
    bool stays[items];
    for (unsigned k = 0; k < items; ++k) {
      const std::uint32_t i = base + threadIdx.x * items + k;
      stays[k] = i < length && scratch.kept[slot + i];
      before[k] = stays[k];
    }
    Scan(temporary).ExclusiveSum(before, before, sum);
    for (unsigned k = 0; k < items; ++k)
      if (stays[k])
        scratch.survivors.index[slot + survivors + before[k]] = base + threadIdx.x * items + k;
    survivors += sum;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    scratch.survivors.size[frame] = survivors;
    // Method paper has no validity test, and no score threshold.
    reports[frame] = frame_report(frames.count(frame), length, 0, 0, survivors, max_survivors);
  }
}

}  // namespace

void launch_collect(const Call& call) {
  launch_after(collect, call, call.grid(1), tuning::frame_block, call.frames, call.scratch, call.out.reports,
               call.out.max_survivors);
}

}  // namespace crowd
