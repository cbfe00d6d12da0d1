// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Candidates to test with: named distributions, each a function of a size and a seed and of nothing else. Widths and
// heights differ, so do classes and indices: swapped arguments show.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "crowd/nms.h"

namespace crowd::test {

/// One frame of candidates.
struct Boxes {
  std::vector<CrowdNmsBox> boxes;
  std::vector<float> scores;
  std::vector<std::int32_t> classes;

  std::uint32_t size() const {
    return static_cast<std::uint32_t>(boxes.size());
  }
  void add(const CrowdNmsBox& box, float score, std::int32_t label = 0);
};

/// The same numbers on every platform, unlike the distributions of <random>.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : bits_(seed) {}

  std::uint64_t bits() {
    return bits_();
  }
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>((bits_() >> 32) * n >> 32);
  }
  bool one_in(std::uint32_t n) {
    return below(n) == 0;
  }
  /// In [0, 1), a multiple of 2^-24.
  float unit() {
    return static_cast<float>(bits_() >> 40) * 0x1p-24f;
  }
  float between(float low, float high) {
    return low + (high - low) * unit();
  }
  /// Mean 0, deviation 1, near enough to normal: the sum of twelve uniform numbers.
  float bell();

  template <typename T>
  const T& pick(std::span<const T> from) {
    return from[below(static_cast<std::uint32_t>(from.size()))];
  }

 private:
  std::mt19937_64 bits_;
};

struct Distribution {
  const char* name;
  Boxes (*draw)(std::uint32_t n, Dice& dice);

  Boxes make(std::uint32_t n, std::uint64_t seed) const;
};

/// All of them, in a fixed order.
std::span<const Distribution> distributions();

/// The one with that name; ends the program if there is none.
const Distribution& distribution(const std::string& name);

/// The candidate sets of the benchmarks, in kind those of Oro et al. 2020: windows jittered by 12 % of their size
/// around `faces` faces in a width x height picture, in random order.
Boxes crowd(std::uint32_t n, std::uint32_t faces, float width, float height, std::uint64_t seed);
/// Boxes with sides of 16 to 134 anywhere in a width x height picture.
Boxes uniform(std::uint32_t n, float width, float height, std::uint64_t seed);

/// Sizes on and beside the borders of words, warps, blocks and tiles.
inline constexpr std::uint32_t small_sizes[] = {0, 1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65};
inline constexpr std::uint32_t medium_sizes[] = {255, 256, 257, 1023, 1024, 1025};
inline constexpr std::uint32_t large_sizes[] = {4095, 4096, 4097};
inline constexpr std::uint32_t huge_size = 20000;

}  // namespace crowd::test
