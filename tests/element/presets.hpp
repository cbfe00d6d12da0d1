// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames for the presets of crowdnms, and what a preset leaves of them.
#pragma once

#include <algorithm>
#include <array>
#include <random>

#include "nms_harness.hpp"

namespace crowd::test {

using Frame = std::vector<Candidate>;
using Indices = std::vector<std::size_t>;

/// Objects with eight windows each and one whose IoU with its object is a whole number of tenths. Corners are quarters
/// of a pixel and unions below 2 million quarters, so that areas and sums are exact and an IoU that is not on a
/// threshold is at least 1e-7 from it. Scores are multiples of 1/40, some negative: many are equal, many on a
/// threshold.
inline Frame tied_crowd(unsigned seed, std::size_t n) {
  std::mt19937 random(seed);
  const auto quarters = [&](unsigned limit) { return float(random() % limit) / 4; };
  const auto score = [&] { return (float(random() % 45) - 4) / 40; };
  Frame crowd;
  while (crowd.size() < n) {
    const float x = quarters(2200), y = quarters(1600), w = 10 * (1 + quarters(32)), h = 10 + quarters(320);
    const auto label = std::int32_t(random() % 3);
    crowd.push_back({x, y, x + w, y + h, score(), label});
    for (int window = 0; window < 8; window++) {
      const float dx = quarters(32) - 4, dy = quarters(32) - 4;
      crowd.push_back({x + dx, y + dy, x + dx + w, y + dy + h, score(), label});
    }
    const float tenths = w * float(1 + random() % 9) / 10;
    crowd.push_back({x, y, x + tenths, y + h, score(), std::int32_t(random() % 3)});
  }
  crowd.resize(n);
  std::shuffle(crowd.begin(), crowd.end(), random);
  return crowd;
}

/// What a survivor is told by: its corners, its score, its class.
using Survivor = std::array<float, 6>;

inline std::vector<Survivor> expected_survivors(const Frame& frame, const Indices& indices) {
  std::vector<Survivor> all;
  for (const std::size_t i : indices) {
    const Candidate& c = frame[i];
    all.push_back({c.x1, c.y1, c.x2, c.y2, c.score, float(c.class_id)});
  }
  return all;
}

/// In the order in which they leave.
inline std::vector<Survivor> survivors_with_preset(const char* preset, const Frame& frame) {
  NmsHarness nms;
  EXPECT_TRUE(gst_preset_load_preset(GST_PRESET(nms.element()), preset));
  const auto out = nms.pass(frame);
  std::vector<Survivor> all;
  for (const Roi& roi : rois(out.get()))
    all.push_back({float(*roi.x_min * 640), float(*roi.y_min * 480), float(*roi.x_max * 640), float(*roi.y_max * 480),
                   float(roi.score), float(*roi.label_id)});
  return all;
}

/// Fails the test where the preset leaves others of a crowd than `rule`, which gives those that survive in rank order.
inline void expect_rule(const char* preset, Indices (*rule)(const Frame&), Frame (*crowd)(unsigned, std::size_t)) {
  for (const std::size_t n : {1, 10, 100, 400, 1500}) {
    for (unsigned seed = 1; seed <= 8; seed++) {
      const Frame frame = crowd(seed, n);
      const Indices kept = rule(frame);
      EXPECT_TRUE(n < 100 || (!kept.empty() && kept.size() < n)) << "a rule that does nothing";
      ASSERT_EQ(survivors_with_preset(preset, frame), expected_survivors(frame, kept))
          << preset << " n=" << n << " seed=" << seed;
    }
  }
}

}  // namespace crowd::test
