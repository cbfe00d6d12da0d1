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
#include "gpu/device.hpp"

namespace crowd {

/// For one thread. In the steady state it allocates nothing, and waits only where the device is several frames behind.
class BoxesUpload {
 public:
  BoxesUpload();
  ~BoxesUpload();
  BoxesUpload(const BoxesUpload&) = delete;
  BoxesUpload& operator=(const BoxesUpload&) = delete;

  /// Device memory, in the context of `beside` and on its stream, with what `fill` writes into a host view of
  /// `capacity` boxes: all but members. NULL with the reason in report().
  MemoryRef upload(GstMemory* beside, guint capacity, const std::function<void(const GstCrowdBoxesMap&)>& fill);

  /// Of the last upload.
  const DeviceReport& report() const {
    return report_;
  }

 private:
  struct State;
  DeviceReport send(const GstCrowdBoxesMap& to, guint capacity, CUstream_st* stream,
                    const std::function<void(const GstCrowdBoxesMap&)>& fill);

  DeviceBoxesPool pool_;
  std::unique_ptr<State> state_;
  DeviceReport report_;
};

}  // namespace crowd
