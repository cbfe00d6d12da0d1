// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Weighted box fusion (crowd/nms.h, "wbf"), for host and device. Compiled without contraction, as overlap.hpp is.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"

namespace crowd {

/// The score of a cluster. `own`: its founder's.
CROWD_HD inline float fused_score(double sum, std::uint32_t members, std::uint32_t models, float own) {
  const std::uint32_t all = models > 1 ? models : 1;
  const double mean = sum / members;
  const auto score = static_cast<float>(mean * (all < members ? all : members) / all);
  return score == score ? score : own;
}

}  // namespace crowd
