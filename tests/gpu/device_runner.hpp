// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend as a Runner of tests/support.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "api/cudamemory.hpp"
#include "oracle.hpp"

namespace crowd::test {

/// Fails the running test with the runtime's words if `error` is one.
void expect_cuda(cudaError_t error, const char* what);

/// Exactly as many bytes of device memory as asked for, so that memcheck sees one byte too far.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::size_t bytes);
  template <typename T>
  explicit DeviceBytes(std::span<const T> host) : DeviceBytes(host.size_bytes()) {
    upload(host.data(), host.size_bytes());
  }

  template <typename T>
  T* as() const {
    return static_cast<T*>(memory_.get());
  }
  void upload(const void* host, std::size_t bytes);
  void download(void* host, std::size_t bytes) const;
  void fill(int value, std::size_t offset, std::size_t bytes);
  std::size_t size() const {
    return size_;
  }

 private:
  cuda::DeviceMemory memory_;
  std::size_t size_;
};

/// A call on the device: inputs uploaded, outputs and workspace poisoned, canaries around the workspace.
class DeviceCall {
 public:
  DeviceCall(const CrowdNmsParams& params, const Batch& batch, const Wanted& wanted);

  CrowdNmsStatus enqueue(cudaStream_t stream);
  CrowdNmsStatus enqueue_and_gather(const CrowdNmsGathered& gathered, cudaStream_t stream);
  /// Overwrites outputs and workspace with what a call must not depend on.
  void poison();
  /// Replaces the counts, which must have been given at first.
  void set_counts(std::span<const std::uint32_t> counts);
  Result results() const;

 private:
  CrowdNmsParams params_;
  Wanted wanted_;
  Result blank_;
  std::size_t workspace_bytes_;
  DeviceBytes boxes_, scores_, classes_, offsets_, counts_, densities_, proposals_, visible_, features_, models_;
  DeviceBytes survivors_, members_, representatives_, reports_, survivor_boxes_, survivor_scores_, workspace_;
  CrowdNmsCandidates candidates_;
  CrowdNmsSurvivors outputs_;
};

/// A call as a CUDA graph. Capture fails on any allocation, synchronisation or foreign stream.
class CapturedCall {
 public:
  explicit CapturedCall(DeviceCall& call);

  /// Of the call that was captured.
  CrowdNmsStatus status() const {
    return status_;
  }
  /// Poisons the call, launches the graph, and waits for it.
  void replay();

 private:
  struct DestroyExec {
    void operator()(cudaGraphExec_t exec) const {
      cudaGraphExecDestroy(exec);
    }
  };

  DeviceCall& call_;
  cuda::Stream stream_;
  CrowdNmsStatus status_;
  std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, DestroyExec> exec_;
};

/// crowd_nms_cuda() on the default stream's sibling.
Result run_cuda(const CrowdNmsParams& params, const Batch& batch, const Wanted& wanted);
/// The same as a CapturedCall, replayed twice.
Result run_captured(const CrowdNmsParams& params, const Batch& batch, const Wanted& wanted);
/// A session with the CUDA backend, on host buffers.
Result run_cuda_session(const CrowdNmsParams& params, const Batch& batch, const Wanted& wanted);

}  // namespace crowd::test
