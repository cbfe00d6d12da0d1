// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Owners of what the CUDA runtime hands out. All of it belongs to the context that was current when it was made, which
// has to be current again when it goes.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <type_traits>

namespace crowd::cuda {

struct FreeDevice {
  void operator()(void* memory) const {
    cudaFree(memory);
  }
};
struct FreePinned {
  void operator()(void* memory) const {
    cudaFreeHost(memory);
  }
};
struct DestroyStream {
  void operator()(cudaStream_t stream) const {
    cudaStreamDestroy(stream);
  }
};
struct DestroyEvent {
  void operator()(cudaEvent_t event) const {
    cudaEventDestroy(event);
  }
};

/// At least one byte.
using DeviceMemory = std::unique_ptr<void, FreeDevice>;
/// Host memory that kernels write to.
using PinnedMemory = std::unique_ptr<void, FreePinned>;
using Stream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, DestroyStream>;
using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DestroyEvent>;

inline cudaError_t allocate(DeviceMemory& memory, std::size_t bytes) {
  void* made = nullptr;
  const cudaError_t error = cudaMalloc(&made, bytes ? bytes : 1);
  memory.reset(error == cudaSuccess ? made : nullptr);
  return error;
}

inline cudaError_t allocate(PinnedMemory& memory, std::size_t bytes) {
  void* made = nullptr;
  const cudaError_t error = cudaHostAlloc(&made, bytes ? bytes : 1, cudaHostAllocMapped);
  memory.reset(error == cudaSuccess ? made : nullptr);
  return error;
}

/// One that the default stream does not wait for, nor it for that.
inline cudaError_t allocate(Stream& stream) {
  cudaStream_t made = nullptr;
  const cudaError_t error = cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
  stream.reset(error == cudaSuccess ? made : nullptr);
  return error;
}

/// Without timing, and waits for it spin: a frame's work is shorter than a blocked thread takes to wake up.
inline cudaError_t allocate(Event& event) {
  cudaEvent_t made = nullptr;
  const cudaError_t error = cudaEventCreateWithFlags(&made, cudaEventDisableTiming);
  event.reset(error == cudaSuccess ? made : nullptr);
  return error;
}

/// With timing, and never to be waited for.
inline cudaError_t allocate_timer(Event& event) {
  cudaEvent_t made = nullptr;
  const cudaError_t error = cudaEventCreateWithFlags(&made, cudaEventDefault);
  event.reset(error == cudaSuccess ? made : nullptr);
  return error;
}

/// Makes what is launched on `later` from now on wait for what was launched on `earlier`; nothing if they are one.
inline cudaError_t make_wait(cudaStream_t later, cudaStream_t earlier, cudaEvent_t event) {
  if (later == earlier)
    return cudaSuccess;
  const cudaError_t error = cudaEventRecord(event, earlier);
  return error == cudaSuccess ? cudaStreamWaitEvent(later, event, 0) : error;
}
inline cudaError_t make_wait(cudaStream_t later, cudaStream_t earlier, const Event& event) {
  return make_wait(later, earlier, event.get());
}

/// Makes `later` wait for all that elements have launched so far, on any stream: the default stream follows them
/// (gpu/device.hpp). The event is made where there is none.
inline cudaError_t wait_for_all(cudaStream_t later, Event& event) {
  const cudaError_t error = event ? cudaSuccess : allocate(event);
  return error == cudaSuccess ? make_wait(later, nullptr, event) : error;
}

}  // namespace crowd::cuda
