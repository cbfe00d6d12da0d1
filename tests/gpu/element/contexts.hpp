// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// CUDA contexts of the driver, and memory in them, for tests without GStreamer.
#pragma once

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "detect/net/cuda_contexts.hpp"

namespace crowd::test {

constexpr int device = 0;

/// A context as an element has it: the primary one, or another of the same device.
class Context {
 public:
  explicit Context(bool primary) : primary_(primary) {
    std::string problem;
    driver = net::CudaDriver::find(problem);
    EXPECT_TRUE(driver) << problem;
    if (primary) {
      EXPECT_EQ(driver->retain_primary(&context, device), CUDA_SUCCESS);
      return;
    }
    // The name of a function that all drivers have; cuda.h may mean one with more arguments.
    using Create = CUresult (*)(CUcontext*, unsigned, CUdevice);
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    const auto create = reinterpret_cast<Create>(dlsym(library, "cuCtxCreate_v2"));
    EXPECT_EQ(create(&context, 0, device), CUDA_SUCCESS);
    CUcontext popped = nullptr;
    EXPECT_EQ(driver->pop(&popped), CUDA_SUCCESS);
  }
  ~Context() {
    if (primary_)
      driver->release_primary(device);
    else
      reinterpret_cast<CUresult (*)(CUcontext)>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxDestroy_v2"))(context);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const net::CudaDriver* driver = nullptr;
  CUcontext context = nullptr;

 private:
  const bool primary_;
};

inline void expect_done(const DeviceReport& report) {
  EXPECT_EQ(report.outcome, DeviceOutcome::done) << report.problem;
}

/// Floats in memory of the current context.
struct Memory {
  explicit Memory(std::size_t count) : size(count) {
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&data), count * sizeof(float)), cudaSuccess);
  }
  ~Memory() {
    EXPECT_EQ(cudaFree(data), cudaSuccess);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void upload(const std::vector<float>& values, cudaStream_t stream) {
    EXPECT_EQ(cudaMemcpyAsync(data, values.data(), size * sizeof(float), cudaMemcpyHostToDevice, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  }
  std::vector<float> download(cudaStream_t stream) const {
    std::vector<float> values(size);
    EXPECT_EQ(cudaMemcpyAsync(values.data(), data, size * sizeof(float), cudaMemcpyDeviceToHost, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    return values;
  }

  float* data = nullptr;
  const std::size_t size;
};

}  // namespace crowd::test
