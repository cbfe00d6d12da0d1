// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A candidate's decision in the staged path. Candidates wait for their own suppressors alone and without rounds: every
// word ever written stays true, so readers may see old words, and the outcome is the same in any order (cuda/PROOFS.md,
// 2 and 3).
#pragma once

#include "kernels/near.cuh"
#include "kernels/tuning.hpp"

namespace crowd {

/// Undecided, kept, suppressed or an alias, in one word. Written by the thread that decides on the candidate, read by
/// those of the candidates that it suppresses.
class Decision {
 public:
  __device__ static constexpr Decision undecided() {
    return Decision(0);
  }
  __device__ static constexpr Decision kept() {
    return Decision(1);
  }
  __device__ static constexpr Decision suppressed() {
    return Decision(2);
  }
  /// Survives iff the candidate at `position` does (`same`), or iff it does not. A candidate with one suppressor left
  /// is an alias of its opposite; following aliases shortens a chain of n in log n steps.
  __device__ static constexpr Decision alias(std::uint32_t position, bool same) {
    static_assert(tuning::staged_capacity - 1 <= ~0u >> 3, "positions are below the capacity");
    return Decision(position << 3 | static_cast<std::uint32_t>(same) << 2 | 3u);
  }
  __device__ static constexpr Decision of_word(std::uint32_t word) {
    return Decision(word);
  }

  __device__ constexpr std::uint32_t word() const {
    return word_;
  }
  __device__ constexpr bool is_kept() const {
    return word_ == 1;
  }
  __device__ constexpr bool is_suppressed() const {
    return word_ == 2;
  }
  __device__ constexpr bool is_decided() const {
    return is_kept() || is_suppressed();
  }
  __device__ constexpr bool is_alias() const {
    return (word_ & 3) == 3;
  }
  __device__ constexpr std::uint32_t position() const {
    return word_ >> 3;
  }
  __device__ constexpr bool same() const {
    return word_ >> 2 & 1;
  }

  /// What an alias becomes given the decision of the candidate it refers to.
  __device__ constexpr Decision follow(Decision other) const {
    if (other.is_decided())
      return other.is_kept() == same() ? kept() : suppressed();
    return other.is_alias() ? alias(other.position(), same() == other.same()) : *this;
  }

 private:
  __device__ explicit constexpr Decision(std::uint32_t word) : word_(word) {}

  std::uint32_t word_;
};

}  // namespace crowd
