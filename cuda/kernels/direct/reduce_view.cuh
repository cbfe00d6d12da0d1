// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the threads of the reduce share: decisions of a frame's candidates, and where the map's findings are.
#pragma once

#include "kernels/direct/direct.cuh"

namespace crowd::direct {

/// Most candidates of a thread.
constexpr unsigned items_max = 4;
static_assert(capacity_max <= 1024 * items_max);

/// What the threads of a block share.
struct ReduceShared {
  alignas(sizeof(uint4)) std::uint32_t kept[capacity_max / 32];  ///< by rank, a bit each
  std::uint32_t pending;
};

/// What all know of a candidate: a Fate (resolve.cuh), in words that can be added. The sum over up to `most` candidates
/// tells whether one of them is kept, whether all are suppressed, and whether a single one is open; then it is that
/// one's word.
class PublishedDecision {
 public:
  static constexpr unsigned most = suppressors_max;

  __device__ static constexpr PublishedDecision suppressed() {
    return PublishedDecision(0);
  }
  /// Survives iff the candidate at `index` does: what is known at first, of itself.
  __device__ static constexpr PublishedDecision undecided(std::uint32_t index) {
    return PublishedDecision(undecided_bit | index);
  }
  /// Survives iff the candidate at `index` does not.
  __device__ static constexpr PublishedDecision opposite_of(std::uint32_t index) {
    return undecided(index).implied();
  }
  __device__ static constexpr PublishedDecision kept(std::uint32_t rank = 0) {
    return PublishedDecision(kept_bit | rank);
  }
  __device__ explicit constexpr PublishedDecision(std::uint32_t word) : word_(word) {}

  __device__ constexpr std::uint32_t word() const {
    return word_;
  }
  __device__ constexpr bool has_kept() const {
    return word_ >= kept_bit;
  }
  __device__ constexpr bool all_suppressed() const {
    return word_ == 0;
  }
  /// Unless it has_kept().
  __device__ constexpr bool has_one_undecided() const {
    return word_ / undecided_bit == 1;
  }

  /// What one is lane suppressors are these, unless several are open.
  __device__ constexpr PublishedDecision implied() const {
    return has_kept() ? suppressed() : all_suppressed() ? kept() : PublishedDecision(word_ ^ opposite_bit);
  }

  // Not of a sum:
  __device__ constexpr bool is_undecided() const {
    return word_ & undecided_bit;
  }
  /// Of one that is open: whom it is tied to, if not to itself.
  __device__ constexpr std::uint32_t index() const {
    return word_ % opposite_bit;
  }
  /// Of one that is kept, if that was said.
  __device__ constexpr std::uint32_t rank() const {
    return word_ % kept_bit;
  }
  /// What one knows by this that `alias` ties to it: Fate::follow().
  __device__ constexpr PublishedDecision follow(PublishedDecision alias) const {
    return alias.word_ & opposite_bit ? implied() : *this;
  }

 private:
  static constexpr std::uint32_t opposite_bit = 1u << 13;  ///< survives iff the other does not
  static constexpr std::uint32_t undecided_bit = 1u << 14;
  static constexpr std::uint32_t kept_bit = 1u << 21;
  // The sum of what is below may reach the open bit if several are open, which are several then all the same.
  static_assert(capacity_max < opposite_bit && most * 2 * undecided_bit <= kept_bit &&
                most <= ~0u / (2 * kept_bit) + 1);

  std::uint32_t word_;
};

/// What is known of a candidate that waits when it is listed.
__device__ inline PublishedDecision initial_decision(const Row& row) {
  return row.has_one_suppressor() ? PublishedDecision::opposite_of(row.best())
                                  : PublishedDecision::undecided(row.index());
}

/// Dynamic shared memory for a frame of up to `capacity` candidates.
struct Memory {
  std::uint32_t*
      decisions;         ///< by index: PublishedDecision::word(); `sentinel_suppressed` and `sentinel_kept` among them
  Row* pending;          ///< those lane best suppressor does not decide about them, as they see it: pending.cuh
  std::uint16_t* ranks;  ///< theirs
  std::uint32_t* members;  ///< by index; takes the place of those who wait
};

/// For each index, `sentinel_suppressed` and `sentinel_kept`; an even number.
constexpr unsigned decision_words = capacity_max + 2;
static_assert(decision_words * sizeof(std::uint32_t) % alignof(Row) == 0);

CROWD_HD constexpr std::size_t memory_bytes(unsigned capacity) {
  return decision_words * sizeof(std::uint32_t) + capacity * (sizeof(Row) + sizeof(std::uint16_t));
}
static_assert(memory_bytes(capacity_max) <= 60 << 10, "fits every GPU since Turing");

__device__ inline Memory carve(uint4* memory, unsigned capacity) {
  Memory m;
  m.decisions = reinterpret_cast<std::uint32_t*>(memory);
  m.pending = reinterpret_cast<Row*>(m.decisions + decision_words);
  m.ranks = reinterpret_cast<std::uint16_t*>(m.pending + capacity);
  m.members = reinterpret_cast<std::uint32_t*>(m.pending);
  return m;
}

/// Nobody survives so far, before it is known who counts.
__device__ inline void clear(const Memory& memory, ReduceShared& shared, unsigned capacity) {
  for (unsigned i = threadIdx.x; i < capacity; i += blockDim.x)
    memory.decisions[i] = PublishedDecision::suppressed().word();
  for (unsigned k = threadIdx.x; k < capacity_max / 32; k += blockDim.x)
    shared.kept[k] = 0;
  if (threadIdx.x == 0) {
    memory.decisions[sentinel_suppressed] = PublishedDecision::suppressed().word();
    memory.decisions[sentinel_kept] = PublishedDecision::kept().word();
    shared.pending = 0;
  }
}

struct View {
  const DirectArguments& a;
  ReduceShared& shared;
  Memory memory;
  std::uint32_t frame, n;
  std::size_t input;
  Found found;

  __device__ const uint4* list(std::uint32_t number) const {
    return found.lists + number;
  }
  // Words are read while others write: volatile, so that they are read each time anew.
  __device__ PublishedDecision decision(std::uint32_t index) const {
    return PublishedDecision(*const_cast<volatile const std::uint32_t*>(memory.decisions + index));
  }
  /// Between barriers.
  __device__ void store(std::uint32_t index, PublishedDecision decision) const {
    memory.decisions[index] = decision.word();
  }
  /// While others look.
  __device__ void publish(std::uint32_t index, PublishedDecision decision) const {
    atomicExch(memory.decisions + index, decision.word());
  }
  /// Of those who wait, number `place` survives.
  __device__ void keep(std::uint32_t place) const {
    const std::uint32_t rank = memory.ranks[place];
    atomicOr(&shared.kept[rank / 32], 1u << rank % 32);
  }
};

}  // namespace crowd::direct
