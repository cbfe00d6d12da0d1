// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Weights of the models that candidates are of: the property model-weights.
#pragma once

#include <crowd/nms.h>

#include <memory>
#include <string>
#include <vector>

namespace crowd {

struct ModelWeights {
  std::string text;              ///< as it was set: "2,1,0.5"
  std::vector<float> weights{};  ///< of each model; empty where there is a problem
  std::string problem{};         ///< what is wrong with the text, and what would not be; else empty
};

/// Null where it is empty.
std::shared_ptr<const ModelWeights> make_model_weights(const std::string& text);

/// Fills in the params what the weights, null or without a problem, are.
void apply(const ModelWeights* weights, CrowdNmsParams& params);

}  // namespace crowd
