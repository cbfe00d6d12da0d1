// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "core/call.hpp"

#include "core/failure.hpp"
#include "core/model_weights.hpp"
#include "core/rules.hpp"

namespace crowd {

namespace {

CrowdNmsStatus check_rule_array(const CrowdNmsParams& params, const CrowdNmsCandidates& candidates) {
  const auto [array, size] = rule_array(Rules{}, params.rule, candidates);
  if (candidates.frames && candidates.capacity && size && !array)
    return fail(CROWD_NMS_INVALID_ARGUMENT, "rule %s reads an array that the candidates lack, see CrowdNmsRule",
                crowd_nms_rule_info(params.rule)->name);
  if (candidates.feature_length > CROWD_NMS_MAX_FEATURE_LENGTH)
    return fail(CROWD_NMS_INVALID_ARGUMENT, "feature_length is %u, must be at most %u", candidates.feature_length,
                CROWD_NMS_MAX_FEATURE_LENGTH);
  return CROWD_NMS_OK;
}

CrowdNmsStatus check_models(const CrowdNmsParams& params, const CrowdNmsCandidates& candidates) {
  if (!reads_weights(params) || !candidates.frames || !candidates.capacity || candidates.models)
    return CROWD_NMS_OK;
  return fail(CROWD_NMS_INVALID_ARGUMENT,
              "method %s reads the candidates' models where there are weights of models, and they lack them",
              info_of(params.method).name);
}

}  // namespace

CrowdNmsStatus check_call(const CrowdNmsParams* params, const CrowdNmsCandidates* candidates,
                          const CrowdNmsSurvivors* survivors) {
  if (const CrowdNmsStatus status = crowd_nms_params_check(params); status != CROWD_NMS_OK)
    return status;
  CrowdNmsStatus status = check_arrays(candidates, survivors);
  if (status == CROWD_NMS_OK && reads_pairs(*params))
    status = check_rule_array(*params, *candidates);
  return status == CROWD_NMS_OK ? check_models(*params, *candidates) : status;
}

CrowdNmsStatus check_arrays(const CrowdNmsCandidates* candidates, const CrowdNmsSurvivors* survivors) {
  if (!candidates || !survivors)
    return fail(CROWD_NMS_INVALID_ARGUMENT, "candidates and survivors must not be NULL");
  if (candidates->flags || !all_zero(candidates->reserved))
    return fail(CROWD_NMS_INVALID_ARGUMENT, reserved_is_set, "candidates");
  if (survivors->flags || !all_zero(survivors->reserved))
    return fail(CROWD_NMS_INVALID_ARGUMENT, reserved_is_set, "survivors");
  if (const CrowdNmsStatus status = check_total(candidates->frames, candidates->capacity); status != CROWD_NMS_OK)
    return status;
  if (!candidates->frames)
    return CROWD_NMS_OK;
  if (candidates->capacity && (!candidates->boxes || !candidates->scores))
    return fail(CROWD_NMS_INVALID_ARGUMENT, "boxes and scores must not be NULL when capacity is %u",
                candidates->capacity);
  if (!survivors->reports)
    return fail(CROWD_NMS_INVALID_ARGUMENT, "reports must not be NULL: one CrowdNmsReport per frame");
  if (survivors->max_survivors && !survivors->survivors)
    return fail(CROWD_NMS_INVALID_ARGUMENT, "survivors must not be NULL when max_survivors is %u",
                survivors->max_survivors);
  return CROWD_NMS_OK;
}

CrowdNmsStatus check_backend(const CrowdNmsMethodInfo& method, CrowdNmsBackend backend) {
  if (method.backends & 1u << backend)
    return CROWD_NMS_OK;
  const bool on_cpu = backend == CROWD_NMS_BACKEND_CPU;
  return fail(CROWD_NMS_UNSUPPORTED, "the %s backend lacks method %s: use the %s backend, or another method",
              on_cpu ? "CPU" : "CUDA", method.name, on_cpu ? "CUDA" : "CPU");
}

CrowdNmsStatus check_total(std::uint32_t frames, std::uint32_t capacity) {
  if (total_fits(frames, capacity))
    return CROWD_NMS_OK;
  return fail(CROWD_NMS_INVALID_ARGUMENT,
              "%u frames of %u candidates are more than a call holds (%u): split the batch, or lower the capacity",
              frames, capacity, CROWD_NMS_MAX_TOTAL);
}

}  // namespace crowd
