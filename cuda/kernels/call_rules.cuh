// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a call tests beside boxes and their overlap: which candidates are valid, and which overlapping pairs count. Both
// paths are compiled with and without it: in the namespaces `staged` and `direct` the tests are empty, and add no code
// to their kernels.
#pragma once

#include "core/model_weights.hpp"
#include "kernels/near.cuh"

#if defined(CROWD_RULED)
#define CROWD_STAGED ruled
#define CROWD_DIRECT ruled_direct
#else
#define CROWD_STAGED staged
#define CROWD_DIRECT direct
#endif

namespace crowd::CROWD_STAGED {

#if defined(CROWD_RULED)

constexpr bool has_rules = true;

struct CallRules {
  PairTest pairs;
  Admission admission;
  RuleArrays arrays;    ///< of all frames
  const float4* whole;  ///< boxes, where frames.boxes are their visible parts
  bool tests_pairs;
  bool admits_all;  ///< no limits: valid are those whose boxes are well-formed, by the overlap rule's offset, and whose
                    ///< scores reach score_threshold
  bool has_two_boxes;  ///< `whole` are others than frames.boxes, and have to be well-formed, too
  ModelWeights weights;

  /// Whether a pair counts that overlaps, of candidates by index in the frame that begins at `input`.
  __device__ bool count(std::size_t input, std::uint32_t hi, std::uint32_t lo, const CrowdNmsBox& hi_box,
                        const CrowdNmsBox& lo_box) const {
    return !tests_pairs || pairs.counts(hi, lo, hi_box, lo_box, arrays.from(input));
  }
  /// The score by which the candidate at `at` in the arrays ranks.
  __device__ float ranked_score(std::size_t at, float given) const {
    return weights.weighted(given, arrays.models, at);
  }
  /// extent_code() of that candidate's whole box.
  __device__ std::uint32_t whole_extent_code(std::size_t at) const {
    return extent_code(whole[at]);
  }
  /// Of that candidate.
  __device__ Validity admit(std::size_t at, const float4& b, float given, float ranked, const PairRule&, float) const {
    const float score = ranked != ranked ? ranked : given;
    return admission.of(as_box(whole[at]), as_box(b), score, arrays.classes ? arrays.classes[at] : 0);
  }
};

inline CallRules call_rules(const Call& call) {
  return {pair_test(call.params),
          admission(call.params),
          call.rule_arrays,
          call.whole,
          needs_pair_test(call.params),
          !has_admission_limits(call.params) && call.rule().offset == static_cast<float>(call.params.pixel_offset),
          call.whole != call.frames.boxes,
          model_weights(call.params)};
}

#else

constexpr bool has_rules = false;

struct CallRules {
  static constexpr bool admits_all = true;
  static constexpr bool has_two_boxes = false;

  __device__ bool count(std::size_t, std::uint32_t, std::uint32_t, const CrowdNmsBox&, const CrowdNmsBox&) const {
    return true;
  }
  __device__ float ranked_score(std::size_t, float given) const {
    return given;
  }
  __device__ std::uint32_t whole_extent_code(std::size_t) const {
    return 0;
  }
  __device__ Validity admit(std::size_t, const float4& b, float score, float, const PairRule& rule,
                            float score_threshold) const {
    return validity(b, score, rule, score_threshold);
  }
};

inline CallRules call_rules(const Call&) {
  return {};
}

#endif

}  // namespace crowd::CROWD_STAGED
