// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Kernels one after another without the gaps between them (programmatic dependent launch, Hopper and up).
#pragma once

#include "frames.cuh"

namespace crowd {

/// The current device, asked once a thread.
struct Device {
  unsigned processors;
  /// It has what Hopper brought, and the kernels were compiled for that: clusters, and words between a kernel and its
  /// neighbours in the stream.
  bool hopper;
};
Device current_device();

/// What the stream ran before this kernel is done and visible.
__device__ inline void await_predecessor() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// The next kernel may take its place on idle processors. Said once the predecessor is done, so that what that wrote
/// can be read there at once.
__device__ inline void let_successor_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Launches a kernel, where there are clusters in those of that many blocks, that begins with await_predecessor(), or
/// reads nothing before that its predecessor wrote. An error stays pending for crowd_nms_cuda() to take.
template <typename Arguments>
void launch_early(void (*kernel)(Arguments), const Call& call, dim3 grid, unsigned threads, std::size_t bytes,
                  const Arguments& arguments, unsigned cluster = 1) {
  constexpr std::size_t granted = 48 << 10;
  if (bytes > granted)
    (void)cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = {threads, 1, 1};
  config.dynamicSmemBytes = bytes;
  config.stream = call.stream;
  // Without the words in the kernels, nothing would hold them back.
  const bool early = current_device().hopper;
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim.x = cluster;
  attributes[1].val.clusterDim.y = attributes[1].val.clusterDim.z = 1;
  config.attrs = attributes;
  config.numAttrs = !early ? 0 : cluster > 1 ? 2 : 1;
  (void)cudaLaunchKernelEx(&config, kernel, arguments);
}

}  // namespace crowd
