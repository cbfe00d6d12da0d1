// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/call.hpp"
#include "core/failure.hpp"
#include "core/merges.hpp"
#include "core/methods.hpp"
#include "core/rules.hpp"

using crowd::fail;

namespace {

/// The shortest text that reads back as the same number, in any locale.
class NumberText {
 public:
  template <typename Number>
  explicit NumberText(Number number) {
    *std::to_chars(text_, text_ + max_length, number).ptr = '\0';
  }
  const char* c_str() const {
    return text_;
  }

 private:
  static constexpr std::size_t max_length = 24;  // of a double: -1.2345678901234567e-308

  char text_[max_length + 1];
};

CrowdNmsStatus check_d_max(const CrowdNmsParams& p) {
  if (p.paper_d_max > crowd::paper_d_max_limit)
    return fail(CROWD_NMS_INVALID_ARGUMENT, "paper_d_max is %u, must be at most %u", p.paper_d_max,
                crowd::paper_d_max_limit);
  if (!p.paper_k || (p.paper_d_max && p.paper_d_max % p.paper_k))
    return fail(CROWD_NMS_INVALID_ARGUMENT, "paper_k is %u, must divide paper_d_max (%u)", p.paper_k, p.paper_d_max);
  return CROWD_NMS_OK;
}

CrowdNmsStatus check_class_settings(const CrowdNmsParams& p) {
  if (p.class_count > CROWD_NMS_MAX_CLASS_SETTINGS)
    return fail(CROWD_NMS_INVALID_ARGUMENT, "class_count is %u, must be at most %u", p.class_count,
                CROWD_NMS_MAX_CLASS_SETTINGS);
  for (std::uint32_t i = 0; i < p.class_count; ++i) {
    const CrowdNmsClassSettings& own = p.class_settings[i];
    if (own.overlap_threshold < 0 || own.overlap_threshold > 1)
      return fail(CROWD_NMS_INVALID_ARGUMENT, "overlap_threshold of class %d is %s, must lie in [0, 1], or be NaN",
                  own.label, NumberText(own.overlap_threshold).c_str());
    for (std::uint32_t k = 0; k < i; ++k) {
      if (p.class_settings[k].label == own.label)
        return fail(CROWD_NMS_INVALID_ARGUMENT, "class %d has settings twice", own.label);
    }
  }
  return CROWD_NMS_OK;
}

CrowdNmsStatus check_rule(const CrowdNmsParams& p) {
  if (crowd::raw(p.rule) >= crowd::Rules::size)
    return fail(CROWD_NMS_INVALID_ARGUMENT, "rule %u is not a CrowdNmsRule", crowd::raw(p.rule));
  if (!(p.max_distance >= 0 && p.max_distance <= std::numeric_limits<float>::max()))
    return fail(CROWD_NMS_INVALID_ARGUMENT, "max_distance is %s, must be finite and not negative",
                NumberText(p.max_distance).c_str());
  if (p.rule == CROWD_NMS_FEATURE && !(p.min_overlap >= 0 && p.min_overlap <= p.overlap_threshold))
    return fail(CROWD_NMS_INVALID_ARGUMENT, "min_overlap is %s, must lie between 0 and overlap_threshold (%s)",
                NumberText(p.min_overlap).c_str(), NumberText(p.overlap_threshold).c_str());
  if (std::isnan(p.min_width) || std::isnan(p.min_height) || std::isnan(p.max_width) || std::isnan(p.max_height))
    return fail(CROWD_NMS_INVALID_ARGUMENT, "a limit of size is NaN, must be a number");
  if (p.listed_only > 1)
    return fail(CROWD_NMS_INVALID_ARGUMENT, "listed_only is %u, must be 0 or 1", p.listed_only);
  return check_class_settings(p);
}

CrowdNmsStatus check_weights(const CrowdNmsParams& p) {
  if (p.weight_count > CROWD_NMS_MAX_MODEL_WEIGHTS)
    return fail(CROWD_NMS_INVALID_ARGUMENT, "weight_count is %u, must be at most %u", p.weight_count,
                CROWD_NMS_MAX_MODEL_WEIGHTS);
  float largest = 0;
  for (std::uint32_t model = 0; model < p.weight_count; ++model) {
    const float weight = p.model_weights[model];
    if (!(weight >= 0 && weight <= std::numeric_limits<float>::max()))
      return fail(CROWD_NMS_INVALID_ARGUMENT, "the weight of model %u is %s, must be finite and not negative", model,
                  NumberText(weight).c_str());
    largest = std::fmax(largest, weight);
  }
  if (p.weight_count && largest == 0)
    return fail(CROWD_NMS_INVALID_ARGUMENT, "all %u weights of models are 0, one must be above", p.weight_count);
  return CROWD_NMS_OK;
}

}  // namespace

void crowd_nms_params_init(CrowdNmsParams* params) {
  if (!params)
    return;
  *params = CrowdNmsParams{
      .method = CROWD_NMS_GREEDY,
      .metric = CROWD_NMS_IOU,
      .comparator = CROWD_NMS_GREATER,
      .pixel_offset = 0,
      .overlap_threshold = 0.5,
      .score_threshold = -std::numeric_limits<float>::infinity(),
      .class_agnostic = 0,
      .rule = CROWD_NMS_PLAIN,
      .max_distance = 1,
      .min_overlap = 0.1,
      .min_width = 0,
      .min_height = 0,
      .max_width = std::numeric_limits<float>::infinity(),
      .max_height = std::numeric_limits<float>::infinity(),
      .class_count = 0,
      .listed_only = 0,
      .class_settings = {},
      .paper_d_max = 0,
      .paper_k = 32,
      .merge = CROWD_NMS_MERGE_NONE,
      .cluster_score = CROWD_NMS_CLUSTER_SCORE_NONE,
      .min_members = 0,
      .sigma = 0.5f,
      .models = 1,
      .weight_count = 0,
      .model_weights = {},
      .reserved = {},
  };
}

CrowdNmsStatus crowd_nms_params_check(const CrowdNmsParams* params) {
  if (!params)
    return fail(CROWD_NMS_INVALID_ARGUMENT, "params must not be NULL: start from crowd_nms_params_init()");
  const auto& p = *params;
  if (crowd::raw(p.method) >= crowd::Methods::size)
    return fail(CROWD_NMS_INVALID_ARGUMENT, "method %u is not a CrowdNmsMethod", crowd::raw(p.method));
  if (crowd::raw(p.metric) >= crowd::Metrics::size)
    return fail(CROWD_NMS_INVALID_ARGUMENT, "metric %u is not a CrowdNmsMetric", crowd::raw(p.metric));
  if (crowd::raw(p.comparator) > CROWD_NMS_GREATER_EQUAL)
    return fail(CROWD_NMS_INVALID_ARGUMENT, "comparator %u is not a CrowdNmsComparator", crowd::raw(p.comparator));
  if (!(p.overlap_threshold >= 0.0 && p.overlap_threshold <= 1.0))
    return fail(CROWD_NMS_INVALID_ARGUMENT, "overlap_threshold is %s, must lie in [0, 1]",
                NumberText(p.overlap_threshold).c_str());
  if (std::isnan(p.score_threshold))
    return fail(CROWD_NMS_INVALID_ARGUMENT, "score_threshold is NaN, must be a number");
  if (p.pixel_offset > 1 || p.class_agnostic > 1)
    return fail(CROWD_NMS_INVALID_ARGUMENT, "pixel_offset (%u) and class_agnostic (%u) must be 0 or 1", p.pixel_offset,
                p.class_agnostic);
  if (const CrowdNmsStatus status = check_rule(p); status != CROWD_NMS_OK)
    return status;
  if (crowd::raw(p.merge) >= crowd::Merges::size)
    return fail(CROWD_NMS_INVALID_ARGUMENT, "merge %u is not a CrowdNmsMerge", crowd::raw(p.merge));
  if (crowd::raw(p.cluster_score) > CROWD_NMS_CLUSTER_SCORE_SUM)
    return fail(CROWD_NMS_INVALID_ARGUMENT, "cluster_score %u is not a CrowdNmsClusterScore",
                crowd::raw(p.cluster_score));
  if (!crowd::all_zero(p.reserved))
    return fail(CROWD_NMS_INVALID_ARGUMENT, crowd::reserved_is_set, "params");
  if (!(p.sigma > 0 && p.sigma <= std::numeric_limits<float>::max()))
    return fail(CROWD_NMS_INVALID_ARGUMENT, "sigma is %s, must be above 0 and finite", NumberText(p.sigma).c_str());
  if (const CrowdNmsStatus status = check_weights(p); status != CROWD_NMS_OK)
    return status;
  return crowd::reads_d_max(p) ? check_d_max(p) : CROWD_NMS_OK;
}

const char* crowd_nms_status_text(CrowdNmsStatus status) {
  switch (status) {
    case CROWD_NMS_OK:
      return "done";
    case CROWD_NMS_INVALID_ARGUMENT:
      return "an argument breaks the contract of crowd/nms.h";
    case CROWD_NMS_UNSUPPORTED:
      return "this backend cannot run it with these parameters";
    case CROWD_NMS_WORKSPACE_TOO_SMALL:
      return "the workspace is smaller than the workspace query says";
    case CROWD_NMS_NO_GPU:
      return "no usable CUDA device: use the CPU backend, or install an NVIDIA driver and a build with CUDA";
    case CROWD_NMS_OUT_OF_MEMORY:
      return "out of memory: lower the capacity or the number of frames";
    case CROWD_NMS_CUDA_ERROR:
      return "the CUDA runtime reported an error";
  }
  return "unknown status";
}

uint32_t crowd_nms_version(void) {
  return CROWD_NMS_VERSION;
}
