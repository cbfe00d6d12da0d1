// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "gpu/cudamemory.hpp"

namespace crowd::test {

inline void expect_cuda(cudaError_t error) {
  EXPECT_EQ(error, cudaSuccess) << cudaGetErrorString(error);
}

/// An array in device memory, of bytes 0x7f at first.
template <typename T>
class Array {
 public:
  explicit Array(std::size_t size) : size_(size) {
    expect_cuda(cuda::allocate(memory_, size * sizeof(T)));
    expect_cuda(cudaMemset(get(), 0x7f, size * sizeof(T)));
  }
  explicit Array(const std::vector<T>& from) : Array(from.size()) {
    upload(from);
  }
  T* get() const {
    return static_cast<T*>(memory_.get());
  }
  void upload(const std::vector<T>& from) {
    expect_cuda(cudaMemcpy(get(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> download() const {
    std::vector<T> to(size_);
    expect_cuda(cudaMemcpy(to.data(), get(), size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return to;
  }

 private:
  std::size_t size_;
  cuda::DeviceMemory memory_;
};

}  // namespace crowd::test
