// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Streams for memories that name none: those of GStreamer up to 1.22 (the order of work: gpu/device.hpp). Where
// memories name their stream, nothing here does anything.
#pragma once

#include "base/deviceoutcome.hpp"
#include "gpu/cudamemory.hpp"
#include "gpu/device.hpp"

namespace crowd {

/// A stream and the context it is in, counted by references.
struct GivenStream;

/// What an element gives to frames that reach it without a stream. For one thread.
class FrameStream {
 public:
  FrameStream() = default;
  ~FrameStream();
  FrameStream(const FrameStream&) = delete;
  FrameStream& operator=(const FrameStream&) = delete;

  /// Gives this element's stream to the memory of a frame that has none, for as long as that lives. What was launched
  /// on the default stream before comes first. Under the memory's context, and before anyone asks stream_of().
  DeviceReport give(GstMemory* frame);

  /// For a copy of a frame that was just made, which the default stream does: gives it the original's stream, on which
  /// both are used after that.
  DeviceReport give_to_copy(GstMemory* copy, GstMemory* original);

 private:
  cudaError_t make(GstMemory* frame);
  cudaError_t share(GstMemory* memory, GivenStream* given);
  void leave();

  GivenStream* mine_ = nullptr;
  cuda::Event before_;  // in the context of `mine_`
};

/// Once work on a memory was launched on stream_of() it: the default stream comes after that work, and with it whatever
/// knows of no given stream. Under the memory's context. Returns the report of that work, or what went wrong here.
DeviceReport let_default_stream_follow(GstMemory* memory, DeviceReport report = {});

}  // namespace crowd
