// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// One frame of a batch, as the CPU methods see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "crowd/nms.h"
#include "internal.hpp"

namespace crowd::cpu {

constexpr std::size_t workspace_alignment = 64;

/// The candidates to look at: boxes.size() of them, `scores` as long, `classes` as long or null where classes do not
/// matter.
struct Frame {
  std::span<const CrowdNmsBox> boxes;
  const float* scores;
  const std::int32_t* classes;

  std::uint32_t size() const {
    return static_cast<std::uint32_t>(boxes.size());
  }
};

/// The workspace of a call, shared by its frames one after the other.
struct Scratch {
  std::uint64_t* keys;       // [capacity] rank keys, best first once sorted
  std::uint32_t* survivors;  // [capacity] in rank order
  std::uint32_t* stand_ins;  // [capacity] where the caller has no array for them
  std::uint32_t* tally;      // [capacity] candidates per survivor, by candidate index
  std::size_t bytes;
};

inline Scratch carve(void* base, std::uint32_t capacity) {
  Carver carver(base, workspace_alignment);
  Scratch s{};
  s.keys = carver.take<std::uint64_t>(capacity);
  s.survivors = carver.take<std::uint32_t>(capacity);
  s.stand_ins = carver.take<std::uint32_t>(capacity);
  s.tally = carver.take<std::uint32_t>(capacity);
  s.bytes = carver.bytes();
  return s;
}

/// What a method leaves behind, beside Scratch::survivors and the stand-ins.
struct Outcome {
  std::uint32_t survivors = 0;
  std::uint32_t invalid = 0;
  std::uint32_t below_threshold = 0;
};

/// The methods. `stand_ins` has an entry per candidate, or is null where nobody asked.
Outcome greedy(const CrowdNmsParams& params, const Frame& frame, const Scratch& scratch, std::uint32_t* stand_ins);
Outcome map_reduce(const CrowdNmsParams& params, const Frame& frame, const Scratch& scratch, std::uint32_t* stand_ins);

/// `d_max` slots, of which the frame fills the first.
Outcome paper(const CrowdNmsParams& params, const Frame& frame, std::uint64_t d_max, const Scratch& scratch,
              std::uint32_t* stand_ins);

}  // namespace crowd::cpu
