// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * confidence.hpp: from a detector's score to the probability that there is what it found, on the host and on a device,
 * with the same bits, in C++17. Both have to be compiled without contraction.
 */
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/host_device.hpp"

namespace crowd {

/** The logistic function of slope * score + offset. Slope 0: a score already is a probability. */
struct Calibration {
  float slope = 0, offset = 0;
};

/** e to the power of `x`, which lies within -700 and 700, in basic operations, each rounded once: a relative error of
 * 1e-13. */
CROWD_HD inline double exp_of(double x) {
  constexpr double log2_e = 1.4426950408889634;
  // The upper part has 20 zeros at its end: its product with the exponent is exact.
  constexpr double ln2_upper = 6.93147180369123816490e-01, ln2_lower = 1.90821492927058770002e-10;
  const double exponent = std::floor(x * log2_e + 0.5);
  const double r = (x - exponent * ln2_upper) - exponent * ln2_lower;
  constexpr int terms = 12;
  double sum = 1;
  for (int n = terms; n > 0; n--)
    sum = 1 + sum * r / n;
  const auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(exponent) + 1023) << 52;
  double power;
  std::memcpy(&power, &bits, sizeof power);
  return sum * power;
}

/** From 0 to 1; NaN of NaN. */
CROWD_HD inline float confidence_of(float score, Calibration calibration) {
  if (calibration.slope == 0)
    return score < 0 ? 0 : score > 1 ? 1 : score;
  const double exponent =
      -(static_cast<double>(calibration.slope) * static_cast<double>(score) + static_cast<double>(calibration.offset));
  if (exponent != exponent)
    return static_cast<float>(exponent);
  constexpr double max = 700;
  return static_cast<float>(1 / (1 + exp_of(exponent < -max ? -max : exponent > max ? max : exponent)));
}

/** What takes the place of a number that may be a confidence: one stays one, however many scores were added up. */
CROWD_HD inline double in_place_of(double before, double after) {
  return before <= 1 && after > 1 ? 1 : after;
}

}  // namespace crowd
