// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the threads of the reduce share: standings of a frame's candidates, and where the map's findings are.
#pragma once

#include "direct.cuh"

namespace crowd::direct {

/// Most candidates of a thread.
constexpr unsigned items_max = 4;
static_assert(capacity_max <= 1024 * items_max);

/// What the threads of a block share.
struct Verdicts {
  std::uint32_t warp_total[32];
  std::uint32_t waiting;
};

/// What all know of a candidate, in a word that is the less the better its rank, and less for one that is kept than for
/// one that is open, and for that than for one that is dead.
class Standing {
 public:
  __device__ Standing(std::uint32_t rank, Fate fate)
      : word_((fate.is_kept()   ? 0
               : fate.is_dead() ? dead
                                : open) |
              rank << rank_shift | fate.word()) {}
  __device__ explicit constexpr Standing(std::uint32_t word) : word_(word) {}

  __device__ std::uint32_t word() const {
    return word_;
  }
  /// Positions are indices: the word of a fate has no more than 16 bits.
  __device__ Fate fate() const {
    return Fate::of_word(word_ & 0xffff);
  }
  __device__ std::uint32_t rank() const {
    return word_ >> rank_shift & (capacity_max - 1);
  }
  /// A word that orders as this does, and names the candidate.
  __device__ std::uint32_t of(std::uint32_t index) const {
    return (word_ & 0xffff0000u) | index;
  }
  /// 0 if kept, 1 if open, 3 if dead; so for of(), too.
  __device__ static std::uint32_t kind(std::uint32_t word) {
    return word >> kind_shift;
  }

 private:
  static constexpr unsigned rank_shift = 16;
  static constexpr unsigned kind_shift = 30;
  static constexpr std::uint32_t open = 1u << kind_shift;
  static constexpr std::uint32_t dead = 3u << kind_shift;
  static_assert((capacity_max - 1) >> (kind_shift - rank_shift) == 0);

  std::uint32_t word_;
};

/// Dynamic shared memory for a frame of up to `capacity` candidates.
struct Memory {
  std::uint32_t* standing;  ///< by index: Standing; and one dead for `nobody`
  Row* waiting;             ///< those whose best rival does not decide about them
  std::uint32_t* members;   ///< by index; takes the place of those who wait
};

/// One for each index, one for `nobody`, an even number.
constexpr unsigned standings = capacity_max + 2;

CROWD_HD constexpr std::size_t memory_bytes(unsigned capacity) {
  return standings * sizeof(std::uint32_t) + capacity * sizeof(Row);
}
static_assert(memory_bytes(capacity_max) <= 60 << 10, "fits every GPU since Turing");

__device__ inline Memory carve(uint4* memory) {
  Memory m;
  m.standing = reinterpret_cast<std::uint32_t*>(memory);
  m.waiting = reinterpret_cast<Row*>(m.standing + standings);
  m.members = reinterpret_cast<std::uint32_t*>(m.waiting);
  return m;
}

struct View {
  const Arguments& a;
  Verdicts& shared;
  Memory memory;
  std::uint32_t frame, n;
  std::size_t input;
  Found found;

  __device__ const uint2* list(std::uint32_t number) const {
    return reinterpret_cast<const uint2*>(found.lists) + number;
  }
  __device__ Standing standing(std::uint32_t index) const {
    return Standing(memory.standing[index]);
  }
  __device__ Fate fate(std::uint32_t index) const {
    return standing(index).fate();
  }
  __device__ void publish(std::uint32_t index, std::uint32_t rank, Fate fate) const {
    memory.standing[index] = Standing(rank, fate).word();
  }
};

}  // namespace crowd::direct
