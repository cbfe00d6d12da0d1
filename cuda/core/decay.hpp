// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// By how much scores fall (crowd/nms.h, "Soft methods"), for host and device. Must be compiled without contraction.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/host_device.hpp"

namespace crowd {

/// e^x of x <= 0 as crowd/nms.h defines it, within two units in the last place of a double.
CROWD_HD inline double exponential(double x) {
  constexpr double inverse_factorials[] = {
      1.0,        1.0,         1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,       1.0 / 720,
      1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  if (!(x >= -700))
    return 0;
  // Towards 0, which is up: the argument is at most 0.5.
  const auto n = static_cast<std::int32_t>(x * 1.4426950408889634 - 0.5);
  const double r = x - n * 0.6931471803691238 - n * 1.9082149292705877e-10;
  double sum = inverse_factorials[13];
  for (int k = 12; k >= 0; --k)
    sum = sum * r + inverse_factorials[k];
  const std::uint64_t bits = static_cast<std::uint64_t>(1023 + n) << 52;
  double power;
  std::memcpy(&power, &bits, sizeof power);
  return sum * power;
}

/// Of a soft method.
enum class Decay : std::uint32_t { linear, gaussian };

/// Soft-NMS, linear.
CROWD_HD inline float linear_decay(float ratio) {
  const float left = 1 - ratio;
  return left > 0 ? left : 0;
}

/// Soft-NMS, Gaussian.
CROWD_HD inline float gaussian_decay(float ratio, float sigma) {
  const double square = static_cast<double>(ratio) * ratio;
  return static_cast<float>(exponential(-square / sigma));
}

/// Matrix NMS, linear: of a candidate that is itself covered by `covered`.
CROWD_HD inline float linear_matrix_decay(float ratio, float covered) {
  if (!(covered < 1))
    return 1;
  const float decay = linear_decay(ratio) / (1 - covered);
  return decay < 1 ? decay : 1;
}

/// Matrix NMS, Gaussian.
CROWD_HD inline float gaussian_matrix_decay(float ratio, float covered, float sigma) {
  const double more = static_cast<double>(ratio) * ratio - static_cast<double>(covered) * covered;
  return more > 0 ? static_cast<float>(exponential(-more * sigma)) : 1;
}

}  // namespace crowd
