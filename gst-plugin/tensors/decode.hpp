// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// One place of a network's outputs to a candidate: what host and device share, so that both give the same bits, those
// of NaN aside. float32, each operation rounded once, but for exp(), which is exp_of() in double, rounded to float.
// C++17; to be compiled without contraction.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/confidence.hpp"
#include "base/host_device.hpp"
#include "tensors/half.hpp"
#include "tensors/plan.hpp"

namespace crowd::tensors {

/// Which candidates are wanted.
struct Selection {
  float threshold;
  float surely_below;  ///< before the sigmoid: values below this give scores below the threshold
  const std::uint32_t* class_bits;
  std::uint32_t class_words;  ///< 0: all classes
  float objectness_threshold = 0;
};

struct Scored {
  float score;
  std::uint32_t class_id;
};

struct Corners {
  float x1, y1, x2, y2;
};

CROWD_HD inline bool is_nan(float value) {
  return value != value;
}

/// NaN of NaN, 0 and infinity where a float has no room for the power.
CROWD_HD inline float exp_float(float x) {
  constexpr float overflows = 89, underflows = -104;
  if (is_nan(x))
    return x;
  if (x > overflows)
    return INFINITY;
  return x < underflows ? 0.F : static_cast<float>(exp_of(static_cast<double>(x)));
}

/// The logistic function.
CROWD_HD inline float sigmoid_float(float x) {
  constexpr float far = 150;
  if (is_nan(x))
    return x;
  const float near = x > far ? far : x < -far ? -far : x;
  return static_cast<float>(1 / (1 + exp_of(-static_cast<double>(near))));
}

/// A value below which sigmoid_float() surely is below the threshold: what is at or above it is to be computed.
/// On the host alone.
inline float surely_below(float threshold) {
  constexpr double min = 1e-30, max = 1 - 1e-7, margin = 1e-3;
  // What is less than an ulp below may round to the threshold.
  const auto wanted = static_cast<double>(std::nextafter(threshold, 0.F));
  if (!(wanted >= min))
    return -INFINITY;
  const double inside = wanted < max ? wanted : max;
  return static_cast<float>(std::log(inside / (1 - inside)) - margin);
}

CROWD_HD inline float as_float(float value) {
  return value;
}
CROWD_HD inline float as_float(std::uint16_t half) {
  return float_of_half(half);
}

/// Channel `channel` of a place. `at`: the element of channel 0.
CROWD_HD inline float load(const Values& values, const OutputData& outputs, std::size_t at, std::uint32_t channel) {
  const void* data = outputs.data[values.output];
  const std::size_t element = at + static_cast<std::size_t>(channel) * values.channel;
  return values.type == Type::float16 ? as_float(static_cast<const std::uint16_t*>(data)[element])
                                      : as_float(static_cast<const float*>(data)[element]);
}

CROWD_HD inline std::size_t element_of(const Values& values, std::size_t input, std::uint32_t place) {
  return values.first + input * static_cast<std::size_t>(values.batch) + static_cast<std::size_t>(place) * values.place;
}

/// The class of the highest value, of equals the lowest; NaN is above all. Loads wait for nothing, so that many are
/// under way at once.
template <typename T>
CROWD_HD inline Scored best_class(const T* values, std::size_t stride, std::uint32_t classes) {
  Scored best{as_float(values[0]), 0};
#if defined(__CUDA_ARCH__)
#pragma unroll 8
#endif
  for (std::uint32_t i = 1; i < classes; ++i) {
    const float value = as_float(values[i * stride]);
    if (!(value <= best.score) && !is_nan(best.score))
      best = {value, i};
  }
  return best;
}

CROWD_HD inline Scored best_class(const Plan& plan, const OutputData& outputs, std::size_t at) {
  const void* data = outputs.data[plan.scores.output];
  return plan.scores.type == Type::float16
             ? best_class(static_cast<const std::uint16_t*>(data) + at, plan.scores.channel, plan.classes)
             : best_class(static_cast<const float*>(data) + at, plan.scores.channel, plan.classes);
}

/// Of a score and a class as numbers.
CROWD_HD inline Scored class_as_value(const Plan& plan, const OutputData& outputs, std::size_t at) {
  const float score = load(plan.scores, outputs, at, 0);
  const float id = load(plan.scores, outputs, at, 1);
  if (!(id >= 0 && id < static_cast<float>(plan.classes)) || id != static_cast<float>(static_cast<std::uint32_t>(id)))
    return {NAN, 0};
  return {score, static_cast<std::uint32_t>(id)};
}

CROWD_HD inline float activated(const Plan& plan, float value) {
  if (!plan.sigmoid)
    return value;
  if (plan.clip > 0)
    value = value > plan.clip ? plan.clip : value < -plan.clip ? -plan.clip : value;
  return sigmoid_float(value);
}

CROWD_HD inline bool passes(const Selection& selection, std::uint32_t class_id) {
  if (selection.class_words == 0)
    return true;
  const std::uint32_t word = class_id / 32;
  return word < selection.class_words && (selection.class_bits[word] >> class_id % 32 & 1U);
}

/// The score and class of a place. False if it is no candidate.
CROWD_HD inline bool score_of(const Plan& plan, const OutputData& outputs, std::size_t input, std::uint32_t place,
                              const Selection& selection, Scored& scored) {
  const std::size_t at = element_of(plan.scores, input, place);
  scored = plan.class_is_value ? class_as_value(plan, outputs, at) : best_class(plan, outputs, at);
  const float objectness =
      plan.has_objectness ? load(plan.objectness, outputs, element_of(plan.objectness, input, place), 0) : 1.F;
  if (plan.sigmoid && !is_nan(scored.score) && !is_nan(objectness) &&
      (scored.score < selection.surely_below || (plan.has_objectness && objectness < selection.surely_below)))
    return false;
  scored.score = activated(plan, scored.score);
  if (plan.has_objectness) {
    const float object = activated(plan, objectness);
    if (object < selection.objectness_threshold)
      return false;
    scored.score *= object;
  }
  return !(scored.score < selection.threshold) && passes(selection, scored.class_id);
}

CROWD_HD inline Corners around(float x, float y, float width, float height) {
  const float half_width = width * .5F, half_height = height * .5F;
  return {x - half_width, y - half_height, x + half_width, y + half_height};
}

/// In pixels of the input. `anchor` is read where the plan's form takes anchors.
CROWD_HD inline Corners box_in_input(const Plan& plan, const OutputData& outputs, std::size_t input,
                                     std::uint32_t place, const Anchor* anchors) {
  const std::size_t at = element_of(plan.boxes, input, place), sizes_at = element_of(plan.sizes, input, place);
  const float x = load(plan.boxes, outputs, at, plan.x), y = load(plan.boxes, outputs, at, plan.y);
  const float w = load(plan.sizes, outputs, sizes_at, plan.width), h = load(plan.sizes, outputs, sizes_at, plan.height);
  switch (plan.form) {
    case Form::corners:
      return {x * plan.unit_x, y * plan.unit_y, w * plan.unit_x, h * plan.unit_y};
    case Form::center:
      return around(x * plan.unit_x, y * plan.unit_y, w * plan.unit_x, h * plan.unit_y);
    case Form::anchor_exp: {
      const Anchor& anchor = anchors[place];
      return around(x * plan.variance_x * anchor.width + anchor.x, y * plan.variance_y * anchor.height + anchor.y,
                    exp_float(w * plan.variance_width) * anchor.width,
                    exp_float(h * plan.variance_height) * anchor.height);
    }
    case Form::anchor_plain: {
      const Anchor& anchor = anchors[place];
      return around(x * plan.unit_x + anchor.x, y * plan.unit_y + anchor.y, w * plan.unit_x, h * plan.unit_y);
    }
    case Form::cell: {
      const auto column = static_cast<float>(place % plan.columns), row = static_cast<float>(place / plan.columns);
      return around((column + x + .5F) * plan.unit_x, (row + y + .5F) * plan.unit_y, exp_float(w) * plan.unit_x,
                    exp_float(h) * plan.unit_y);
    }
  }
  return {};
}

/// In pixels of the frame.
CROWD_HD inline Corners box_of(const Plan& plan, const OutputData& outputs, std::size_t input, std::uint32_t place,
                               const Anchor* anchors, const InputPlacement& at) {
  const Corners box = box_in_input(plan, outputs, input, place, anchors);
  return {box.x1 * at.scale_x + at.x, box.y1 * at.scale_y + at.y, box.x2 * at.scale_x + at.x,
          box.y2 * at.scale_y + at.y};
}

}  // namespace crowd::tensors
