// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Work on a stream that is the same each time, launched as one CUDA graph: a network is some hundred kernels, which
// take longer to launch one by one than to run.
#pragma once

#include <cuda.h>

#include <functional>

#include "base/deviceoutcome.hpp"
#include "detect/net/cuda_contexts.hpp"

namespace crowd::net {

class StreamGraph {
 public:
  StreamGraph() = default;
  ~StreamGraph() {
    release();
  }
  StreamGraph(const StreamGraph&) = delete;
  StreamGraph& operator=(const StreamGraph&) = delete;

  /// Records what `work` gives to the stream, in place of what was recorded before; nothing runs. `work` has run there
  /// before, so that it neither loads kernels nor allocates, and the device memory that it uses stays. False if it
  /// cannot be recorded: it waits for the device, fails, or uses memory of the host, which may be gone later.
  /// In the stream's context, which is current until release(); so are launch() and release().
  bool record(const PrimaryStream& stream, const std::function<void()>& work);
  bool recorded() const {
    return executable_ != nullptr;
  }
  /// In the order of the stream. Only where something is recorded.
  DeviceReport launch();
  void release();

 private:
  const PrimaryStream* stream_ = nullptr;
  CUgraphExec executable_ = nullptr;
};

}  // namespace crowd::net
