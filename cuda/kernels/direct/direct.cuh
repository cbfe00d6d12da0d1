// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Map and reduce of Oro et al. 2020 for frames of up to a few thousand candidates, without the matrix: the map (map.cu)
// finds of each row its rank and the few columns that beat it; the reduce (reduce.cu) makes survivors of that, one
// block a frame.
#pragma once

#include "kernels/launch.cuh"
#include "kernels/near.cuh"
#include "kernels/tuning.hpp"

namespace crowd::direct {

constexpr unsigned capacity_max = tuning::direct_capacity;
/// Most rows of a tile of the map, in words of 32.
constexpr unsigned words_max = 2;

/// Longest list of suppressors.
constexpr unsigned suppressors_max = 64;
/// Suppressors that a tile has room for, per row. PaperLists are whole vectors of list_step; what is left over in the
/// last is no_suppressor.
constexpr unsigned list_room = tuning::direct_list_room;
constexpr unsigned list_step = sizeof(uint4) / sizeof(std::uint16_t);
/// Vectors that the lists of so many candidates have room for.
CROWD_HD constexpr std::size_t list_vectors(std::size_t candidates) {
  return candidates * list_room / list_step;
}
static_assert(list_vectors(capacity_max) < 1 << 16);

/// Whole vectors in a candidate's share of that.
constexpr unsigned list_share = list_room / list_step;

/// Dead, in the place of a candidate that there is none of.
constexpr std::uint16_t sentinel_suppressed = capacity_max;
/// Kept, in the place of one that beats all that do not count.
constexpr std::uint16_t sentinel_kept = capacity_max + 1;
/// A suppressor on a list is an offset in bytes, of its word among those of all candidates.
constexpr unsigned list_unit = sizeof(std::uint32_t);
constexpr std::uint32_t no_suppressor = sentinel_suppressed * list_unit;
static_assert(no_suppressor < 1 << 16);

/// What the map finds out about a candidate; in rank order. Two words, for whole loads and stores.
class alignas(8) Row {
 public:
  Row() = default;
  /// `list`: the vector of the frame's that the suppressors begin at, if they are more than one.
  __device__ Row(std::uint32_t index, std::uint32_t suppressors, std::uint32_t best, std::uint32_t list)
      : index_suppressors_(suppressors << 16 | index), best_list_(list << 16 | best) {}
  __device__ explicit Row(const uint2& words) : index_suppressors_(words.x), best_list_(words.y) {}
  /// One with several suppressors and no list: there is no room for it, or sentinel_suppressed asks.
  __device__ static Row unlisted(std::uint32_t index, std::uint32_t best, std::uint32_t rank, std::uint32_t from = 0) {
    return Row(index, unlisted_bit | from, best, rank);
  }

  /// In the place of a candidate that does not count.
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
  __device__ bool is_unlisted() const {
    return index_suppressors_ >= unlisted_bit << 16;
  }
  /// Better-ranked boxes that overlap it, at min_key so many if DirectArguments::existence_only; not of one that
  /// is_unlisted().
  __device__ std::uint32_t suppressors() const {
    return index_suppressors_ >> 16;
  }
  /// One of the best-ranked of them.
  __device__ std::uint32_t best() const {
    return best_list_ & 0xffff;
  }
  __device__ std::uint32_t list() const {
    return best_list_ >> 16;
  }
  /// Of one that is_unlisted(): its own rank, and the one from which on suppressors matter.
  __device__ std::uint32_t rank() const {
    return best_list_ >> 16;
  }
  __device__ std::uint32_t from() const {
    return suppressors() - unlisted_bit;
  }

 private:
  static constexpr std::uint32_t unlisted_bit = 0x8000;
  static_assert(capacity_max < unlisted_bit);

  std::uint32_t index_suppressors_;
  std::uint32_t best_list_;
};

/// Candidates of a frame that do not count, hence have no row.
struct RejectedCounts {
  std::uint32_t invalid, below_threshold;
};

/// Where the map writes.
struct Found {
  Row* rows;
  uint4* lists;
  RejectedCounts* rejected;
};

/// Found of all frames, which follow one another.
struct DirectArrays {
  Found of_first;

  /// `slot`: Frames::slot().
  __device__ Found of(std::uint32_t frame, std::size_t slot) const {
    return {of_first.rows + slot, of_first.lists + list_vectors(slot), of_first.rejected + frame};
  }
};

struct DirectArguments {
  Frames frames;
  DirectArrays arrays;
  CrowdNmsSurvivors out;
  PairRule rule;
  float score_threshold;
  unsigned tile;        ///< rows of a block of the map
  bool existence_only;  ///< that there is one is all that is asked for: map-reduce without representatives and members
};

/// Where a frame is and how large. If neither counts nor offsets are on the device, that is known before
/// pdl_wait(): it fills its capacity.
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

__device__ inline Candidate fetch(const DirectArguments& a, std::size_t input, std::uint32_t index) {
  return {a.frames.boxes[input + index], score_key(a.frames.scores[input + index]), index,
          a.rule.by_class ? a.frames.classes[input + index] : 0};
}

/// Whether the metric bounds how far apart boxes can be and overlap.
inline bool bounded(const PairRule& rule) {
  return rule.reach < INFINITY && !rule.disjoint_too;
}

/// Both in one launch, up to tuning::small_capacity; needs thread-block clusters.
void launch_small(const Call& call, const DirectArguments& arguments);
/// Both together, on any device.
void launch_map(const Call& call, const DirectArguments& arguments);
void launch_reduce(const Call& call, const DirectArguments& arguments);

}  // namespace crowd::direct
