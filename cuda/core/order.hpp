// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The one ranking of the repository (crowd/nms.h, "Rank"), for host and device.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/host_device.hpp"

namespace crowd {

/// score_key() of a score that is not NaN.
CROWD_HD inline std::uint32_t number_key(float score) {
  const float folded = score + 0.0f;  // -0 becomes +0
  std::uint32_t bits;
  std::memcpy(&bits, &folded, sizeof bits);
  // All bits of a negative number turn, of others the first.
  return bits ^ (static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> 31) | 0x80000000u);
}

/// Maps a score to an integer that orders as the score does: -0 equals +0, NaN is below everything.
CROWD_HD inline std::uint32_t score_key(float score) {
  return score != score ? 0 : number_key(score);
}

/// The score that a key was made of; not for the key of NaN.
CROWD_HD inline float key_score(std::uint32_t key) {
  const std::uint32_t bits = (key & 0x80000000u) ? key & 0x7fffffffu : ~key;
  float score;
  std::memcpy(&score, &bits, sizeof score);
  return score;
}

/// A key that is larger the better the rank: score descending, then index ascending. Keys of one frame are distinct,
/// and no key of a candidate is 0.
CROWD_HD inline std::uint64_t rank_key(float score, std::uint32_t index) {
  return static_cast<std::uint64_t>(score_key(score)) << 32 | static_cast<std::uint32_t>(~index);
}

/// The candidate a rank key was made of.
CROWD_HD inline std::uint32_t rank_index(std::uint64_t key) {
  return ~static_cast<std::uint32_t>(key);
}

}  // namespace crowd
