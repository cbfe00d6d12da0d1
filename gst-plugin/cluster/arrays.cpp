// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cluster/arrays.hpp"

#include <algorithm>
#include <cmath>

#include "cluster/changed_values.hpp"

namespace crowd {

namespace {

struct Row {
  CrowdNmsRule rule;
  guint array;
  const char* name;
};

constexpr Row rows[] = {
    {CROWD_NMS_ADAPTIVE, GST_CROWD_BOXES_DENSITIES, "densities"},
    {CROWD_NMS_SET, GST_CROWD_BOXES_PROPOSALS, "proposals"},
    {CROWD_NMS_VISIBLE, GST_CROWD_BOXES_VISIBLE, "visible boxes"},
    {CROWD_NMS_FEATURE, GST_CROWD_BOXES_FEATURES, "features"},
};

/// Null if the params read none.
const Row* row_of(const CrowdNmsParams& params) {
  const CrowdNmsMethodInfo* method = crowd_nms_method_info(params.method);
  const Row* row = std::ranges::find(rows, params.rule, &Row::rule);
  return method && (method->reads & CROWD_NMS_READS_PAIRS) && row != std::end(rows) ? row : nullptr;
}

bool reads_models(const CrowdNmsParams& params) {
  const CrowdNmsMethodInfo* method = crowd_nms_method_info(params.method);
  return method && weighs_models(*method, params);
}

std::string lacking(const std::string& reader, const char* array, const char* remedy) {
  return reader + " reads " + array +
         ", which they lack; have the detector attach them, see gstcrowdboxesarrays.h, or set " + remedy;
}

bool has_nan(std::span<const float> values) {
  return std::ranges::any_of(values, [](float value) { return std::isnan(value); });
}

}  // namespace

guint arrays_read(const CrowdNmsParams& params) {
  const Row* row = row_of(params);
  return (row ? row->array : 0) | (reads_models(params) ? GST_CROWD_BOXES_MODELS : 0);
}

std::string problem_of_arrays(const CrowdNmsParams& params, guint arrays) {
  if (const Row* row = row_of(params); row && !(arrays & row->array))
    return lacking(std::string("rule=") + crowd_nms_rule_info(params.rule)->name, row->name, "rule=plain");
  if (reads_models(params) && !(arrays & GST_CROWD_BOXES_MODELS))
    return lacking("model-weights", "models", "model-weights=\"\"");
  return {};
}

std::uint32_t count_nan(const CrowdNmsParams& params, const meta::Candidates& candidates) {
  const guint arrays = arrays_read(params);
  if (arrays & GST_CROWD_BOXES_DENSITIES)
    return static_cast<std::uint32_t>(
        std::ranges::count_if(candidates.densities, [](float density) { return std::isnan(density); }));
  if (!(arrays & GST_CROWD_BOXES_FEATURES))
    return 0;
  std::uint32_t count = 0;
  for (std::span<const float> rest = candidates.features; !rest.empty(); rest = rest.subspan(candidates.feature_length))
    count += has_nan(rest.first(candidates.feature_length));
  return count;
}

std::uint32_t count_unknown_models(const CrowdNmsParams& params, const meta::Candidates& candidates) {
  if (!reads_models(params))
    return 0;
  return static_cast<std::uint32_t>(std::ranges::count_if(
      candidates.models, [count = params.weight_count](std::uint32_t model) { return model >= count; }));
}

}  // namespace crowd
