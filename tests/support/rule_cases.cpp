// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "rule_cases.hpp"

#include <algorithm>
#include <limits>

namespace crowd::test {

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

template <typename T, std::size_t N>
const T& pick(Dice& dice, const T (&from)[N]) {
  return dice.pick(std::span<const T>(from));
}

// A part of the box that is left where something stands in front of it.
CrowdNmsBox visible_part(const CrowdNmsBox& box, Dice& dice) {
  CrowdNmsBox part = box;
  if (dice.one_in(2))
    part.x1 += (box.x2 - box.x1) * dice.unit();
  if (dice.one_in(2))
    part.y2 -= (box.y2 - box.y1) * dice.unit();
  if (dice.one_in(40))
    part.x2 = nan;
  if (dice.one_in(40))
    part.y2 = part.y1;
  return part;
}

void draw_features(Extras& extras, std::uint32_t n, Dice& dice) {
  constexpr std::uint32_t lengths[] = {1, 2, 7, 32};
  extras.feature_length = pick(dice, lengths);
  const std::uint32_t looks = 1 + dice.below(5);
  for (std::uint32_t i = 0; i < n; ++i) {
    const auto look = static_cast<float>(dice.below(looks));
    for (std::uint32_t k = 0; k < extras.feature_length; ++k)
      extras.features.push_back(dice.one_in(200) ? nan : look + dice.between(-0.3f, 0.3f));
  }
}

void draw_class_settings(CrowdNmsParams& params, Dice& dice) {
  params.listed_only = dice.one_in(3);
  // Downwards, so that they have to be put in order.
  for (std::int32_t label = 4; label >= -1; --label) {
    if (dice.one_in(2))
      params.class_settings[params.class_count++] = {label, dice.one_in(2) ? nan : dice.unit() * 0.6f,
                                                     dice.one_in(2) ? double{nan} : double{dice.unit()}};
  }
}

void draw_limits(CrowdNmsParams& params, Dice& dice) {
  constexpr float mins[] = {0, 0, 1, 20};
  constexpr float maxes[] = {inf, inf, 60, 200};
  params.min_width = pick(dice, mins);
  params.min_height = pick(dice, mins);
  params.max_width = pick(dice, maxes);
  params.max_height = pick(dice, maxes);
}

void draw_weights(CrowdNmsParams& params, Dice& dice) {
  constexpr std::uint32_t counts[] = {1, 2, 3, 4, 4, 4, CROWD_NMS_MAX_MODEL_WEIGHTS};
  constexpr float weights[] = {1, 1, 2, 0.5f, 3, 0, 1e-30f, 3e38f};
  params.weight_count = pick(dice, counts);
  for (std::uint32_t model = 0; model < params.weight_count; ++model)
    params.model_weights[model] = dice.one_in(3) ? dice.unit() : pick(dice, weights);
  if (std::ranges::all_of(params.model_weights, [](float weight) { return weight == 0; }))
    params.model_weights[0] = 1;
}

}  // namespace

Extras draw_extras(const Boxes& boxes, Dice& dice) {
  constexpr float odd_densities[] = {0, nan, 1, 2, -1};
  constexpr std::uint32_t odd_models[] = {4, 15, 16, ~0u};
  Extras extras;
  for (const CrowdNmsBox& box : boxes.boxes) {
    extras.densities.push_back(dice.one_in(6) ? pick(dice, odd_densities) : dice.unit());
    extras.proposals.push_back(dice.below(boxes.size() / 2 + 1));
    extras.visible.push_back(visible_part(box, dice));
  }
  draw_features(extras, boxes.size(), dice);
  for (std::uint32_t i = 0; i < boxes.size(); ++i)
    extras.models.push_back(dice.one_in(60) ? pick(dice, odd_models) : dice.below(4));
  return extras;
}

void draw_rule(Case& it, Dice& dice) {
  it.batch.extras = draw_extras(it.batch.all, dice);
  const std::vector<CrowdNmsRule> rules = all_rules();
  CrowdNmsParams& params = it.params;
  params.rule = it.batch.all.boxes.empty() ? CROWD_NMS_PLAIN : dice.pick(std::span<const CrowdNmsRule>(rules));
  params.min_overlap = params.overlap_threshold * double{dice.unit()};
  params.max_distance = dice.unit() * 2;
  if (dice.one_in(3))
    draw_class_settings(params, dice);
  if (dice.one_in(4))
    draw_limits(params, dice);
  if (reads(params.method, CROWD_NMS_READS_WEIGHTS) && !it.batch.all.boxes.empty() && !dice.one_in(3))
    draw_weights(params, dice);
}

namespace {

// `body` of each case, as the `number`th with a rule.
auto with_rules(CrowdNmsMethod method, const std::function<void(const Case&)>& body) {
  return [method, &body, number = std::uint64_t{0}](const Case& plain) mutable {
    if (!reads(method, CROWD_NMS_READS_RULE))
      return;
    Case it = plain;
    Dice dice(++number ^ 0x517cc1b727220a95);
    draw_rule(it, dice);
    it.name += " with rules, number " + std::to_string(number);
    body(it);
  };
}

}  // namespace

void for_each_ruled_case(std::span<const std::uint32_t> sizes, CrowdNmsMethod method, std::uint32_t per_size,
                         const std::function<void(const Case&)>& body) {
  for_each_case(sizes, method, per_size, with_rules(method, body));
}

void for_each_ruled_batch(CrowdNmsMethod method, const std::function<void(const Case&)>& body) {
  for_each_batch(method, with_rules(method, body));
}

void for_each_ruled_case_of_tiny_frames(CrowdNmsMethod method, const std::function<void(const Case&)>& body) {
  for_each_case_of_tiny_frames(method, with_rules(method, body));
}

}  // namespace crowd::test
