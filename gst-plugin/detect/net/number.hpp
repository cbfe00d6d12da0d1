// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Numbers of a network's input from float32, on the host and on a device with the same bits. C++17.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/host_device.hpp"

namespace crowd::net {

/// IEEE 754 binary16.
struct Half {
  std::uint16_t bits;
};

/// The nearest, of two the even one; beyond 65504 infinite. Numbers below 2^-14 lose bits as binary16 has them.
CROWD_HD inline Half half_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  constexpr std::uint32_t infinity = 0x7f800000, overflow = 0x47800000, smallest_normal = 0x38800000;
  if (magnitude >= overflow)
    return {static_cast<std::uint16_t>(sign | (magnitude > infinity ? 0x7e00 : 0x7c00))};
  if (magnitude >= smallest_normal) {
    const std::uint32_t odd = magnitude >> 13 & 1;
    return {static_cast<std::uint16_t>(sign | ((magnitude - (112U << 23) + 0xfff + odd) >> 13))};
  }
  // In units of 2^-24: adding 0.5, whose last bit is 2^-24, rounds.
  float shifted;
  std::memcpy(&shifted, &magnitude, sizeof shifted);
  shifted += 0.5F;
  std::uint32_t rounded;
  std::memcpy(&rounded, &shifted, sizeof rounded);
  return {static_cast<std::uint16_t>(sign | (rounded - 0x3f000000))};
}

CROWD_HD inline void store(float value, float& to) {
  to = value;
}

CROWD_HD inline void store(float value, Half& to) {
  to = half_of(value);
}

/// The nearest whole number of 0 to 255, halves upwards.
CROWD_HD inline void store(float value, std::uint8_t& to) {
  to = static_cast<std::uint8_t>(value <= 0.F ? 0.F : value >= 255.F ? 255.F : value + 0.5F);
}

}  // namespace crowd::net
