// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// One frame of a batch, as the CPU methods see it, and the workspace they share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/model_weights.hpp"
#include "core/rules.hpp"
#include "core/validity.hpp"
#include "cpu/space.hpp"
#include "crowd/nms.h"

namespace crowd::cpu {

constexpr std::size_t workspace_alignment = 64;

/// The candidates to look at: boxes.size() of them, and arrays as long.
struct Frame {
  std::span<const CrowdNmsBox> boxes;  ///< that overlap is about
  const float* scores;                 ///< by which candidates rank
  const float* given_scores;           ///< that a score_threshold is about; the same where models have no weights
  const std::int32_t* classes;         ///< null where boxes of all classes meet
  const CrowdNmsBox* whole;            ///< boxes, visible or not
  RuleArrays arrays;

  std::uint32_t size() const {
    return static_cast<std::uint32_t>(boxes.size());
  }
};

/// The workspace of a call, used by its frames one after the other. Arrays are [capacity].
struct Scratch {
  std::uint64_t* keys;             ///< what is being sorted; later the space's kinds
  std::uint64_t* spare;            ///< where the sort moves it to
  std::uint32_t* survivors;        ///< in rank order
  std::uint32_t* representatives;  ///< used where the caller has no array for them
  std::uint32_t* index;            ///< the candidate in a slot of the space
  std::uint32_t* by_rank;          ///< the slot of the candidate with that rank
  std::uint32_t* of;               ///< by candidate: its slot, later its members
  Space space;
};

/// The arrays, and through `bytes` how much of the workspace they take. It may be null to learn only that.
Scratch carve(void* workspace, std::uint32_t capacity, std::size_t& bytes);

/// What a method counts.
struct Outcome {
  std::uint32_t survivors = 0;
  std::uint32_t invalid = 0;
  std::uint32_t below_threshold = 0;
  std::uint64_t steps = 0;        ///< of all passes
  bool whole = true;              ///< of all passes
  const float* scores = nullptr;  ///< new ones, by candidate; null: scores stay
  bool merged = false;            ///< the method has filled Job::out itself
};

/// Boxes and scores of survivors, in rank order; null where not asked for.
struct Merged {
  CrowdNmsBox* boxes;
  float* scores;
  std::uint32_t room;  ///< for the best-ranked survivors
};

inline void add(Outcome& outcome, const Pass& pass) {
  outcome.survivors = pass.survivors;
  outcome.steps += pass.steps;
  outcome.whole &= pass.whole;
}

/// What a call has in common for its frames.
struct Rule {
  explicit Rule(const CrowdNmsParams& params)
      : pair_test(crowd::pair_test(params)),
        admission(crowd::admission(params)),
        weights(model_weights(params)),
        tests_pairs(needs_pair_test(params)) {}

  PairTest pair_test;
  Admission admission;
  ModelWeights weights;
  bool tests_pairs;
};

/// What a method is to do. It fills Scratch::survivors and the representatives.
struct Job {
  const CrowdNmsParams& params;
  const Rule& rule;
  const Frame& frame;
  const Scratch& scratch;
  std::uint32_t* representatives;  ///< an entry per candidate, or null if not asked for
  std::uint64_t d_max;             ///< of methods that read paper_d_max: slots, of which the frame fills the first
  Merged out{};                    ///< for methods that merge in a way of their own
  void* own_workspace = nullptr;   ///< as many bytes a candidate as the method's row says
};

}  // namespace crowd::cpu
