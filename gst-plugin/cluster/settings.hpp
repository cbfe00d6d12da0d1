// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What an application sets of the clustering.
#pragma once

#include <crowd/nms.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>

#include "cluster/backends.hpp"
#include "cluster/class_settings.hpp"
#include "cluster/model_weights.hpp"
#include "meta/adapter.hpp"

namespace crowd {

/// Greedy, IoU > 0.5, per class, every score.
inline CrowdNmsParams default_params() {
  CrowdNmsParams params;
  crowd_nms_params_init(&params);
  return params;
}

/// The float that float scores compare with as with the double: of one that is not below one of them, the other is not
/// above it either.
inline float float_not_below(double threshold) {
  const auto either = static_cast<float>(threshold);
  return static_cast<double>(either) < threshold ? std::nextafter(either, std::numeric_limits<float>::infinity())
                                                 : either;
}

struct NmsSettings {
  CrowdNmsParams params = default_params();
  /// As it was set; the params have the float that float scores compare with as with this.
  double score_threshold = static_cast<double>(params.score_threshold);
  std::shared_ptr<const ClassSettings> classes{};       ///< null: none
  std::shared_ptr<const ModelWeights> model_weights{};  ///< null: none; the params have what it says
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
