// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Pinned memory that frames are uploaded from, block by block. For one thread, with one CUDA context current.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "gpu/cudamemory.hpp"

namespace crowd::cuda {

/// In the steady state it allocates nothing, and waits only where the device is several frames behind.
class UploadRing {
 public:
  /// Makes the next block current, with room for `bytes`, and waits until it is no longer read.
  cudaError_t take(std::size_t bytes) {
    current_ = &blocks_[taken_++ % blocks_.size()];
    Block& block = *current_;
    if (bytes <= block.room) {
      if (cudaEventQuery(block.sent.get()) != cudaErrorNotReady)
        return cudaSuccess;
      // That is kept as an error too, and would come up in another call.
      (void)cudaGetLastError();
      return cudaEventSynchronize(block.sent.get());
    }
    // By doubling, so that a crowd that grows does not ask for memory on each frame.
    const std::size_t room = std::max(bytes, 2 * block.room);
    block.room = 0;
    cudaError_t error = allocate(block.memory, room);
    if (error == cudaSuccess)
      error = allocate(block.sent);
    block.room = error == cudaSuccess ? room : 0;
    return error;
  }

  /// The current block.
  void* data() const {
    return current_->memory.get();
  }
  std::size_t room() const {
    return current_->room;
  }

  /// Enqueues the upload of the current block's first bytes.
  cudaError_t send(void* to, std::size_t bytes, cudaStream_t stream) {
    const cudaError_t error = cudaMemcpyAsync(to, data(), bytes, cudaMemcpyHostToDevice, stream);
    return error == cudaSuccess ? cudaEventRecord(current_->sent.get(), stream) : error;
  }

  /// Frees all of it, which waits for uploads under way.
  void clear() {
    blocks_ = {};
  }

 private:
  struct Block {
    PinnedMemory memory;
    Event sent;
    std::size_t room = 0;
  };

  std::array<Block, 4> blocks_;
  Block* current_ = nullptr;
  unsigned taken_ = 0;
};

}  // namespace crowd::cuda
