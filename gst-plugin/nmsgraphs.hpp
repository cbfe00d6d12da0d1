// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Launches that come back, as CUDA graphs: one call to the driver in place of one for each kernel. For one thread.
#pragma once

#include <crowd/nms.h>
#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "cudamemory.hpp"

namespace crowd {

/// All that the kernels of a frame are told.
struct LaunchKey {
  CrowdNmsParams params;
  CrowdNmsCandidates candidates;
  CrowdNmsSurvivors survivors;
  std::array<CrowdNmsGathered, 2> gathered;  ///< of each that has no counts, nothing is gathered

  bool operator==(const LaunchKey& other) const;
};

class LaunchGraphs {
 public:
  /// Fewer are kept; where more than these many memories go round, launches are made one by one.
  static constexpr std::size_t most = 16;

  /// Launches what `key` says on `stream`, kernel by kernel where that cannot be recorded. `status` is what the library
  /// said, CROWD_NMS_OK where CUDA failed alone.
  cudaError_t launch(const LaunchKey& key, void* workspace, std::size_t workspace_bytes, CUstream_st* stream,
                     CrowdNmsStatus& status);

  /// Forgets all of them, as one must before memory goes that a key names.
  void clear();

 private:
  struct DestroyExec {
    void operator()(cudaGraphExec_t exec) const {
      cudaGraphExecDestroy(exec);
    }
  };
  using Exec = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, DestroyExec>;
  struct Entry {
    LaunchKey key;
    Exec exec;
    std::uint64_t used;
  };

  Entry* find(const LaunchKey& key);
  Exec record(const LaunchKey& key, void* workspace, std::size_t workspace_bytes);
  Entry* add(const LaunchKey& key, void* workspace, std::size_t workspace_bytes);

  cuda::Stream capture_;
  std::vector<Entry> entries_;
  std::uint64_t clock_ = 0;
  unsigned given_up_ = 0;
  bool loaded_ = false;
};

}  // namespace crowd
