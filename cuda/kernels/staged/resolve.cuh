// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// From "lane suppresses whom" to survivors without rounds: every candidate is_pending for its own suppressors alone,
// and whatever it learns of them is final. So none has to wait for everybody, what is read may be older than what has
// been written, and the outcome is the same in any order. (Blelloch, Fineman, Shun 2012: the greedy maximal independent
// set is a dependence graph of small depth.)
#pragma once

#include "kernels/near.cuh"

namespace crowd {

/// What all know of a candidate. Written by whoever decides on it, read by those that it suppresses.
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
  /// Survives iff the candidate at `position` does (`same`), or does not. Whoever has one suppressor left stands so to
  /// it; following such links ends a chain of n in log n steps.
  __device__ static constexpr Decision alias(std::uint32_t position, bool same) {
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

  /// What a candidate alias so knows once it learns the decision of the one it is alias to.
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
