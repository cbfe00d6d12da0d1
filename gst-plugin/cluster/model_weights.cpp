// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cluster/model_weights.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "cluster/setting_text.hpp"

namespace crowd {

namespace {

constexpr char example[] = ": write one finite number from 0 on for each model, as in \"2,1,0.5\"";

/// Nothing where it is no weight.
std::optional<float> weight_of(std::string_view text) {
  const auto weight = number_of<float>(text);
  return weight && *weight >= 0 && std::isfinite(*weight) ? weight : std::nullopt;
}

std::string read_weights(std::string_view text, std::vector<float>& weights) {
  while (!text.empty()) {
    const std::string_view part = take(text, ',');
    const auto weight = weight_of(part);
    if (!weight)
      return "model-weights has " + quoted(part) + example;
    weights.push_back(*weight);
  }
  if (weights.size() > CROWD_NMS_MAX_MODEL_WEIGHTS)
    return "model-weights has " + std::to_string(weights.size()) + " weights, name at most " +
           std::to_string(CROWD_NMS_MAX_MODEL_WEIGHTS);
  if (std::ranges::all_of(weights, [](float weight) { return weight == 0; }))
    return "all weights of model-weights are 0, give one model more";
  return {};
}

}  // namespace

std::shared_ptr<const ModelWeights> make_model_weights(const std::string& text) {
  if (trimmed(text).empty())
    return nullptr;
  auto weights = std::make_shared<ModelWeights>(ModelWeights{.text = text});
  weights->problem = read_weights(text, weights->weights);
  if (!weights->problem.empty())
    weights->weights.clear();
  return weights;
}

void apply(const ModelWeights* weights, CrowdNmsParams& params) {
  std::ranges::fill(params.model_weights, 0.0f);
  params.weight_count = weights ? static_cast<std::uint32_t>(weights->weights.size()) : 0;
  if (weights)
    std::ranges::copy(weights->weights, params.model_weights);
}

}  // namespace crowd
