// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What NmsStream clusters frames with: HostNms where candidates are read on the host, DeviceNms where they stay in
// device memory.
#pragma once

#include <gst/gst.h>

#include "cluster/frame.hpp"

namespace crowd {

/// Clusters the candidates of frames, and writes their survivors. For one thread.
class Clusterer {
 public:
  virtual ~Clusterer() = default;

  /// Does with the frame all that needs no wait for the device.
  virtual FrameReport begin(GstBuffer* buffer, Frame& frame) = 0;

  /// Does what is left, of the oldest frame that was begun and not finished.
  virtual FrameReport finish(GstBuffer* buffer, Frame& frame) = 0;

  /// Frames that were begun will not be finished.
  virtual void drop() = 0;

  /// Frees what was allocated in the CUDA context.
  virtual void release() = 0;
};

}  // namespace crowd
