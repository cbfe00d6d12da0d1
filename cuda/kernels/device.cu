// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>

#include "core/failure.hpp"
#include "kernels/launch.cuh"

namespace crowd {

namespace {

// A sample of the library's kernels, which are all compiled for the same architectures.
__global__ void any_kernel() {}

constexpr int hopper = 9;

Device ask(int device) {
  int processors = 0;
  int major = 0;
  int cooperative = 0;
  cudaFuncAttributes kernel{};
  if (cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device) != cudaSuccess ||
      cudaFuncGetAttributes(&kernel, any_kernel) != cudaSuccess)
    (void)cudaGetLastError();
  // PTX of an older architecture that the driver compiles for Hopper has no griddepcontrol.
  return {static_cast<unsigned>(std::max(processors, 1)), major >= hopper && kernel.ptxVersion >= 10 * hopper,
          cooperative != 0};
}

}  // namespace

CrowdNmsStatus status_of(const Call& call, const char* what) {
  if (call.error == cudaSuccess)
    return CROWD_NMS_OK;
  (void)cudaGetLastError();
  const bool no_gpu = call.error == cudaErrorNoDevice || call.error == cudaErrorInsufficientDriver;
  return fail(no_gpu ? CROWD_NMS_NO_GPU : CROWD_NMS_CUDA_ERROR, "%s failed: %s", what, cudaGetErrorString(call.error));
}

Device current_device() {
  thread_local int known = -1;
  thread_local Device answer{1, false, false};
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) {
    (void)cudaGetLastError();
    return {1, false, false};
  }
  if (device != known) {
    answer = ask(device);
    known = device;
  }
  return answer;
}

}  // namespace crowd
