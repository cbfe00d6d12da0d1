// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "base/confidence.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using crowd::Calibration;
using crowd::confidence_of;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

TEST(confidence, is_the_logistic_function) {
  for (const Calibration c : {Calibration{1, 0}, {2.5F, -1.25F}, {-3, 0.5F}, {0.01F, 7}, {100, -3}})
    for (int i = -40000; i <= 40000; i++) {
      const float score = static_cast<float>(i) / 1024;
      const long double expected = 1 / (1 + std::exp(-(static_cast<long double>(c.slope) * score + c.offset)));
      ASSERT_LT(std::abs(static_cast<long double>(confidence_of(score, c)) - expected), 1e-7L)
          << score << " " << c.slope << " " << c.offset;
    }
}

TEST(confidence, rests_on_an_exp_of_thirteen_digits) {
  for (double x = -700; x <= 700; x += 0.01390622)
    ASSERT_LT(std::abs(static_cast<long double>(crowd::exp_of(x)) / std::exp(static_cast<long double>(x)) - 1), 1e-13L)
        << x;
  EXPECT_EQ(crowd::exp_of(0), 1);
}

TEST(confidence, rises_with_the_score) {
  for (const Calibration c : {Calibration{1, 0}, {1, -2}, {37, 0.125F}}) {
    float last = confidence_of(-200, c);
    for (int i = -800000; i <= 800000; i++) {
      const float now = confidence_of(static_cast<float>(i) / (1 << 15), c);
      ASSERT_GE(now, last) << i;
      last = now;
    }
  }
}

TEST(confidence, lies_between_0_and_1) {
  EXPECT_EQ(confidence_of(0, {1, 0}), 0.5F);
  for (const float score : {infinity, 1e38F, 1e5F}) {
    EXPECT_EQ(confidence_of(score, {2, -1}), 1);
    EXPECT_EQ(confidence_of(-score, {2, -1}), 0);
    EXPECT_EQ(confidence_of(score, {-2, -1}), 0);
  }
  EXPECT_TRUE(std::isnan(confidence_of(nan, {2, -1})));
  EXPECT_TRUE(std::isnan(confidence_of(0, {infinity, 0})));
}

TEST(confidence, is_the_score_without_a_calibration) {
  for (const float score : {0.0F, 1.0F, 0.3F, 1e-40F})
    EXPECT_EQ(confidence_of(score, {}), score);
  EXPECT_EQ(confidence_of(1.5F, {}), 1);
  EXPECT_EQ(confidence_of(-infinity, {0, 3}), 0);
  EXPECT_TRUE(std::isnan(confidence_of(nan, {})));
}

}  // namespace
