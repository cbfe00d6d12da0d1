// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// From "who beats whom" to survivors without rounds: every candidate waits for its own rivals alone, and whatever it
// learns of them is final. So nobody has to wait for everybody, what is read may be older than what has been written,
// and the outcome is the same in any order. (Blelloch, Fineman, Shun 2012: the greedy maximal independent set is a
// dependence graph of small depth.)
#pragma once

#include "near.cuh"

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

/// Lanes that share a candidate's rivals out among them, a row of the window each.
constexpr unsigned lanes_per_home = 4;
constexpr std::uint32_t rivals_per_lane = 64;

/// A lane's part of a candidate's rivals: the better-ranked boxes that overlap it, as far as they may survive.
struct Rivals {
  RowRange range;
  std::uint64_t open;  ///< a bit for each place of the range
};

/// Reads the fates of a lane's rivals and forgets the dead. True if one is kept. `read(position)` returns a Fate.
template <typename Read>
__device__ bool look(Rivals& rivals, Read read) {
  for (std::uint64_t todo = rivals.open; todo; todo &= todo - 1) {
    const Fate fate = read(rivals.range.at(static_cast<std::uint32_t>(__ffsll(static_cast<long long>(todo))) - 1));
    if (fate.is_kept())
      return true;
    if (fate.is_dead())
      rivals.open &= ~(todo & -todo);
  }
  return false;
}

/// A candidate's lanes look once and agree on what they know of it. All lanes of the warp take part.
template <typename Read>
__device__ Fate judge(Fate mine, Rivals& rivals, Read read) {
  if (mine.is_tied())
    mine = mine.follow(read(mine.position()));
  const bool looks = mine.word() == Fate::open().word();
  const bool beaten = looks && look(rivals, read);
  const unsigned home_lanes = ((1u << lanes_per_home) - 1) << (threadIdx.x % 32 / lanes_per_home * lanes_per_home);
  const unsigned any_beaten = __ballot_sync(all_lanes, beaten) & home_lanes;
  const unsigned holders = __ballot_sync(all_lanes, rivals.open != 0) & home_lanes;
  const int holder = holders ? __ffs(static_cast<int>(holders)) - 1 : 0;
  const bool single = __popc(holders) == 1 && !(rivals.open & (rivals.open - 1));
  const std::uint32_t last = rivals.open ? rivals.range.at(static_cast<std::uint32_t>(
                                               __ffsll(static_cast<long long>(rivals.open))) - 1)
                                         : 0;
  const std::uint32_t only = __shfl_sync(all_lanes, single ? last : ~0u, holder);
  if (!looks)
    return mine;
  if (any_beaten)
    return Fate::dead();
  if (!holders)
    return Fate::kept();
  return only == ~0u ? mine : Fate::tied(only, false);
}

}  // namespace crowd
