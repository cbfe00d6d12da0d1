// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** deviceframes.hpp: frames in CUDA memory for detectors that search them there. In builds with CUDA and gst/cuda. */
#pragma once

#include <gst/video/video.h>

#include "base/deviceoutcome.hpp"
#include "base/mappedframe.hpp"
#include "base/memorypool.hpp"
#include "base/shownpart.hpp"
#include "gpu/device.hpp"
#include "gpu/devicesearch.hpp"

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

  /** Calls search(Work), as DeviceSearch::run() does. */
  template <typename Release, typename Search>
  DeviceReport search(GstBuffer* buffer, const GstVideoInfo& info, guint capacity, MemoryRef& candidates,
                      const Release& release, const Search& search);

  /** See DeviceSearch. */
  template <typename Release>
  void leave(const Release& release) {
    search_.leave(release);
  }

 private:
  DeviceSearch search_;
};

template <typename Release, typename Search>
DeviceReport DeviceFrames::search(GstBuffer* buffer, const GstVideoInfo& info, guint capacity, MemoryRef& candidates,
                                  const Release& release, const Search& search) {
  GstMemory* memory = gst_buffer_n_memory(buffer) ? gst_buffer_peek_memory(buffer, 0) : nullptr;
  if (!is_on_device(memory))
    return {DeviceOutcome::dropped,
            "the frame is not in the CUDA memory that its caps promise; put cudaupload before this element"};
  const auto in_frame = [&](const DeviceSearch::Work& work) -> DeviceReport {
    const MappedFrame frame(buffer, info, GST_MAP_READ | map_on_device);
    if (!frame)
      return {DeviceOutcome::dropped, "the frame cannot be mapped; put cudaconvert before this element"};
    const auto part = shown_part(*frame, info);
    if (!part)
      return {DeviceOutcome::dropped, part_is_missing};
    return search(Work{*frame, *part, work.boxes, work.capacity, work.stream});
  };
  return search_.run(memory, capacity, candidates, release, in_frame);
}

}  // namespace crowd
