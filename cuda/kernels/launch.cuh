// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Kernels one after another without the gaps between them (programmatic dependent launch, Hopper and up).
#pragma once

#include "kernels/frames.cuh"

namespace crowd {

/// The current device, asked once a thread.
struct Device {
  unsigned processors;
  /// It has what Hopper brought, and the kernels were compiled for that: clusters, and words between a kernel and its
  /// neighbours in the stream.
  bool hopper;
};
Device current_device();

/// The shape of a launch.
struct LaunchShape {
  dim3 grid;
  unsigned threads;
  std::size_t shared_bytes = 0;
  /// Most that the kernel is ever launched with: what is granted to a kernel is the same for all threads that launch
  /// it.
  std::size_t max_shared_bytes = 0;
  unsigned cluster = 1;  ///< blocks, where there are clusters
};

/// Until here a kernel runs beside the one before it in the stream, from here on the next may run beside this one. So
/// what comes before may read what the kernel before the last has written. Every thread has to come by.
__device__ inline void pdl_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Launches a kernel that calls pdl_wait().
template <typename KernelArguments>
void launch_pdl(void (*kernel)(KernelArguments), const Call& call, const LaunchShape& shape,
                const KernelArguments& arguments) {
  constexpr std::size_t granted = 48 << 10;
  const Device device = current_device();
  if (shape.max_shared_bytes > granted)
    call.note(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(shape.max_shared_bytes)));
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = {shape.threads, 1, 1};
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = call.stream;
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim.x = shape.cluster;
  attributes[1].val.clusterDim.y = attributes[1].val.clusterDim.z = 1;
  config.attrs = attributes;
  // Without the words in the kernels, nothing would hold them back.
  config.numAttrs = !device.hopper ? 0 : shape.cluster > 1 ? 2 : 1;
  call.note(cudaLaunchKernelEx(&config, kernel, arguments));
}

/// Whether all launches of a call went well; the reason is in crowd_nms_last_error(). Takes the error that the runtime
/// keeps of a failed one, and nothing where there was none.
CrowdNmsStatus status_of(const Call& call, const char* what);

/// Launches a kernel after the one before it.
template <typename... Parameters, typename... KernelArguments>
void launch_after(void (*kernel)(Parameters...), const Call& call, dim3 grid, dim3 block,
                  const KernelArguments&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = call.stream;
  call.note(cudaLaunchKernelEx(&config, kernel, arguments...));
}

}  // namespace crowd
