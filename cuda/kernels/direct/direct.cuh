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

/// Longest list of rivals.
constexpr unsigned rivals_max = 64;
/// Rivals that a tile has room for, per row. Lists are whole vectors of list_step; what is left over in the last is
/// no_rival.
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
constexpr std::uint16_t nobody = capacity_max;
/// Kept, in the place of one that beats all that do not count.
constexpr std::uint16_t nemesis = capacity_max + 1;
/// A rival on a list is an offset in bytes, of its word among those of all candidates.
constexpr unsigned list_unit = sizeof(std::uint32_t);
constexpr std::uint32_t no_rival = nobody * list_unit;
static_assert(no_rival < 1 << 16);

/// What the map finds out about a candidate; in rank order. Two words, for whole loads and stores.
class alignas(8) Row {
 public:
  Row() = default;
  /// `list`: the vector of the frame's that the rivals begin at, if they are more than one.
  __device__ Row(std::uint32_t index, std::uint32_t rivals, std::uint32_t best, std::uint32_t list)
      : index_rivals_(rivals << 16 | index), best_list_(list << 16 | best) {}
  __device__ explicit Row(const uint2& words) : index_rivals_(words.x), best_list_(words.y) {}
  /// One with several rivals and no list: there is no room for it, or nobody asks.
  __device__ static Row unlisted(std::uint32_t index, std::uint32_t best, std::uint32_t rank, std::uint32_t from = 0) {
    return Row(index, unlisted_bit | from, best, rank);
  }

  /// In the place of a candidate that does not count.
  __device__ static Row absent() {
    return Row(nobody, 1, nemesis, 0);
  }

  __device__ std::uint32_t index() const {
    return index_rivals_ & 0xffff;
  }
  __device__ bool has_rivals() const {
    return index_rivals_ > 0xffff;
  }
  __device__ bool has_one_rival() const {
    return rivals() == 1;
  }
  __device__ bool is_listed() const {
    return rivals() - 2 < rivals_max - 1;
  }
  __device__ bool is_unlisted() const {
    return index_rivals_ >= unlisted_bit << 16;
  }
  /// Better-ranked boxes that overlap it, at least so many if Arguments::first_rival; not of one that is_unlisted().
  __device__ std::uint32_t rivals() const {
    return index_rivals_ >> 16;
  }
  /// One of the best-ranked of them.
  __device__ std::uint32_t best() const {
    return best_list_ & 0xffff;
  }
  __device__ std::uint32_t list() const {
    return best_list_ >> 16;
  }
  /// Of one that is_unlisted(): its own rank, and the one from which on rivals matter.
  __device__ std::uint32_t rank() const {
    return best_list_ >> 16;
  }
  __device__ std::uint32_t from() const {
    return rivals() - unlisted_bit;
  }

 private:
  static constexpr std::uint32_t unlisted_bit = 0x8000;
  static_assert(capacity_max < unlisted_bit);

  std::uint32_t index_rivals_;
  std::uint32_t best_list_;
};

/// Candidates of a frame that do not count, hence have no row.
struct Tally {
  std::uint32_t malformed, low;
};

/// Where the map writes.
struct Found {
  Row* rows;
  uint4* lists;
  Tally* tally;
};

/// Found of all frames, which follow one another.
struct Arrays {
  Found of_first;

  /// `slot`: Frames::slot().
  __device__ Found of(std::uint32_t frame, std::size_t slot) const {
    return {of_first.rows + slot, of_first.lists + list_vectors(slot), of_first.tally + frame};
  }
};

struct Arguments {
  Frames frames;
  Arrays arrays;
  CrowdNmsSurvivors out;
  PairRule rule;
  float score_threshold;
  unsigned tile;     ///< rows of a block of the map
  bool first_rival;  ///< that there is one is all that is asked for: map-reduce without representatives and members
};

/// Where a frame is and how large. If neither counts nor offsets are on the device, that is known before
/// await_previous(): it fills its capacity.
struct Extent {
  std::size_t input;
  std::uint32_t n;
  std::uint32_t on_device;

  __device__ Extent(const Frames& frames, std::uint32_t frame)
      : input(at_hand(frames.slot(frame))),
        n(at_hand(frames.capacity)),
        on_device(at_hand(static_cast<std::uint32_t>(frames.counts || frames.offsets))) {}
  /// After await_previous(), if `on_device`.
  __device__ void load(const Frames& frames, std::uint32_t frame) {
    n = frames.size(frame);
    input = frames.input(frame);
  }
};

__device__ inline Candidate fetch(const Arguments& a, std::size_t input, std::uint32_t index) {
  return {a.frames.boxes[input + index], score_key(a.frames.scores[input + index]), index,
          a.rule.by_class ? a.frames.classes[input + index] : 0};
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
