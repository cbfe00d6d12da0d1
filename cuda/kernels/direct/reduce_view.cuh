// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the threads of the reduce share: decisions in shared memory, and the outputs of the map.
#pragma once

#include "kernels/direct/direct.cuh"

namespace crowd::CROWD_DIRECT {

struct ReduceShared {
  alignas(sizeof(uint4)) std::uint32_t kept[capacity_max / 32];  ///< a bit for each rank
  // A bit for each index, once mark_indices() ran:
  std::uint32_t kept_indices[capacity_max / 32];
  std::uint32_t suppressed_indices[capacity_max / 32];  ///< and those beyond the frame's
  /// Rows listed in Memory::pending. Before decide_others(), 2^16 or more are added if some have masks.
  std::uint32_t pending;
  std::uint32_t undecided;  ///< not 0: looks have left a row undecided
  // In decide_in_order():
  std::uint32_t kept_of_group[capacity_max / 32][2];  ///< kept rows of each group, and the complement; before, zeros
  std::uint32_t published;                            ///< groups of which all decisions are published
};

/// A published decision: a Decision in a word made to be added. The sum over up to max_summands candidates tells
/// whether one of them is kept, whether all are suppressed, and whether a single one is undecided, whose word the sum
/// then is (cuda/PROOFS.md, 4).
class PublishedDecision {
 public:
  static constexpr unsigned max_summands = suppressors_max;

  __device__ static constexpr PublishedDecision suppressed() {
    return PublishedDecision(0);
  }
  /// Survives iff the candidate at `index` does. With its own index: nothing is known yet.
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
  /// Only if not has_kept().
  __device__ constexpr bool has_one_undecided() const {
    return word_ / undecided_bit == 1;
  }

  /// What follows for a candidate whose suppressors' words sum up to this, unless several are undecided.
  __device__ constexpr PublishedDecision implied() const {
    return has_kept() ? suppressed() : all_suppressed() ? kept() : PublishedDecision(word_ ^ opposite_bit);
  }

  // The following for a single word, not a sum.
  __device__ constexpr bool is_undecided() const {
    return word_ & undecided_bit;
  }
  /// If undecided: the candidate that this one is an alias of, or its opposite; or itself.
  __device__ constexpr std::uint32_t index() const {
    return word_ % opposite_bit;
  }
  /// If kept: its rank, if it was given.
  __device__ constexpr std::uint32_t rank() const {
    return word_ % kept_bit;
  }
  /// What an alias becomes given this, the word of the candidate it refers to: Decision::follow().
  __device__ constexpr PublishedDecision follow(PublishedDecision alias) const {
    return alias.word_ & opposite_bit ? implied() : *this;
  }

 private:
  static constexpr std::uint32_t opposite_bit = 1u << 13;  ///< alias of the opposite
  static constexpr std::uint32_t undecided_bit = 1u << 14;
  static constexpr std::uint32_t kept_bit = 1u << 21;
  // Index bits of several undecided words may carry into the count of undecided ones, which is above one then anyway.
  static_assert(capacity_max < opposite_bit && max_summands * 2 * undecided_bit <= kept_bit &&
                max_summands <= ~0u / (2 * kept_bit) + 1);

  std::uint32_t word_;
};

/// A pending row's first decision.
__device__ inline PublishedDecision initial_decision(const Row& row) {
  return row.has_one_suppressor() ? PublishedDecision::opposite_of(row.best())
                                  : PublishedDecision::undecided(row.index());
}

/// Dynamic shared memory of a frame.
struct Memory {
  std::uint32_t* decisions;  ///< by index: PublishedDecision::word(); the sentinels included
  Row* pending;              ///< pending rows, as they see their suppressors
  std::uint16_t* ranks;      ///< ranks of these
  // By index; these overlay `pending`, which is not needed any more.
  std::uint32_t* members;
  std::uint32_t* representatives;  ///< before: see in_order.cuh
};

/// A word for each index and for the sentinels; whole vectors, to align what follows.
constexpr unsigned decision_words = capacity_max + 4;
static_assert(decision_words * sizeof(std::uint32_t) % sizeof(uint4) == 0);

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
  m.representatives = m.members + capacity;
  static_assert(sizeof(Row) == 2 * sizeof(std::uint32_t), "room for both");
  return m;
}

/// All decisions start as "suppressed", the word 0; only "kept" is read before the barrier after which pending rows are
/// decided.
__device__ inline void clear(const Memory& memory, ReduceShared& shared, unsigned capacity) {
  for (unsigned i = threadIdx.x; i < capacity; i += blockDim.x)
    memory.decisions[i] = PublishedDecision::suppressed().word();
  for (unsigned k = threadIdx.x; k < capacity_max / 32; k += blockDim.x)
    shared.kept[k] = 0;
  if (threadIdx.x == 0) {
    memory.decisions[sentinel_suppressed] = PublishedDecision::suppressed().word();
    memory.decisions[sentinel_kept] = PublishedDecision::kept().word();
    shared.pending = 0;
    shared.undecided = 0;
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
  __device__ PublishedDecision decision(std::uint32_t index) const {
    return PublishedDecision(load_relaxed(memory.decisions + index));
  }
  /// Where a barrier comes before the next read.
  __device__ void store(std::uint32_t index, PublishedDecision decision) const {
    memory.decisions[index] = decision.word();
  }
  /// While other threads look.
  __device__ void publish(std::uint32_t index, PublishedDecision decision) const {
    store_relaxed_shared(memory.decisions + index, decision.word());
  }
  /// Marks pending row number `place` as a survivor.
  __device__ void keep(std::uint32_t place) const {
    keep_rank(memory.ranks[place]);
  }
  __device__ void keep_rank(std::uint32_t rank) const {
    atomicOr(&shared.kept[rank / 32], 1u << rank % 32);
  }
};

/// Tells the compiler where a view's pointers lead, in functions that are not inlined: shared memory takes one register
/// an address, and fewer instructions.
__device__ inline void assume_spaces([[maybe_unused]] const View& view) {
#ifdef __CUDA_ARCH__
  __builtin_assume(__isShared(&view.shared));
  __builtin_assume(__isShared(view.memory.decisions));
  __builtin_assume(__isShared(view.memory.ranks));
  __builtin_assume(__isShared(view.memory.members));
  __builtin_assume(__isShared(view.memory.representatives));
  __builtin_assume(__isGlobal(view.found.rows));
  __builtin_assume(__isGlobal(view.found.lists));
  __builtin_assume(__isGlobal(view.found.masks));
#if CUDART_VERSION >= 12000
  __builtin_assume(__isGridConstant(&view.a));
#endif
#endif
}

}  // namespace crowd::CROWD_DIRECT
