// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// From "who beats whom" to survivors without rounds: every candidate waits for its own rivals alone, and whatever it
// learns of them is final. So nobody has to wait for everybody, what is read may be older than what has been written,
// and the outcome is the same in any order. (Blelloch, Fineman, Shun 2012: the greedy maximal independent set is a
// dependence graph of small depth.)
#pragma once

#include "kernels/near.cuh"

namespace crowd {

/// What all know of a candidate. Written by whoever decides on it, read by those that it beats.
class Fate {
 public:
  __device__ static constexpr Fate open() {
    return Fate(0);
  }
  __device__ static constexpr Fate kept() {
    return Fate(1);
  }
  __device__ static constexpr Fate dead() {
    return Fate(2);
  }
  /// Survives iff the candidate at `position` does (`same`), or does not. Whoever has one rival left stands so to it;
  /// following such links ends a chain of n in log n steps.
  __device__ static constexpr Fate tied(std::uint32_t position, bool same) {
    return Fate(position << 3 | static_cast<std::uint32_t>(same) << 2 | 3u);
  }
  __device__ static constexpr Fate of_word(std::uint32_t word) {
    return Fate(word);
  }

  __device__ constexpr std::uint32_t word() const {
    return word_;
  }
  __device__ constexpr bool is_kept() const {
    return word_ == 1;
  }
  __device__ constexpr bool is_dead() const {
    return word_ == 2;
  }
  __device__ constexpr bool is_decided() const {
    return is_kept() || is_dead();
  }
  __device__ constexpr bool is_tied() const {
    return (word_ & 3) == 3;
  }
  __device__ constexpr std::uint32_t position() const {
    return word_ >> 3;
  }
  __device__ constexpr bool same() const {
    return word_ >> 2 & 1;
  }

  /// What a candidate tied so knows once it learns the fate of the one it is tied to.
  __device__ constexpr Fate follow(Fate other) const {
    if (other.is_decided())
      return other.is_kept() == same() ? kept() : dead();
    return other.is_tied() ? tied(other.position(), same() == other.same()) : *this;
  }

 private:
  __device__ explicit constexpr Fate(std::uint32_t word) : word_(word) {}

  std::uint32_t word_;
};

}  // namespace crowd
