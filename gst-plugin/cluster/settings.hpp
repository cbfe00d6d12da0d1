// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What an application sets of the clustering.
#pragma once

#include <crowd/nms.h>
#include <cstdint>

#include "cluster/backends.hpp"
#include "meta/adapter.hpp"

namespace crowd {

/// Greedy, IoU > 0.5, per class, every score.
inline CrowdNmsParams default_params() {
  CrowdNmsParams params;
  crowd_nms_params_init(&params);
  return params;
}

struct NmsSettings {
  CrowdNmsParams params = default_params();
  /// As it was set; the params have the float that float scores compare with as with this.
  double score_threshold = static_cast<double>(params.score_threshold);
  std::uint32_t max_candidates = 16384;
  std::uint32_t max_detections = 0;  ///< 0: all
  BackendChoice backend = BackendChoice::automatic;
  int cuda_device_id = -1;
  meta::KindId source = meta::KindId::automatic;  ///< automatic: the first that the frame carries
  meta::KindId output = meta::KindId::automatic;  ///< automatic: the standard one; on the device, what is read there
  bool output_delay = false;
  meta::Mode mode = meta::Mode::replace;
  bool post_messages = false;
  bool clip = true;  ///< see BoxesInfo
};

}  // namespace crowd
