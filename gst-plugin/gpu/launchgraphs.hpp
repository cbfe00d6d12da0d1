// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Launches as CUDA graphs, for those that come back: one call to the driver in place of one for each kernel. C++17, for
// CUDA sources as well.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "gpu/cudamemory.hpp"

namespace crowd {

/// A Key holds all parameters of the kernels of a frame, and has ==. For one thread, with one CUDA context current.
template <typename Key>
class LaunchGraphs {
 public:
  /// Fewer are kept; where more than these many keys go round, launches are made one by one.
  static constexpr std::size_t max_kept = 16;
  /// Graphs that went without having come back, or could not be made. After so many, recording is in vain.
  static constexpr unsigned max_given_up = 64;

  /// Launches on `stream` what `key` says: as a graph, which is recorded where the key is new. The first launch of all,
  /// and what cannot be recorded or is no longer worth it, goes by enqueue(stream), which launches kernel by kernel,
  /// keeps what went wrong to itself and returns whether nothing did. Recording calls it with another stream, and may
  /// fail; then it is called once more. Right before anything is launched, recording aside, calls before(stream).
  /// Returns what CUDA said of a graph.
  template <typename Enqueue, typename Before>
  cudaError_t launch(const Key& key, cudaStream_t stream, const Enqueue& enqueue, const Before& before) {
    Entry* entry = find(key);
    if (entry)
      entry->came_back = true;
    // The first launch loads most of the kernels. Recording what is not loaded takes longer and may fail.
    if (!entry && std::exchange(loaded_, true) && given_up_ < max_given_up)
      entry = add(key, enqueue);
    before(stream);
    if (entry) {
      entry->used = ++clock_;
      const cudaError_t error = cudaGraphLaunch(entry->exec.get(), stream);
      if (error != cudaErrorMemoryAllocation)
        return error;
      // The first launch uploads the graph, for which the kernels alone need no memory.
      give_up(*entry);
    }
    (void)enqueue(stream);
    return cudaSuccess;
  }
  template <typename Enqueue>
  cudaError_t launch(const Key& key, cudaStream_t stream, const Enqueue& enqueue) {
    return launch(key, stream, enqueue, [](cudaStream_t) {});
  }

  /// Forgets all of them, as one must before memory goes that the kernels use and no key names.
  void clear() {
    entries_.clear();
    capture_.reset();
    given_up_ = 0;
    loaded_ = false;
  }

 private:
  struct DestroyExec {
    void operator()(cudaGraphExec_t exec) const {
      cudaGraphExecDestroy(exec);
    }
  };
  using Exec = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, DestroyExec>;
  struct Entry {
    Key key;
    Exec exec;
    std::uint64_t used = 0;
    bool came_back = false;
  };

  Entry* find(const Key& key) {
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&key](const Entry& entry) { return entry.key == key; });
    return found == entries_.end() ? nullptr : &*found;
  }

  template <typename Enqueue>
  Exec record(const Enqueue& enqueue) {
    // A stream of its own, since the default one cannot be recorded.
    if (!capture_ && cuda::allocate(capture_) != cudaSuccess)
      return nullptr;
    if (cudaStreamBeginCapture(capture_.get(), cudaStreamCaptureModeRelaxed) != cudaSuccess)
      return nullptr;
    const bool enqueued = enqueue(capture_.get());
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t made = nullptr;
    if (cudaStreamEndCapture(capture_.get(), &graph) == cudaSuccess && enqueued)
      (void)cudaGraphInstantiateWithFlags(&made, graph, 0);
    if (graph)
      cudaGraphDestroy(graph);
    return Exec(made);
  }

  template <typename Enqueue>
  Entry* add(const Key& key, const Enqueue& enqueue) {
    Exec exec = record(enqueue);
    if (!exec) {
      (void)cudaGetLastError();
      given_up_++;
      return nullptr;
    }
    if (entries_.size() < max_kept)
      return &entries_.emplace_back(Entry{key, std::move(exec)});
    // Destroyed once what is under way with it has ended.
    Entry& oldest = *std::min_element(entries_.begin(), entries_.end(),
                                      [](const Entry& a, const Entry& b) { return a.used < b.used; });
    given_up_ += !oldest.came_back;
    oldest = Entry{key, std::move(exec)};
    return &oldest;
  }

  void give_up(const Entry& entry) {
    (void)cudaGetLastError();
    entries_.erase(entries_.begin() + (&entry - entries_.data()));
    given_up_++;
  }

  cuda::Stream capture_;
  std::vector<Entry> entries_;
  std::uint64_t clock_ = 0;
  unsigned given_up_ = 0;
  bool loaded_ = false;
};

}  // namespace crowd
