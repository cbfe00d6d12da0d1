// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames of up to a few thousand candidates in one launch. A group of blocks shares a frame; each block holds the whole
// frame in shared memory and judges the candidates of its tile of the plane against what is near them. The groups wait
// for each other twice: after the one-pass rule, and after those it leaves standing have suppressed. What is then still
// undecided is a matter of few edges, for one block.

#include <algorithm>

#include "fused.cuh"
#include "fused_finish.cuh"
#include "fused_judge.cuh"

namespace crowd {

namespace fused {

namespace {

__device__ Frame carve_frame(float4* memory, const Arguments& a) {
  const std::uint32_t room = padded(a.frames.capacity);
  Frame frame;
  frame.near.box = memory;
  frame.key = reinterpret_cast<std::uint32_t*>(frame.near.box + room);
  frame.near.key = frame.key + room;
  frame.near.label = reinterpret_cast<std::int32_t*>(frame.near.key + room);
  frame.hits = reinterpret_cast<std::uint32_t*>(frame.near.label + room);
  frame.near.index = reinterpret_cast<std::uint16_t*>(frame.hits + tuning::fused_hit_words);
  frame.home = frame.near.index + room;
  frame.near.state = reinterpret_cast<std::uint8_t*>(frame.home + room);
  frame.index = blockIdx.x / a.group;
  frame.part = blockIdx.x % a.group;
  frame.n = a.frames.size(frame.index);
  frame.slot = a.frames.slot(frame.index);
  return frame;
}

// `items`: candidates that a thread loads.
template <bool greedy, unsigned items>
__global__ void __launch_bounds__(threads, 1) run(Arguments a) {
  extern __shared__ float4 memory[];
  __shared__ Control control;
  __shared__ Chunk chunk;
  const Frame frame = carve_frame(memory, a);
  Loaded<items> loaded;
  const float4 bounds = reduce_extent(control, load_frame(frame, a, control, loaded));
  Share share{make_tiling(bounds, a.group), a.group};
  const float4 around = share_out(frame, a, control, loaded, share);
  gather(frame, a, control, loaded, share, around);
  __syncthreads();
  dominate<greedy>(frame, a, control);
  rank(frame, a);
  group_sync(a);
  if (greedy) {
    suppress(frame, a, control);
    group_sync(a);
  }
  if (frame.part == 0)
    finish<greedy>(memory, frame, a, control, chunk);
}

using Kernel = void (*)(Arguments);

template <bool greedy>
Kernel pick(std::uint32_t capacity) {
  return capacity <= threads       ? run<greedy, 1>
         : capacity <= 3 * threads ? run<greedy, 3>
         : capacity <= 8 * threads ? run<greedy, 8>
                                   : run<greedy, tuning::fused_capacity / threads>;
}

struct Plan {
  unsigned group = 0;  ///< 0: not for this kernel
  Barrier barrier = Barrier::block;
  std::size_t bytes = 0;
};

int attribute(cudaDeviceAttr name) {
  int device = 0;
  int value = 0;
  if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetAttribute(&value, name, device) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  return value;
}

unsigned floor_power_of_two(unsigned n) {
  unsigned power = 1;
  while (power * 2 <= n)
    power *= 2;
  return power;
}

// From the capacity alone, since the count may be known to the device only.
Plan make_plan(const Call& call) {
  const std::uint32_t capacity = call.frames.capacity;
  const OverlapRule rule = call.rule();
  const bool apart_too = rule.or_equal && rule.threshold == 0;
  Plan plan;
  plan.bytes = padded(capacity) * bytes_per_candidate + tuning::fused_hit_words * sizeof(std::uint32_t);
  if (!capacity || capacity > tuning::fused_capacity || apart_too ||
      plan.bytes + sizeof(Control) + sizeof(Chunk) >
          static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)))
    return plan;
  const bool has_clusters = attribute(cudaDevAttrComputeCapabilityMajor) >= 9;
  if (has_clusters && (capacity <= tuning::fused_small_capacity || call.frame_count > 1)) {
    plan.group = capacity <= tuning::fused_small_capacity ? tuning::fused_small_group : tuning::fused_cluster;
    plan.barrier = Barrier::cluster;
  } else if (call.frame_count == 1 && attribute(cudaDevAttrCooperativeLaunch)) {
    const auto processors = static_cast<unsigned>(attribute(cudaDevAttrMultiProcessorCount));
    plan.group = std::min(floor_power_of_two(processors), tuning::fused_group_max);
    plan.barrier = Barrier::grid;
  }
  return plan;
}

cudaError_t enqueue(const Call& call, const Plan& plan, const Arguments& arguments) {
  const std::uint32_t capacity = call.frames.capacity;
  const Kernel kernel = call.params.method == CROWD_NMS_GREEDY ? pick<true>(capacity) : pick<false>(capacity);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(plan.bytes));
  cudaLaunchConfig_t config{};
  config.gridDim = {call.frame_count * plan.group, 1, 1};
  config.blockDim = {threads, 1, 1};
  config.dynamicSmemBytes = plan.bytes;
  config.stream = call.stream;
  cudaLaunchAttribute launch{};
  if (plan.barrier == Barrier::cluster) {
    cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    launch.id = cudaLaunchAttributeClusterDimension;
    launch.val.clusterDim.x = plan.group;
    launch.val.clusterDim.y = launch.val.clusterDim.z = 1;
  } else {
    launch.id = cudaLaunchAttributeCooperative;
    launch.val.cooperative = 1;
  }
  config.attrs = &launch;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, arguments);
}

}  // namespace

}  // namespace fused

bool launch_fused(const Call& call) {
  const fused::Plan plan = fused::make_plan(call);
  if (!plan.group)
    return false;
  const bool ranked_too = call.out.stand_ins || call.out.members;
  const fused::Arguments arguments{call.frames,     call.scratch, call.out,   call.rule(), call.params.score_threshold,
                                   call.by_class(), ranked_too,   plan.group, plan.barrier};
  // An error stays pending for crowd_nms_cuda() to take.
  (void)fused::enqueue(call, plan, arguments);
  return true;
}

}  // namespace crowd
