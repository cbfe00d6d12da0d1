// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Weighted box fusion (crowd/nms.h, "wbf"), for host and device. Compiled without contraction, as overlap.hpp is.
#pragma once

#include <cstdint>

#include "core/model_weights.hpp"

namespace crowd {

/// The score of a cluster. `own`: its founder's.
CROWD_HD inline float fused_score(double sum, std::uint32_t members, const FusedModels& models, float own) {
  const double mean = sum / members;
  const auto score = static_cast<float>(mean * (models.count < members ? models.count : members) / models.weights);
  return score == score ? score : own;
}

}  // namespace crowd
