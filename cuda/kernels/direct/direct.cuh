// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The direct path: map and reduce of Oro et al. 2020 without the matrix, for frames of up to 4096 candidates. The map
// (map.cu) finds each row's rank and its few suppressors; the reduce (reduce.cu), a block a frame, decides which rows
// survive.
//
// Compiled twice, as the stages are: with CROWD_RULED as `ruled_direct`.
#pragma once

#include "kernels/call_rules.cuh"
#include "kernels/launch.cuh"
#include "kernels/memory.cuh"
#include "kernels/near.cuh"
#include "kernels/tuning.hpp"

namespace crowd::CROWD_DIRECT {

using CROWD_STAGED::call_rules;
using CROWD_STAGED::CallRules;
using CROWD_STAGED::has_rules;

constexpr unsigned capacity_max = tuning::direct_capacity;
/// Largest tile, in words of 32 rows.
constexpr unsigned words_max = 2;

/// Longest list of suppressors. A row with more has a mask instead.
constexpr unsigned suppressors_max = 64;
/// List entries per row that a tile has room for. Lists are whole vectors of list_step entries, padded with
/// no_suppressor.
constexpr unsigned list_room = tuning::direct_list_room;
constexpr unsigned list_step = sizeof(uint4) / sizeof(std::uint16_t);
/// Vectors that a number of rows has room for.
CROWD_HD constexpr std::size_t list_vectors(std::size_t candidates) {
  return candidates * list_room / list_step;
}
static_assert(list_vectors(capacity_max) < 1 << 16);

/// Whole vectors of a row's share of that.
constexpr unsigned list_share = list_room / list_step;

/// An index whose decision is always "suppressed": in place of no candidate.
constexpr std::uint16_t sentinel_suppressed = capacity_max;
/// An index whose decision is always "kept": the suppressor in Row::absent().
constexpr std::uint16_t sentinel_kept = capacity_max + 1;
/// List entries are byte offsets into the decisions: index * list_unit.
constexpr unsigned list_unit = sizeof(std::uint32_t);
constexpr std::uint32_t no_suppressor = sentinel_suppressed * list_unit;
static_assert(no_suppressor < 1 << 16);

/// What the map finds out about a candidate, stored by rank. Two words, loaded and stored as one.
class alignas(8) Row {
 public:
  Row() = default;
  /// `best`: index of one of the best-ranked suppressors; add tied_bit if another one may rank better. `list`: first
  /// vector of the list among the frame's, if there is more than one suppressor.
  __device__ Row(std::uint32_t index, std::uint32_t suppressors, std::uint32_t best, std::uint32_t list)
      : index_suppressors_(suppressors << 16 | index), best_list_(list << 16 | best) {}
  __device__ explicit Row(const uint2& words) : index_suppressors_(words.x), best_list_(words.y) {}
  /// A row with several suppressors and no list: it has a mask (Found::masks), unless `existence_only`.
  __device__ static Row masked(std::uint32_t index, std::uint32_t best) {
    return Row(index, masked_bit, best, 0);
  }

  /// Fills ranks beyond the last valid candidate.
  __device__ static Row absent() {
    return Row(sentinel_suppressed, 1, sentinel_kept, 0);
  }

  __device__ std::uint32_t index() const {
    return index_suppressors_ & 0xffff;
  }
  __device__ bool has_suppressors() const {
    return index_suppressors_ > 0xffff;
  }
  __device__ bool has_one_suppressor() const {
    return suppressors() == 1;
  }
  __device__ bool is_listed() const {
    return suppressors() - 2 < suppressors_max - 1;
  }
  __device__ bool is_masked() const {
    return index_suppressors_ >= masked_bit << 16;
  }
  /// Number of suppressors, or just not 0 if DirectArguments::existence_only. Not for rows that are masked.
  __device__ std::uint32_t suppressors() const {
    return index_suppressors_ >> 16;
  }
  /// Index of one of the best-ranked suppressors.
  __device__ std::uint32_t best() const {
    return best_list_ % tied_bit;
  }
  /// The word that with_decision() has put in place of best() and list().
  __device__ std::uint32_t best_list() const {
    return best_list_;
  }
  /// Whether best() need not be the very best.
  __device__ bool is_tied() const {
    return best_list_ & tied_bit;
  }
  __device__ std::uint32_t list() const {
    return best_list_ >> 16;
  }

  static constexpr std::uint32_t tied_bit = 0x8000;
  static_assert(sentinel_kept < tied_bit);

 private:
  static constexpr std::uint32_t masked_bit = 0x8000;
  static_assert(capacity_max < masked_bit);

  std::uint32_t index_suppressors_;
  std::uint32_t best_list_;
};

/// Candidates of a frame that are not valid. They have no row.
struct RejectedCounts {
  std::uint32_t invalid, below_threshold;
};

/// Words of a mask: a bit for each candidate of a frame, by index, in whole vectors.
constexpr unsigned words_per_vector = sizeof(uint4) / sizeof(std::uint32_t);
constexpr unsigned bits_per_vector = 32 * words_per_vector;
CROWD_HD constexpr std::uint32_t mask_words(std::uint32_t capacity) {
  return (capacity + bits_per_vector - 1) / bits_per_vector * (bits_per_vector / 32);
}

/// A frame's outputs of the map.
struct Found {
  Row* rows;
  uint4* lists;
  std::uint32_t* masks;  ///< by index, of masked rows alone: their suppressors
  RejectedCounts* rejected;
};

/// What every kernel of the direct path takes.
struct CandidateArguments {
  Frames frames;
  CrowdNmsSurvivors out;
  PairRule rule;
  float score_threshold;
  CallRules rules;
};

struct DirectArguments : CandidateArguments {
  std::uint32_t capacity;  ///< rows of a frame; one of more candidates is left to other launches
  Found of_first;          ///< of frame 0; those of the others follow
  ClearedWords cleared;    ///< of the stages, which take larger frames; first is null if all are taken here
  unsigned tile;           ///< rows a block of the map handles
  bool names_best;         ///< representatives or members are asked for: Row::is_tied() matters
  bool existence_only;     ///< it matters only whether a row has a suppressor: map-reduce without representatives and
                           ///< members
  Gathering gathering;
  std::uint32_t tiny;  ///< frames of up to so many candidates have no rows: reduce_tiny(); 0 where all have

  __device__ Found found(std::uint32_t frame) const {
    const std::size_t slot = static_cast<std::size_t>(frame) * capacity;
    return {of_first.rows + slot, of_first.lists + list_vectors(slot), of_first.masks + slot * mask_words(capacity),
            of_first.rejected + frame};
  }
};
static_assert(sizeof(DirectArguments) <= 4096, "what a kernel takes");

/// A frame's first input and size. If the caller gave neither counts nor offsets, both are known on the host, and so
/// before pdl_wait().
struct Extent {
  std::size_t input;
  std::uint32_t n;
  std::uint32_t on_device;

  __device__ Extent(const Frames& frames, std::uint32_t frame)
      : input(materialize(frames.slot(frame))),
        n(materialize(frames.capacity)),
        on_device(materialize(static_cast<std::uint32_t>(frames.counts || frames.offsets))) {}
  /// After pdl_wait(), if `on_device`.
  __device__ void load(const Frames& frames, std::uint32_t frame) {
    n = frames.size(frame);
    input = frames.input(frame);
  }
};

/// Most columns of a thread of the map, and rows of one of the reduce.
constexpr unsigned items_max = 4;
static_assert(capacity_max <= 1024 * items_max);

/// Whether frames may have far fewer candidates than the capacity, which only the device knows, and the direct path
/// takes them all. With 1024 of a capacity of 4096 greedy takes 6.99 us, not 8.11 (H100).
/// Beside the stages 3000 of 16384 would take 12.0, not 11.5 (H200).
inline bool has_few(const Call& call) {
  return (call.frames.counts || call.frames.offsets) && call.frames.capacity <= capacity_max;
}

/// Of a call, with rows in the carver's memory. `tile`: rows a block of the map.
DirectArguments direct_arguments(const Call& call, Carver& carver, unsigned tile);

/// Map and reduce in one launch, for capacities up to tuning::small_capacity; needs thread-block clusters.
void launch_small(const Call& call, const DirectArguments& arguments);
/// Map and reduce as two launches, on any device.
void launch_map(const Call& call, const DirectArguments& arguments);
void launch_reduce(const Call& call, const DirectArguments& arguments);

}  // namespace crowd::CROWD_DIRECT
