// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// NMS of candidates that lie in device memory, their number included: what crowdnms does where nothing has to reach the
// host, or the survivors alone. For frames whose context the CudaDevice has.
#pragma once

#include <crowd/nms.h>
#include <gst/gst.h>

#include <cstdint>
#include <memory>

#include "cluster/clusterer.hpp"
#include "cluster/frame.hpp"
#include "cluster/metadata.hpp"
#include "gpu/device.hpp"

namespace crowd {

class DeviceNms : public Clusterer {
 public:
  /// See gpu/parts.hpp. Both outlive it.
  static std::unique_ptr<DeviceNms> make(CudaDevice& device, const Metadata& metadata);

  /// Of all frames since forget_totals() that the host does not await, as far as the device got. Any thread.
  virtual CrowdNmsTotals totals() const = 0;

  /// Device time of the frames that are timed, one in sixteen. A frame's time is added when a later frame is enqueued,
  /// or by release(): reading it takes a current context.
  struct Times {
    std::uint64_t frames = 0;  ///< that were timed
    GstClockTime total = 0;
  };
  /// Since forget_totals(). Any thread.
  virtual Times times() const = 0;

  /// After release().
  virtual void forget_totals() = 0;
};

}  // namespace crowd
