// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How long the device works on a frame, by pairs of events around what is launched for it. The host never waits for
// them: it looks at those that the device has passed. For one thread, with one CUDA context current.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstdint>

#include "gpu/cudamemory.hpp"

namespace crowd {

class DeviceTimes {
 public:
  /// One frame in so many is timed. An event costs the host a call, and the device about a microsecond between what is
  /// before it in the stream and what is behind. What is launched as a graph starts when the graph before has ended, so
  /// an event beside it takes no overlap away; kernels that are launched one by one lose the early start of one.
  static constexpr unsigned every = 16;
  /// The first to be timed: until then kernels are loaded, and graphs made.
  static constexpr unsigned first = 8;

  struct Sum {
    std::uint64_t frames = 0;  ///< that were timed
    std::uint64_t nanoseconds = 0;
  };

  /// Makes the events, once; nothing else here allocates.
  cudaError_t prepare() {
    for (Pair& pair : pairs_) {
      for (cuda::Event* event : {&pair.begin, &pair.end}) {
        if (const cudaError_t error = *event ? cudaSuccess : cuda::allocate_timer(*event))
          return error;
      }
    }
    return cudaSuccess;
  }

  /// Around what is launched for a frame, every frame. Of a frame that finds no pair free, as the device is that far
  /// behind, no time is taken.
  void begin(cudaStream_t stream) {
    open_ = nullptr;
    if (seen_++ % every != first)
      return;
    Pair& next = pairs_[taken_ % pairs_.size()];
    if (!next.pending && next.begin && cudaEventRecord(next.begin.get(), stream) == cudaSuccess)
      open_ = &next;
  }
  void end(cudaStream_t stream) {
    if (!open_ || cudaEventRecord(open_->end.get(), stream) != cudaSuccess)
      return;
    open_->pending = true;
    open_ = nullptr;
    taken_++;
  }

  /// Adds the pairs that the device has passed; whether there were any.
  bool collect() {
    const std::uint64_t before = sum_.frames;
    for (Pair& pair : pairs_) {
      if (pair.pending)
        collect(pair);
    }
    return sum_.frames > before;
  }

  /// Adds what is left and frees the events; the device is done.
  void release() {
    collect();
    pairs_ = {};
    open_ = nullptr;
    seen_ = taken_ = 0;
  }

  const Sum& sum() const {
    return sum_;
  }
  void forget() {
    sum_ = {};
  }

 private:
  struct Pair {
    cuda::Event begin, end;
    bool pending = false;
  };

  void collect(Pair& pair) {
    const cudaError_t status = cudaEventQuery(pair.end.get());
    float milliseconds = 0;
    if (status == cudaSuccess && cudaEventElapsedTime(&milliseconds, pair.begin.get(), pair.end.get()) == cudaSuccess) {
      sum_.frames++;
      sum_.nanoseconds += static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6 + 0.5);
    }
    pair.pending = status == cudaErrorNotReady;
    // That is kept as an error too, and would come up in another call.
    if (status != cudaSuccess)
      (void)cudaGetLastError();
  }

  std::array<Pair, 4> pairs_;
  Pair* open_ = nullptr;  ///< between begin() and end()
  unsigned seen_ = 0;     ///< frames
  unsigned taken_ = 0;    ///< pairs
  Sum sum_;
};

}  // namespace crowd
