// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The rules (CrowdNmsRule), a row each: which pairs of overlapping boxes count, for host and device.
//
// Every pair that counts overlaps by overlap_rule(), which a search can use. What it finds, PairTest::counts() sifts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/class_table.hpp"
#include "core/derived_metrics.hpp"
#include "core/overlap.hpp"
#include "core/table.hpp"

namespace crowd {

/// What rules and methods read of candidates beside boxes and scores; null where nothing asks for it.
struct RuleArrays {
  const std::int32_t* classes;  ///< of settings of classes; null: all of class 0
  const float* densities;
  const std::uint32_t* proposals;
  const std::uint32_t* models;
  const float* features;
  std::uint32_t feature_length;

  /// Those of a frame that begins at `first`.
  CROWD_HD RuleArrays from(std::size_t first) const {
    return {classes ? classes + first : nullptr,
            densities ? densities + first : nullptr,
            proposals ? proposals + first : nullptr,
            models ? models + first : nullptr,
            features ? features + first * feature_length : nullptr,
            feature_length};
  }
};

inline RuleArrays rule_arrays(const CrowdNmsCandidates& candidates) {
  return {candidates.classes, candidates.densities, candidates.proposals,
          candidates.models,  candidates.features,  candidates.feature_length};
}

/// An array that a rule reads, and the bytes of a candidate's entry; 0: it reads none.
struct RuleArray {
  const void* array;
  std::size_t size;
};

/// Two candidates of a frame, better-ranked `hi` and `lo`.
struct RulePair {
  std::uint32_t hi, lo;
  float ratio;      ///< by the metric
  float threshold;  ///< of the class of `hi`
  bool or_equal;
  double max_square_distance;  ///< of features

  CROWD_HD bool passes(float bound) const {
    return or_equal ? ratio >= bound : ratio > bound;
  }
};

struct Plain {
  static constexpr CrowdNmsRule value = CROWD_NMS_PLAIN;
  static constexpr char name[] = "plain";
  static constexpr char description[] = "every overlap counts";
  static RuleArray array(const CrowdNmsCandidates&) {
    return {nullptr, 0};
  }
  CROWD_HD static bool counts(const RulePair& pair, const RuleArrays&) {
    return pair.passes(pair.threshold);
  }
};

struct Adaptive {
  static constexpr CrowdNmsRule value = CROWD_NMS_ADAPTIVE;
  static constexpr char name[] = "adaptive";
  static constexpr char description[] = "in a crowd more overlap is needed: where objects are dense (Liu et al. 2019)";
  static RuleArray array(const CrowdNmsCandidates& candidates) {
    return {candidates.densities, sizeof(float)};
  }
  CROWD_HD static bool counts(const RulePair& pair, const RuleArrays& arrays) {
    const float density = arrays.densities[pair.hi];
    return pair.passes(density > pair.threshold ? density : pair.threshold);
  }
};

struct Set {
  static constexpr CrowdNmsRule value = CROWD_NMS_SET;
  static constexpr char name[] = "set";
  static constexpr char description[] = "candidates of one proposal never suppress each other (Chu et al. 2020)";
  static RuleArray array(const CrowdNmsCandidates& candidates) {
    return {candidates.proposals, sizeof(std::uint32_t)};
  }
  CROWD_HD static bool counts(const RulePair& pair, const RuleArrays& arrays) {
    return pair.passes(pair.threshold) && arrays.proposals[pair.hi] != arrays.proposals[pair.lo];
  }
};

/// The boxes that are searched are the visible ones.
struct Visible {
  static constexpr CrowdNmsRule value = CROWD_NMS_VISIBLE;
  static constexpr char name[] = "visible";
  static constexpr char description[] = "overlaps of the boxes' visible parts count (Huang et al. 2020)";
  static RuleArray array(const CrowdNmsCandidates& candidates) {
    return {candidates.visible, sizeof(CrowdNmsBox)};
  }
  CROWD_HD static bool counts(const RulePair& pair, const RuleArrays&) {
    return pair.passes(pair.threshold);
  }
};

struct Feature {
  static constexpr CrowdNmsRule value = CROWD_NMS_FEATURE;
  static constexpr char name[] = "feature";
  static constexpr char description[] = "boxes that overlap a little count where they look alike (Salscheider 2020)";
  static RuleArray array(const CrowdNmsCandidates& candidates) {
    return {candidates.features, candidates.feature_length * sizeof(float)};
  }
  CROWD_HD static float square_distance(const RulePair& pair, const RuleArrays& arrays) {
    const float* const hi = arrays.features + std::size_t{pair.hi} * arrays.feature_length;
    const float* const lo = arrays.features + std::size_t{pair.lo} * arrays.feature_length;
    float sum = 0;
    for (std::uint32_t k = 0; k < arrays.feature_length; ++k) {
      const float difference = hi[k] - lo[k];
      sum += difference * difference;
    }
    return sum;
  }
  CROWD_HD static bool counts(const RulePair& pair, const RuleArrays& arrays) {
    return pair.passes(pair.threshold) ||
           static_cast<double>(square_distance(pair, arrays)) <= pair.max_square_distance;
  }
};

using Rules = Table<Plain, Adaptive, Set, Visible, Feature>;
static_assert(in_order(Rules{}), "rows are in the order of CrowdNmsRule");

template <typename... Row>
CROWD_HD bool rule_counts(Table<Row...>, CrowdNmsRule rule, const RulePair& pair, const RuleArrays& arrays) {
  bool result = false;
  ((rule == Row::value ? void(result = Row::counts(pair, arrays)) : void()), ...);
  return result;
}

/// What the rule reads of the candidates.
template <typename... Row>
RuleArray rule_array(Table<Row...>, CrowdNmsRule rule, const CrowdNmsCandidates& candidates) {
  RuleArray result{};
  ((rule == Row::value ? void(result = Row::array(candidates)) : void()), ...);
  return result;
}

/// The min overlap by which a pair may count.
inline double min_overlap(const CrowdNmsParams& params) {
  if (params.rule == CROWD_NMS_FEATURE)
    return params.min_overlap;
  double min = params.overlap_threshold;
  for (std::uint32_t i = 0; i < params.class_count; ++i)
    min = std::fmin(min, params.class_settings[i].overlap_threshold);  // not NaN
  return min;
}

/// The rule of the search: every pair that counts overlaps by it.
inline OverlapRule overlap_rule(const CrowdNmsParams& params) {
  return base_rule(DerivedMetrics{},
                   {params.metric, params.comparator == CROWD_NMS_GREATER_EQUAL,
                    rounded_threshold(params, min_overlap(params)), static_cast<float>(params.pixel_offset)});
}

/// Whether pairs may overlap by overlap_rule() and not count.
inline bool needs_pair_test(const CrowdNmsParams& params) {
  const auto sets_overlap = [](const CrowdNmsClassSettings& own) { return !std::isnan(own.overlap_threshold); };
  return is_derived(params.metric) || (params.rule != CROWD_NMS_PLAIN && params.rule != CROWD_NMS_VISIBLE) ||
         std::any_of(params.class_settings, params.class_settings + params.class_count, sets_overlap);
}

/// Which pairs of overlapping boxes count, made from the params.
struct PairTest {
  OverlapRule overlap;  ///< of the search
  CrowdNmsMetric metric;
  CrowdNmsRule rule;
  bool or_equal;
  float min_threshold;  ///< by which a pair overlaps at least
  float threshold;      ///< of classes that have none of their own
  double max_square_distance;
  ClassTable classes;

  CROWD_HD float threshold_of(std::uint32_t candidate, const RuleArrays& arrays) const {
    const std::uint32_t place =
        classes.count ? classes.find(arrays.classes ? arrays.classes[candidate] : 0) : ClassTable::none;
    return place == ClassTable::none ? threshold : classes.overlap_threshold[place];
  }

  /// Of two boxes that overlap by `overlap`.
  CROWD_HD float ratio(const CrowdNmsBox& hi_box, const CrowdNmsBox& lo_box) const {
    return derived_ratio(DerivedMetrics{}, metric, ratio_of(hi_box, lo_box, overlap), hi_box, lo_box, overlap);
  }

  /// Of two candidates of one class, or of any where classes do not matter, whose boxes overlap by `overlap`.
  CROWD_HD bool counts(std::uint32_t hi, std::uint32_t lo, const CrowdNmsBox& hi_box, const CrowdNmsBox& lo_box,
                       const RuleArrays& arrays) const {
    const RulePair pair{hi, lo, ratio(hi_box, lo_box), threshold_of(hi, arrays), or_equal, max_square_distance};
    return pair.passes(min_threshold) && rule_counts(Rules{}, rule, pair, arrays);
  }
};

inline PairTest pair_test(const CrowdNmsParams& params) {
  const double distance = params.max_distance;
  return {overlap_rule(params),
          params.metric,
          params.rule,
          params.comparator == CROWD_NMS_GREATER_EQUAL,
          rounded_threshold(params, min_overlap(params)),
          rounded_threshold(params, params.overlap_threshold),
          distance * distance,
          class_table(params)};
}

}  // namespace crowd
