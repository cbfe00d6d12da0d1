// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Half precision (IEEE 754 binary16) to float, exactly, and back. C++17, for host and device.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/host_device.hpp"

namespace crowd::tensors {

CROWD_HD inline float float_of_half(std::uint16_t half) {
  constexpr std::uint32_t fraction_bits = 10, float_fraction_bits = 23, bias = 112, infinite = 31;
  const std::uint32_t sign = static_cast<std::uint32_t>(half >> 15) << 31;
  const std::uint32_t exponent = half >> fraction_bits & 31U;
  const std::uint32_t fraction = half & 0x3FFU;
  if (exponent == 0) {
    // Subnormal: a multiple of 2^-24, which a float holds exactly.
    const float magnitude = static_cast<float>(fraction) * 5.9604644775390625e-8F;
    return half >> 15 ? -magnitude : magnitude;
  }
  const std::uint32_t float_exponent = exponent == infinite ? 255U : exponent + bias;
  const std::uint32_t bits =
      sign | float_exponent << float_fraction_bits | fraction << (float_fraction_bits - fraction_bits);
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// The nearest, of two the even one; beyond 65504 infinite. Numbers below 2^-14 lose bits as binary16 has them.
CROWD_HD inline std::uint16_t half_of_float(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  constexpr std::uint32_t infinity = 0x7f800000, overflow = 0x47800000, smallest_normal = 0x38800000;
  if (magnitude >= overflow)
    return static_cast<std::uint16_t>(sign | (magnitude > infinity ? 0x7e00 : 0x7c00));
  if (magnitude >= smallest_normal) {
    const std::uint32_t odd = magnitude >> 13 & 1;
    return static_cast<std::uint16_t>(sign | ((magnitude - (112U << 23) + 0xfff + odd) >> 13));
  }
  // In units of 2^-24: adding 0.5, whose last bit is 2^-24, rounds.
  float shifted;
  std::memcpy(&shifted, &magnitude, sizeof shifted);
  shifted += 0.5F;
  std::uint32_t rounded;
  std::memcpy(&rounded, &shifted, sizeof rounded);
  return static_cast<std::uint16_t>(sign | (rounded - 0x3f000000));
}

}  // namespace crowd::tensors
