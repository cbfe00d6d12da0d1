// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Candidates that were made on the host, for readers in device memory.
#pragma once

#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/gst.h>

#include <functional>
#include <memory>

#include "base/deviceoutcome.hpp"
#include "base/memorypool.hpp"

namespace crowd {

/// For one thread. In the steady state it allocates nothing, and waits only where the device is several frames behind.
class BoxesUpload {
 public:
  /// See gpu/parts.hpp.
  static std::unique_ptr<BoxesUpload> make();

  virtual ~BoxesUpload() = default;

  /// Device memory, in the context of `beside` and on its stream, with what `fill` writes into a host view of
  /// boxes of this shape: all but members. NULL with the reason in `report`.
  virtual MemoryRef upload(GstMemory* beside, const BoxesShape& shape,
                           const std::function<void(const GstCrowdBoxesMap&)>& fill, DeviceReport& report) = 0;
};

}  // namespace crowd
