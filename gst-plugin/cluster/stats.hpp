// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What crowdnms counts, and how it reports it: the property `stats` and the element message. Not locked here.
#pragma once

#include <crowd/nms.h>
#include <gst/gst.h>

#include <optional>

#include "cluster/backends.hpp"
#include "cluster/device_nms.hpp"

namespace crowd {

class NmsStats {
 public:
  /// In which memory the candidates of a frame lie and are clustered.
  enum class Place { host, device };

  /// A frame has gone through with this method; no result: it had no candidates, or (`failure`) its candidates were
  /// lost or could not be read. `nan_candidates`: whose density or features are NaN.
  void count(const Backends::Result* result, Place place, bool failure, CrowdNmsMethod method,
             std::uint32_t nan_candidates = 0);

  /// A frame has been clustered on the device, which counts what it finds itself.
  void count_on_device(CrowdNmsMethod method);

  /// The value of the property, with what the device has counted and how long it took; `method` is what it says until
  /// a frame has gone through.
  GstStructure* structure(CrowdNmsMethod method, const CrowdNmsTotals& on_device, const DeviceNms::Times& times) const;

  /// The element message on the last frame counted.
  GstStructure* message(const GstSegment& segment, const GstBuffer* buffer) const;

  const CrowdNmsReport& last() const {
    return last_;
  }

 private:
  guint64 frames_ = 0;
  guint64 frames_on_gpu_ = 0;
  guint64 device_frames_ = 0;
  guint64 failures_ = 0;
  guint64 candidates_ = 0;
  guint64 survivors_ = 0;
  guint64 suppressed_ = 0;
  guint64 invalid_ = 0;
  guint64 below_threshold_ = 0;
  guint64 overflow_ = 0;
  guint64 clipped_ = 0;
  guint64 nan_candidates_ = 0;
  GstClockTime nms_time_ = 0;
  CrowdNmsReport last_{};
  Place last_place_ = Place::host;
  bool last_on_device_ = false;  ///< and counted there
  GstClockTime last_nms_time_ = 0;
  const char* backend_ = "none";
  std::optional<CrowdNmsMethod> method_;  // of the last frame
};

}  // namespace crowd
