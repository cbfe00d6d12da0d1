// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Work in a device's primary context for a caller in another one. Libraries on the CUDA runtime work in the primary
// context; GStreamer and applications may have contexts of their own on the same device. Kernels of one context reach
// memory of another on the same device, and streams of both wait for each other's events (seen with driver 580).
#pragma once

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <string>

#include "base/deviceoutcome.hpp"

namespace crowd::net {

/// What is called of the driver's library, which is not linked: machines without a GPU do not have it.
struct CudaDriver {
  decltype(&cuGetErrorName) get_error_name;
  decltype(&cuDevicePrimaryCtxRetain) retain_primary;
  decltype(&cuDevicePrimaryCtxRelease) release_primary;
  decltype(&cuCtxGetCurrent) get_current;
  decltype(&cuCtxPushCurrent) push;
  decltype(&cuCtxPopCurrent) pop;
  decltype(&cuStreamCreate) create_stream;
  decltype(&cuStreamDestroy) destroy_stream;
  decltype(&cuStreamSynchronize) synchronize;
  decltype(&cuStreamWaitEvent) wait_event;
  decltype(&cuEventCreate) create_event;
  decltype(&cuEventRecord) record_event;
  decltype(&cuEventDestroy) destroy_event;
  decltype(&cuMemAlloc) allocate;
  decltype(&cuMemFree) free;
  decltype(&cuPointerGetAttribute) get_pointer_attribute;
  decltype(&cuStreamBeginCapture) begin_capture;
  decltype(&cuStreamEndCapture) end_capture;
  decltype(&cuGraphGetNodes) get_nodes;
  decltype(&cuGraphNodeGetType) get_node_type;
  decltype(&cuGraphMemcpyNodeGetParams) get_memcpy_params;
  decltype(&cuGraphInstantiateWithFlags) instantiate;
  decltype(&cuGraphLaunch) launch_graph;
  decltype(&cuGraphDestroy) destroy_graph;
  decltype(&cuGraphExecDestroy) destroy_executable;

  /// Null with the reason where there is no driver.
  static const CudaDriver* find(std::string& problem);

  /// Done where there is no error.
  DeviceReport report(const char* what, CUresult error) const;
};

/// Makes a context current in this thread while it lives.
class CurrentContext {
 public:
  CurrentContext(const CudaDriver& driver, CUcontext context) : driver_(driver), error_(driver.push(context)) {}
  ~CurrentContext() {
    CUcontext context = nullptr;
    if (error_ == CUDA_SUCCESS)
      (void)driver_.pop(&context);
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

  CUresult error() const {
    return error_;
  }

 private:
  const CudaDriver& driver_;
  const CUresult error_;
};

/// Memory of a context. Freed in it, which waits for the device; gone already where the context is.
class ContextMemory {
 public:
  ContextMemory() = default;
  ~ContextMemory() {
    release();
  }
  ContextMemory(const ContextMemory&) = delete;
  ContextMemory& operator=(const ContextMemory&) = delete;
  ContextMemory(ContextMemory&& other) noexcept;

  DeviceReport allocate(const CudaDriver& driver, CUcontext context, std::size_t bytes);
  void release();

  std::byte* data() const {
    return reinterpret_cast<std::byte*>(address_);  // NOLINT: addresses of the device are integers in the driver
  }

 private:
  const CudaDriver* driver_ = nullptr;
  CUcontext context_ = nullptr;
  CUdeviceptr address_ = 0;
};

/// A stream of the device's primary context.
class PrimaryStream {
 public:
  /// Null with the reason. Keeps the primary context alive while it lives.
  static std::unique_ptr<PrimaryStream> make(int device, std::string& problem);
  ~PrimaryStream();
  PrimaryStream(const PrimaryStream&) = delete;
  PrimaryStream& operator=(const PrimaryStream&) = delete;

  const CudaDriver& driver() const {
    return driver_;
  }
  CUcontext context() const {
    return context_;
  }
  CUstream stream() const {
    return stream_;
  }
  DeviceReport wait() const;

 private:
  PrimaryStream(const CudaDriver& driver, int device) : driver_(driver), device_(device) {}
  DeviceReport open();

  const CudaDriver& driver_;
  const int device_;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
};

/// Orders a primary stream with the streams of one of its callers, which may be of another context.
class CallerOrder {
 public:
  explicit CallerOrder(const PrimaryStream& stream) : stream_(stream) {}
  ~CallerOrder();
  CallerOrder(const CallerOrder&) = delete;
  CallerOrder& operator=(const CallerOrder&) = delete;

  /// What is given to the primary stream from now on comes after what was given to `caller`, a stream of the current
  /// context.
  DeviceReport follow(CUstream caller);
  /// What is given to `caller` from now on comes after what was given to the primary stream.
  DeviceReport precede(CUstream caller);

 private:
  void release_caller();

  const PrimaryStream& stream_;
  CUevent done_ = nullptr;              ///< of the primary context
  CUcontext caller_context_ = nullptr;  ///< that caller_ready_ is of
  CUevent caller_ready_ = nullptr;
};

}  // namespace crowd::net
