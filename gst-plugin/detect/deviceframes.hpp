// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** deviceframes.hpp: frames in CUDA memory for detectors that search them there. In builds with CUDA and gst/cuda. */
#pragma once

#include <gst/video/video.h>

#include <memory>
#include <utility>

#include "base/deviceoutcome.hpp"
#include "base/mappedframe.hpp"
#include "base/memorypool.hpp"
#include "base/shownpart.hpp"
#include "gpu/cudareport.hpp"
#include "gpu/device.hpp"

namespace crowd {

/** For one thread. */
class DeviceFrames {
 public:
  /** What a search gets, under the context of the frame. */
  struct Work {
    const GstVideoFrame& frame;  ///< device pointers
    ShownPart part;
    const GstCrowdBoxesMap& boxes;  ///< device pointers, for what is found
    guint capacity;
    CUstream_st* stream;  ///< of the frame
  };

  /** Calls search(Work), and leaves what it filled, with room for `capacity`, in `candidates`. Calls release() before
   * the context of the frame before is left, to let go of all that is in it, and moved(stream) where the stream is
   * another than that of the frame before. Both return a DeviceReport but for release(). */
  template <typename Release, typename Moved, typename Search>
  DeviceReport search(GstBuffer* buffer, const GstVideoInfo& info, guint capacity, MemoryRef& candidates,
                      const Release& release, const Moved& moved, const Search& search);

  /** Runs release() in the context of the last frame and forgets it. */
  template <typename Release>
  void leave(const Release& release) {
    const CudaDevice::Current current(device_.get());
    release();
    pool_.clear();
    stream_ = nullptr;
  }

 private:
  std::unique_ptr<CudaDevice> device_ = CudaDevice::make();
  DeviceBoxesPool pool_;
  CUstream_st* stream_ = nullptr;  // of the last frame
};

template <typename Release, typename Moved, typename Search>
DeviceReport DeviceFrames::search(GstBuffer* buffer, const GstVideoInfo& info, guint capacity, MemoryRef& candidates,
                                  const Release& release, const Moved& moved, const Search& search) {
  GstMemory* memory = gst_buffer_n_memory(buffer) ? gst_buffer_peek_memory(buffer, 0) : nullptr;
  if (!is_on_device(memory))
    return {DeviceOutcome::dropped,
            "the frame is not in the CUDA memory that its caps promise; put cudaupload before this element"};
  if (DeviceReport report = device_->follow(memory, -1, [&] { leave(release); }); report.outcome != DeviceOutcome::done)
    return report;
  const CudaDevice::Current current(device_.get());
  if (!current)
    return {DeviceOutcome::failed, "the CUDA context cannot be made current"};
  if (CUstream_st* stream = stream_of(memory); stream != std::exchange(stream_, stream))
    if (DeviceReport report = moved(stream); report.outcome != DeviceOutcome::done)
      return report;
  MemoryRef boxes = pool_.acquire(capacity, memory);
  if (!boxes)
    return report_of_no_memory("no device memory for candidates");
  const MappedFrame frame(buffer, info, GST_MAP_READ | map_on_device);
  if (!frame)
    return {DeviceOutcome::dropped, "the frame cannot be mapped; put cudaconvert before this element"};
  const auto part = shown_part(*frame, info);
  if (!part)
    return {DeviceOutcome::dropped, part_is_missing};
  const MappedBoxes map(boxes.get(), capacity, GST_MAP_WRITE | map_on_device);
  if (!map)
    return {DeviceOutcome::failed, "the memory of candidates cannot be mapped"};
  DeviceReport report = search(Work{*frame, *part, *map, capacity, stream_});
  if (report.outcome == DeviceOutcome::done)
    candidates = std::move(boxes);
  return report;
}

}  // namespace crowd
