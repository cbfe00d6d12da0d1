// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * Random numbers that are a function of their key and nothing else: integers and single rounded float operations only,
 * no libm and no std:: distribution, so that every platform and compiler draws the same crowd from the same seed.
 */

#pragma once

#include <cstdint>

namespace crowd::scene {

/** The output function of splitmix64 (Steele, Lea, Flood 2014), a bijection of 64 bits. */
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/** 64 random bits for a key of several parts; the order of the parts matters. */
template <typename... Parts>
constexpr std::uint64_t draw(std::uint64_t key, Parts... parts) {
  ((key = mix(key ^ static_cast<std::uint64_t>(parts))), ...);
  return key;
}

/** [0, 1) in steps of 2^-24, from the highest bits. */
constexpr float unit(std::uint64_t bits) {
  return static_cast<float>(bits >> 40) * 0x1p-24f;
}

constexpr float between(float low, float high, std::uint64_t bits) {
  return low + (high - low) * unit(bits);
}

/** Close to a normal variate, mean 0, deviation 1, within +-3.47: the sum of four uniform ones. */
constexpr float normal(std::uint64_t bits) {
  const std::int64_t sum = static_cast<std::int64_t>(bits & 0xffff) + static_cast<std::int64_t>(bits >> 16 & 0xffff) +
                           static_cast<std::int64_t>(bits >> 32 & 0xffff) + static_cast<std::int64_t>(bits >> 48);
  return static_cast<float>(sum - 2 * 0xffff) * (1.7320508f / 65536.0f);
}

/** A smooth wave of a phase where 2^64 is one turn: within +-1, 0 at 0, up first. Two parabolas, near a sine. */
constexpr float wave(std::uint64_t phase) {
  const float p = 2.0f * unit(phase) - 1.0f;
  return -4.0f * p * (1.0f - (p < 0.0f ? -p : p));
}

}  // namespace crowd::scene
