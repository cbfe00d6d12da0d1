// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the threads of the reduce share: standings of a frame's candidates, and where the map's findings are.
#pragma once

#include "kernels/direct/direct.cuh"

namespace crowd::direct {

/// Most candidates of a thread.
constexpr unsigned items_max = 4;
static_assert(capacity_max <= 1024 * items_max);

/// What the threads of a block share.
struct Verdicts {
  alignas(sizeof(uint4)) std::uint32_t kept[capacity_max / 32];  ///< by rank, a bit each
  std::uint32_t waiting;
};

/// What all know of a candidate: a Fate (resolve.cuh), in words that can be added. The sum over up to `most` candidates
/// tells whether one of them is kept, whether all are dead, and whether a single one is open; then it is that one's
/// word.
class Standing {
 public:
  static constexpr unsigned most = rivals_max;

  __device__ static constexpr Standing dead() {
    return Standing(0);
  }
  /// Survives iff the candidate at `index` does: what is known at first, of itself.
  __device__ static constexpr Standing open(std::uint32_t index) {
    return Standing(open_bit | index);
  }
  /// Survives iff the candidate at `index` does not.
  __device__ static constexpr Standing beaten_by(std::uint32_t index) {
    return open(index).beaten();
  }
  __device__ static constexpr Standing kept(std::uint32_t rank = 0) {
    return Standing(kept_bit | rank);
  }
  __device__ explicit constexpr Standing(std::uint32_t word) : word_(word) {}

  __device__ constexpr std::uint32_t word() const {
    return word_;
  }
  __device__ constexpr bool has_kept() const {
    return word_ >= kept_bit;
  }
  __device__ constexpr bool all_dead() const {
    return word_ == 0;
  }
  /// Unless it has_kept().
  __device__ constexpr bool has_one_open() const {
    return word_ / open_bit == 1;
  }

  /// What one is whose rivals are these, unless several are open.
  __device__ constexpr Standing beaten() const {
    return has_kept() ? dead() : all_dead() ? kept() : Standing(word_ ^ other_bit);
  }

  // Not of a sum:
  __device__ constexpr bool is_open() const {
    return word_ & open_bit;
  }
  /// Of one that is open: whom it is tied to, if not to itself.
  __device__ constexpr std::uint32_t index() const {
    return word_ % other_bit;
  }
  /// Of one that is kept, if that was said.
  __device__ constexpr std::uint32_t rank() const {
    return word_ % kept_bit;
  }
  /// What one knows by this that `tie` ties to it: Fate::follow().
  __device__ constexpr Standing follow(Standing tie) const {
    return tie.word_ & other_bit ? beaten() : *this;
  }

 private:
  static constexpr std::uint32_t other_bit = 1u << 13;  ///< survives iff the other does not
  static constexpr std::uint32_t open_bit = 1u << 14;
  static constexpr std::uint32_t kept_bit = 1u << 21;
  // The sum of what is below may reach the open bit if several are open, which are several then all the same.
  static_assert(capacity_max < other_bit && most * 2 * open_bit <= kept_bit && most <= ~0u / (2 * kept_bit) + 1);

  std::uint32_t word_;
};

/// What is known of a candidate that waits when it is listed.
__device__ inline Standing standing_when_listed(const Row& row) {
  return row.has_one_rival() ? Standing::beaten_by(row.best()) : Standing::open(row.index());
}

/// Dynamic shared memory for a frame of up to `capacity` candidates.
struct Memory {
  std::uint32_t* standing;  ///< by index: Standing::word(); `nobody` and `nemesis` among them
  Row* waiting;             ///< those whose best rival does not decide about them, as they see it: pending.cuh
  std::uint16_t* ranks;     ///< theirs
  std::uint32_t* members;   ///< by index; takes the place of those who wait
};

/// For each index, `nobody` and `nemesis`; an even number.
constexpr unsigned standings = capacity_max + 2;
static_assert(standings * sizeof(std::uint32_t) % alignof(Row) == 0);

CROWD_HD constexpr std::size_t memory_bytes(unsigned capacity) {
  return standings * sizeof(std::uint32_t) + capacity * (sizeof(Row) + sizeof(std::uint16_t));
}
static_assert(memory_bytes(capacity_max) <= 60 << 10, "fits every GPU since Turing");

__device__ inline Memory carve(uint4* memory, unsigned capacity) {
  Memory m;
  m.standing = reinterpret_cast<std::uint32_t*>(memory);
  m.waiting = reinterpret_cast<Row*>(m.standing + standings);
  m.ranks = reinterpret_cast<std::uint16_t*>(m.waiting + capacity);
  m.members = reinterpret_cast<std::uint32_t*>(m.waiting);
  return m;
}

/// Nobody survives so far, before it is known who counts.
__device__ inline void clear(const Memory& memory, Verdicts& shared, unsigned capacity) {
  for (unsigned i = threadIdx.x; i < capacity; i += blockDim.x)
    memory.standing[i] = Standing::dead().word();
  for (unsigned k = threadIdx.x; k < capacity_max / 32; k += blockDim.x)
    shared.kept[k] = 0;
  if (threadIdx.x == 0) {
    memory.standing[nobody] = Standing::dead().word();
    memory.standing[nemesis] = Standing::kept().word();
    shared.waiting = 0;
  }
}

struct View {
  const Arguments& a;
  Verdicts& shared;
  Memory memory;
  std::uint32_t frame, n;
  std::size_t input;
  Found found;

  __device__ const uint4* list(std::uint32_t number) const {
    return found.lists + number;
  }
  // Words are read while others write: volatile, so that they are read each time anew.
  __device__ Standing standing(std::uint32_t index) const {
    return Standing(*const_cast<volatile const std::uint32_t*>(memory.standing + index));
  }
  /// Between barriers.
  __device__ void publish(std::uint32_t index, Standing standing) const {
    memory.standing[index] = standing.word();
  }
  /// While others look.
  __device__ void announce(std::uint32_t index, Standing standing) const {
    atomicExch(memory.standing + index, standing.word());
  }
  /// Of those who wait, number `place` survives.
  __device__ void keep(std::uint32_t place) const {
    const std::uint32_t rank = memory.ranks[place];
    atomicOr(&shared.kept[rank / 32], 1u << rank % 32);
  }
};

}  // namespace crowd::direct
