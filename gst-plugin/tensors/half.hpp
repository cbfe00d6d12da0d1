// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Half precision (IEEE 754 binary16) to float, exactly. C++17, for host and device.
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

}  // namespace crowd::tensors
