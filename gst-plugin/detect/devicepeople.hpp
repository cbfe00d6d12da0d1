// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** devicepeople.hpp: crowddetect's people in frames in device memory. */
#pragma once

#include <gst/video/video.h>

#include <memory>

#include "base/deviceoutcome.hpp"
#include "base/memorypool.hpp"
#include "detect/search.hpp"

namespace crowd {

/**
 * For one thread. Candidates of a frame stay in device memory, in order of the frame's stream; the host waits for none.
 * Allocates where the frame's size, context or stream, or the search, is not that of the frame before, and for a pair
 * of memories, of frame and candidates, that is new.
 */
class DevicePeople {
 public:
  /** See gpu/parts.hpp. */
  static std::unique_ptr<DevicePeople> make();

  virtual ~DevicePeople() = default;

  /** Leaves the candidates, a GstCrowdBoxesMeta's memory with room for `capacity`, in `candidates`. */
  [[nodiscard]] virtual DeviceReport find(GstBuffer* buffer, const GstVideoInfo& info, const Search& search,
                                          guint capacity, MemoryRef& candidates) = 0;
};

}  // namespace crowd
