// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Candidates that are found in device memory, and left there. In builds with CUDA and gst/cuda.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <utility>

#include "base/deviceoutcome.hpp"
#include "base/memorypool.hpp"
#include "gpu/cudamemory.hpp"
#include "gpu/cudareport.hpp"
#include "gpu/device.hpp"
#include "gpu/framestream.hpp"

namespace crowd {

/// For one thread.
class DeviceSearch {
 public:
  /// What a search gets, under the context of the memory that it searches.
  struct Work {
    const GstCrowdBoxesMap& boxes;  ///< device pointers, for what is found
    guint capacity;
    CUstream_st* stream;  ///< that orders the work
  };

  /// Calls search(Work), which returns a DeviceReport, and leaves what it filled, with room for `capacity`, in
  /// `candidates`. `memory` is the device memory that is searched. Searches follow one another on the device, also
  /// where streams differ: they may share memory. Calls release() before the context of the last memory is left, to let
  /// go of all that is in it.
  template <typename Release, typename Search>
  DeviceReport run(GstMemory* memory, guint capacity, MemoryRef& candidates, const Release& release,
                   const Search& search);

  /// Runs release() in the context of the last memory and forgets it.
  template <typename Release>
  void leave(const Release& release) {
    const CudaDevice::Current current(device_.get());
    release();
    pool_.clear();
    moved_.reset();
    stream_ = nullptr;
  }

 private:
  std::unique_ptr<CudaDevice> device_ = CudaDevice::make();
  DeviceBoxesPool pool_;
  FrameStream given_;
  CUstream_st* stream_ = nullptr;  // of the last memory
  cuda::Event moved_;              // for a memory on another one
};

template <typename Release, typename Search>
DeviceReport DeviceSearch::run(GstMemory* memory, guint capacity, MemoryRef& candidates, const Release& release,
                               const Search& search) {
  if (DeviceReport report = device_->follow(memory, -1, [&] { leave(release); }); report.outcome != DeviceOutcome::done)
    return report;
  const CudaDevice::Current current(device_.get());
  if (!current)
    return {DeviceOutcome::failed, "the CUDA context cannot be made current"};
  if (DeviceReport report = given_.give(memory); report.outcome != DeviceOutcome::done)
    return report;
  if (CUstream_st* stream = stream_of(memory); stream != std::exchange(stream_, stream))
    if (const cudaError_t error = cuda::wait_for_all(stream, moved_); error != cudaSuccess)
      return report_of("waiting for another stream", error);
  MemoryRef boxes = pool_.acquire(capacity, memory);
  if (!boxes)
    return report_of_no_memory("no device memory for candidates");
  DeviceReport report;
  {
    const MappedBoxes map(boxes.get(), capacity, GST_MAP_WRITE | map_on_device);
    if (!map)
      return {DeviceOutcome::failed, "the memory of candidates cannot be mapped"};
    report = search(Work{*map, capacity, stream_});
  }
  report = let_default_stream_follow(memory, std::move(report));
  if (report.outcome == DeviceOutcome::done)
    candidates = std::move(boxes);
  return report;
}

}  // namespace crowd
