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

/// A condition for which code can be out of the way.
__device__ inline bool rarely(bool condition) {
  return __builtin_expect(condition, false);
}

/// What the threads of a block share.
struct Verdicts {
  std::uint32_t warp_total[32];
  std::uint32_t waiting;
};

/// What all know of a candidate: a Fate (resolve.cuh), in words that can be added. The sum over up to `most` candidates
/// tells whether one of them is kept, whether all are dead, and whether one is open.
class Standing {
 public:
  static constexpr unsigned most = rivals_max;

  __device__ static constexpr Standing dead() {
    return Standing(0);
  }
  __device__ static constexpr Standing open() {
    return Standing(open_bit);
  }
  /// Survives iff the candidate at `index` does not.
  __device__ static constexpr Standing tied(std::uint32_t index) {
    return Standing(open_bit | tied_bit | index);
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

  // Not of a sum:
  /// Tied or not.
  __device__ constexpr bool is_open() const {
    return word_ & open_bit;
  }
  __device__ constexpr bool is_tied() const {
    return word_ & tied_bit;
  }
  /// Whom one is tied to.
  __device__ constexpr std::uint32_t index() const {
    return word_ % same_bit;
  }
  /// Of one that is kept, if that was said.
  __device__ constexpr std::uint32_t rank() const {
    return word_ % kept_bit;
  }
  /// Fate::follow().
  __device__ constexpr Standing follow(Standing other) const {
    const bool same = word_ & same_bit;
    if (!other.is_open())
      return other.has_kept() == same ? kept() : dead();
    return other.is_tied() ? Standing(other.word_ ^ (same ? 0 : same_bit)) : *this;
  }

 private:
  static constexpr std::uint32_t same_bit = 1u << 16;  ///< survives iff the other does, not iff it does not
  static constexpr std::uint32_t tied_bit = 1u << 17;
  static constexpr std::uint32_t open_bit = 1u << 18;
  static constexpr std::uint32_t kept_bit = 1u << 25;
  static_assert(capacity_max <= same_bit && most * 2 * open_bit <= kept_bit && most <= ~0u / (2 * kept_bit) + 1);

  std::uint32_t word_;
};

/// Dynamic shared memory for a frame of up to `capacity` candidates.
struct Memory {
  std::uint32_t* standing;  ///< by index: Standing::word(); and one dead for `nobody`
  Row* waiting;             ///< those whose best rival does not decide about them, as they see it: reduce_wait.cuh
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

/// Nobody survives so far, before it is known who counts.
__device__ inline void clear(const Memory& memory, Verdicts& shared, unsigned capacity) {
  for (unsigned i = threadIdx.x; i <= capacity; i += blockDim.x)
    memory.standing[i < capacity ? i : nobody] = Standing::dead().word();
  if (threadIdx.x == 0)
    shared.waiting = 0;
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
  __device__ void publish(std::uint32_t index, Standing standing) const {
    memory.standing[index] = standing.word();
  }
};

}  // namespace crowd::direct
