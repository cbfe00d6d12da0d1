// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Launches of kernels, from Hopper on with programmatic dependent launch (PDL): a kernel starts while its predecessor
// in the stream ends.
#pragma once

#include "kernels/frames.cuh"

namespace crowd {

/// What launches depend on; queried once per thread and device.
struct Device {
  unsigned processors;
  /// Compute capability 9.0 or later, and the kernels were compiled for it: thread-block clusters and griddepcontrol
  /// work.
  bool hopper;
  bool cooperative;  ///< all blocks of a launch can be made to be in flight at a time
};
Device current_device();

/// The shape of a launch.
struct LaunchShape {
  dim3 grid;
  unsigned threads;
  std::size_t shared_bytes = 0;
  /// Largest shared_bytes that the kernel is ever launched with. The limit set on a kernel holds for all threads of the
  /// process, so all have to set the same.
  std::size_t max_shared_bytes = 0;
  unsigned cluster = 1;  ///< blocks per cluster, on devices that have clusters
};

/// Waits until the predecessor in the stream is complete, then allows the successor to start. Code before it may read
/// only what was complete before the predecessor started, and must not write what the predecessor uses: cuda/MEMORY.md.
/// Every thread has to call it, but for stages that leave a frame to the direct path (Frames::takes()).
__device__ inline void pdl_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Before pdl_wait(): lets the successor start once all blocks of this kernel have called this or waited. This kernel's
/// predecessor may still run then. For kernels whose successor allows that: cuda/MEMORY.md.
__device__ inline void pdl_start_successor() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Launches a kernel that calls pdl_wait(). A failure is noted in the call.
template <typename KernelArguments>
void launch_pdl(void (*kernel)(KernelArguments), const Call& call, const LaunchShape& shape,
                const KernelArguments& arguments) {
  constexpr std::size_t granted = 48 << 10;
  const Device device = current_device();
  if (shape.max_shared_bytes > granted)
    // Each time, since it holds for one context. Where it fails so does the launch. It clears an error that is pending.
    (void)cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shape.max_shared_bytes));
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
  // A kernel compiled without griddepcontrol.wait would not wait for its predecessor.
  config.numAttrs = !device.hopper ? 0 : shape.cluster > 1 ? 2 : 1;
  call.note(cudaLaunchKernelEx(&config, kernel, arguments));
}

/// The largest number of blocks that launch_together() takes; 1 where it is not known.
template <typename KernelArguments>
unsigned max_together(void (*kernel)(KernelArguments), unsigned threads) {
  const Device device = current_device();
  if (!device.cooperative)
    return 1;
  int blocks = 0;
  const cudaError_t error =
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(threads), 0);
  if (error != cudaSuccess && cudaPeekAtLastError() == error)
    (void)cudaGetLastError();  // the query's: an error of the application's stays
  return blocks > 0 ? static_cast<unsigned>(blocks) * device.processors : 1;
}

/// Launches a kernel whose blocks wait for each other, without PDL.
template <typename KernelArguments>
void launch_together(void (*kernel)(KernelArguments), const Call& call, dim3 grid, unsigned threads,
                     const KernelArguments& arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = {threads, 1, 1};
  config.stream = call.stream;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  config.attrs = &attribute;
  config.numAttrs = grid.x * grid.y > 1 ? 1 : 0;
  call.note(cudaLaunchKernelEx(&config, kernel, arguments));
}

/// The status of a call's launches. If one failed, clears the runtime's last error, which is that launch's; else leaves
/// it, which may be the application's.
CrowdNmsStatus status_of(const Call& call, const char* what);

/// Launches a kernel without PDL: it starts when its predecessor in the stream is complete.
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
