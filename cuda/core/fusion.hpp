// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Weighted box fusion (crowd/nms.h, "wbf"), for host and device. Compiled without contraction, as overlap.hpp is.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/model_weights.hpp"

namespace crowd {

/// The score of a cluster. `own`: its founder's.
CROWD_HD inline float fused_score(double sum, std::uint32_t members, const FusedModels& models, float own) {
  const double mean = sum / members;
  const auto score = static_cast<float>(mean * (models.count < members ? models.count : members) / models.weights);
  return score == score ? score : own;
}

/// `dividend` / `divisor` as that is rounded, from `reciprocal` = 1 / divisor, to divide several numbers by one. Of
/// finite numbers whose exponents stay away from the ends of the range; PROOFS.md, section 10.
CROWD_HD inline double quotient(double dividend, double divisor, double reciprocal) {
  const double near = dividend * reciprocal;
  const double nearer = fma(fma(-near, divisor, dividend), reciprocal, near);
  return fma(fma(-nearer, divisor, dividend), reciprocal, nearer);
}

}  // namespace crowd
