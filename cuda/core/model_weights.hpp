// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Weights of models (crowd/nms.h), for host and device. Compiled without contraction, as overlap.hpp is.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/host_device.hpp"
#include "core/methods.hpp"

namespace crowd {

/// What scores are multiplied by; small enough to be a kernel's argument.
struct ModelWeights {
  std::uint32_t count = 0;  ///< 0: scores stay, and models are not read
  float factor[CROWD_NMS_MAX_MODEL_WEIGHTS];

  /// Of the candidate at `at` in the arrays; NaN where it is of no model.
  CROWD_HD float weighted(float score, const std::uint32_t* models, std::size_t at) const {
    if (!count)
      return score;
    const std::uint32_t model = models[at];
    return model < count ? score * factor[model] : NAN;
  }
};

inline bool reads_weights(const CrowdNmsParams& params) {
  return info_of(params.method).reads & CROWD_NMS_READS_WEIGHTS && params.weight_count;
}

inline ModelWeights model_weights(const CrowdNmsParams& params) {
  ModelWeights weights;
  if (!reads_weights(params))
    return weights;
  weights.count = params.weight_count;
  const float* const given = params.model_weights;
  const float unit = params.method == CROWD_NMS_NMW ? *std::max_element(given, given + weights.count) : 1;
  std::transform(given, given + weights.count, weights.factor, [unit](float weight) { return weight / unit; });
  return weights;
}

/// The models whose candidates are fused.
struct FusedModels {
  std::uint32_t count;
  double weights;  ///< their sum
};

inline FusedModels fused_models(const CrowdNmsParams& params) {
  if (!reads_weights(params)) {
    const std::uint32_t count = std::max(params.models, 1u);
    return {count, static_cast<double>(count)};
  }
  double sum = 0;
  for (std::uint32_t model = 0; model < params.weight_count; ++model)
    sum += params.model_weights[model];
  return {params.weight_count, sum};
}

}  // namespace crowd
