// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Device memory, which is the host's. Included by cuda_runtime.h beside this. Everything is done when a call returns.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };

struct EmulatedMemory {
  static inline bool full = false;  ///< there is no more
  static inline bool lost = false;  ///< with the device
};

inline cudaError_t cudaMemGetInfo(std::size_t* left, std::size_t* total) {
  *total = SIZE_MAX;
  *left = EmulatedMemory::full ? 0 : SIZE_MAX;
  return cudaSuccess;
}

// Full of what is no number and no small count.
template <typename T>
cudaError_t cudaMalloc(T** memory, std::size_t bytes) {
  if (EmulatedMemory::lost)
    return cudaErrorNoDevice;
  constexpr std::size_t alignment = 256;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* made = EmulatedMemory::full ? nullptr : std::aligned_alloc(alignment, rounded ? rounded : alignment);
  *memory = static_cast<T*>(made);
  if (!made)
    return cudaErrorMemoryAllocation;
  std::memset(made, 0xFF, rounded);
  return cudaSuccess;
}
inline cudaError_t cudaFree(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  if (bytes)
    std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}
inline cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t) {
  std::memset(memory, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return cudaSuccess;
}

// Events have happened once they were waited for, or if the device keeps up: nothing else makes time pass.
struct EmulatedEvent {
  static inline int waits = 0;
  static inline int made = 0;
  static inline int recorded = 0;
  static inline bool keeps_up = false;
  static inline float clock = 0;  ///< of the device, in milliseconds
  bool pending = false;
  bool timed = true;
  float at = 0;
};
using cudaEvent_t = EmulatedEvent*;
constexpr unsigned cudaEventDefault = 0, cudaEventDisableTiming = 2, cudaHostAllocMapped = 2, cudaStreamNonBlocking = 1;

inline cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  return cudaMalloc(memory, bytes);
}
inline cudaError_t cudaFreeHost(void* memory) {
  return cudaFree(memory);
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  *event = new EmulatedEvent;
  (*event)->timed = flags != cudaEventDisableTiming;
  EmulatedEvent::made++;
  return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  event->pending = true;
  event->at = EmulatedEvent::clock;
  EmulatedEvent::recorded++;
  return cudaSuccess;
}
inline cudaError_t cudaEventQuery(cudaEvent_t event) {
  event->pending = event->pending && !EmulatedEvent::keeps_up;
  return event->pending ? cudaErrorNotReady : cudaSuccess;
}
/// Of events that have happened alone.
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  if (!begin->timed || !end->timed || end->pending)
    return cudaErrorNotReady;
  *milliseconds = end->at - begin->at;
  return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  EmulatedEvent::waits++;
  event->pending = false;
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t) {
  return cudaSuccess;
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return cudaSuccess;
}
