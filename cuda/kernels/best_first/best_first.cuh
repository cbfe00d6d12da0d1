// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Best first: greedy for many frames of crowds, each of more candidates than the direct path takes. A frame's best
// candidates are decided by map and reduce, whatever the others are; the others are compared with the survivors; and
// what is left, little in a crowd, is decided by map and reduce, too. Frames that are no crowds, and those of which too
// many are left, are left to the stages.
#pragma once

#include "kernels/direct/direct.cuh"
#include "kernels/tuning.hpp"

namespace crowd::CROWD_DIRECT {

/// Most candidates of a frame that are decided together.
constexpr std::uint32_t chosen_room = tuning::best_first_room;

/// Candidates that are decided together, by index.
struct Chosen {
  float4* boxes;
  float* scores;
  std::int32_t* classes;   ///< if classes matter
  std::uint32_t* indices;  ///< in the frame
};

/// What is known of a frame between the launches.
struct BestFirstFrame {
  std::uint64_t least;      ///< rank key of the last of the best; 0: all are chosen
  std::uint32_t survivors;  ///< of the best
  std::uint32_t invalid, below_threshold;
};

/// Entries of a frame follow those of the one before.
struct BestFirstArrays {
  Chosen chosen;             ///< [frames * chosen_room]
  std::uint32_t* sizes;      ///< [frames]: how many are chosen
  std::uint32_t* survivors;  ///< [frames * chosen_room]: of these, in rank order
  CrowdNmsReport* reports;   ///< [frames]: of these
  BestFirstFrame* states;    ///< [frames]
  std::uint32_t* left;       ///< [frames * words]: a bit for each candidate that no survivor of the best suppresses
};

/// Of BestFirstArrays::left, for a frame.
CROWD_HD constexpr std::uint32_t left_words(std::uint32_t capacity) {
  return ceil_div(capacity, 32);
}

struct BestFirstArguments {
  Frames frames;
  CrowdNmsSurvivors out;
  PairRule rule;
  float score_threshold;
  BestFirstArrays arrays;
  ClearedWords cleared;    ///< of the stages
  std::uint32_t* settled;  ///< [frames]: Frames::settled
};
static_assert(sizeof(BestFirstArguments) <= 4096, "what a kernel takes");

/// Survivors of a frame's chosen candidates, by rank.
struct ChosenSurvivors {
  const BestFirstArrays& arrays;
  std::size_t slot;
  std::uint32_t count;

  __device__ ChosenSurvivors(const BestFirstArrays& its, std::uint32_t frame)
      : arrays(its), slot(std::size_t{frame} * chosen_room), count(its.reports[frame].survivors) {}
  /// Where it is among the chosen ones of all frames.
  __device__ std::size_t chosen(std::uint32_t rank) const {
    return slot + arrays.survivors[slot + rank];
  }
};

/// Writes them behind `before` others of the frame. For a whole block.
__device__ inline void write_survivors(const BestFirstArguments& a, const ChosenSurvivors& survivors,
                                       std::uint32_t frame, std::uint32_t before) {
  const std::uint32_t room = a.out.max_survivors;
  for (std::uint32_t rank = threadIdx.x; rank < survivors.count && before + rank < room; rank += blockDim.x)
    a.out.survivors[std::size_t{frame} * room + before + rank] = a.arrays.chosen.indices[survivors.chosen(rank)];
}

// The launches, a block a frame but for drop_suppressed(). Between them, map and reduce of what is chosen.

/// Chooses a crowd's best candidates, and clears what the stages count in.
__global__ void choose_best(BestFirstArguments a);
/// Finds which of the others no survivor of the best suppresses; blocks of tuning::best_first_block candidates.
__global__ void drop_suppressed(BestFirstArguments a);
/// Writes the best survivors, and chooses what is left.
__global__ void choose_left(BestFirstArguments a);
/// Writes the other survivors and the report.
__global__ void write_settled(BestFirstArguments a);

}  // namespace crowd::CROWD_DIRECT
