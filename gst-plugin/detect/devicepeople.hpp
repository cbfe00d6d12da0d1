// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** devicepeople.hpp: crowddetect's people in frames in device memory. */
#pragma once

#include <gst/video/video.h>

#include <memory>
#include <string>

#include "base/deviceoutcome.hpp"
#include "base/memorypool.hpp"
#include "detect/search.hpp"

namespace crowd {

/**
 * For one thread. Candidates of a frame stay in device memory, in order of the frame's stream; nobody waits. Allocates
 * where the frame's size, context or stream, or the search, is not that of the frame before, and for a pair of
 * memories, of frame and candidates, that is new.
 */
class DevicePeople {
 public:
  /** Whether find() can find at all: not in a build without CUDA. */
  static bool is_available();

  DevicePeople();
  ~DevicePeople();
  DevicePeople(const DevicePeople&) = delete;
  DevicePeople& operator=(const DevicePeople&) = delete;

  /** Leaves the candidates, a GstCrowdBoxesMeta's memory with room for `capacity`, in `candidates`. What is not `done`
   *  is told in problem(). */
  DeviceOutcome find(GstBuffer* buffer, const GstVideoInfo& info, const Search& search, guint capacity,
                     MemoryRef& candidates);

  const std::string& problem() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace crowd
