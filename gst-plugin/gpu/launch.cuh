// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Programmatic dependent launch (Hopper and up): a kernel starts while the one before it in the stream ends.
#pragma once

#include <cuda_runtime.h>

namespace crowd::cuda {

/// griddepcontrol.wait: what the kernels before this one in the stream have written is visible after it. Then lets the
/// next kernel start. Every thread calls it, before it reads what another kernel writes.
__device__ inline void pdl_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Whether this kernel's code on the current device has griddepcontrol. A driver that compiles an older architecture's
/// PTX for Hopper leaves it out, and nothing would hold back a kernel that starts early.
template <typename Kernel>
bool has_pdl(Kernel* kernel) {
  constexpr int hopper = 9;
  int device = 0, major = 0;
  cudaFuncAttributes attributes{};
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
      cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess)
    return false;
  return major >= hopper && attributes.ptxVersion >= 10 * hopper;
}

/// Launches a kernel that calls pdl_wait().
template <typename Arguments>
cudaError_t launch_pdl(void (*kernel)(Arguments), cudaStream_t stream, dim3 grid, unsigned threads,
                       const Arguments& arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = {threads, 1, 1};
  config.stream = stream;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &attribute;
  config.numAttrs = has_pdl(kernel) ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, arguments);
}

}  // namespace crowd::cuda
