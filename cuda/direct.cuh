// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Map and reduce of Oro et al. 2020 for frames of up to a few thousand candidates, without the matrix: the map (map.cu)
// tests every pair and leaves of each row the few columns that beat it; the reduce (reduce.cu) ranks, and makes
// survivors of that, one block a frame.
#pragma once

#include "launch.cuh"
#include "near.cuh"
#include "resolve.cuh"
#include "tuning.hpp"

namespace crowd::direct {

constexpr unsigned capacity_max = tuning::direct_capacity;
static_assert(capacity_max <= 4096, "a thread of the reduce has four rows");

/// Rivals that are too many for the room there is.
constexpr std::uint16_t not_listed = 0xffff;

/// Rivals that a tile has room for, per row. Lists are whole vectors of list_step; what is left over in the last is
/// `nobody`.
constexpr unsigned list_room = tuning::direct_list_room;
constexpr unsigned list_step = sizeof(uint2) / sizeof(std::uint16_t);
constexpr std::uint16_t nobody = capacity_max;

/// What the map finds out about a candidate.
struct Row {
  std::uint16_t rivals;  ///< better-ranked boxes that overlap it
  std::uint16_t best;    ///< the best-ranked of them
  std::uint16_t list;    ///< where they begin among those of the tile of rows, or not_listed
  std::uint16_t unused;
};

/// Arrays of frames * capacity entries, and list_room times as many.
struct Arrays {
  Row* rows;
  std::uint16_t* lists;
};

struct Arguments {
  Frames frames;
  Arrays arrays;
  CrowdNmsSurvivors out;
  PairRule rule;
  float score_threshold;
  unsigned tile;  ///< rows of a block of the map
};

__device__ inline Candidate fetch(const Arguments& a, std::size_t input, std::uint32_t index) {
  return {a.frames.boxes[input + index], score_key(a.frames.scores[input + index]), index,
          a.rule.by_class ? a.frames.classes[input + index] : 0};
}

__device__ inline State standing(const Arguments& a, const float4& box, float score) {
  return crowd::standing(box, score, a.rule, a.score_threshold);
}

__device__ inline bool counts(const Arguments& a, std::size_t input, std::uint32_t index) {
  return standing(a, a.frames.boxes[input + index], a.frames.scores[input + index]) == undecided;
}

/// Whether the metric bounds how far apart boxes can be and overlap.
inline bool bounded(const PairRule& rule) {
  return rule.reach < INFINITY && !rule.apart_too;
}

/// Both in one launch, up to tuning::small_capacity; needs thread-block clusters.
void launch_small(const Call& call, const Arguments& arguments);
/// Both together, on any device.
void launch_map(const Call& call, const Arguments& arguments);
void launch_reduce(const Call& call, const Arguments& arguments);

}  // namespace crowd::direct
