// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The heads that tensor decoders are timed with: YOLOv8 of 640x640 and 80 classes, [1, 84, 8400].
//
// Scores are those of a network that is sure of some places and of most is not: a twelfth of them in each power of ten
// from 1 down to 1e-12. Boxes that score above .1 stand in 60 clusters, the others all over the frame.
#pragma once

#include <time.h>

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "heads.hpp"

namespace crowd::test {

inline constexpr unsigned side = 640;

inline YoloHead head_of(unsigned seed) {
  std::mt19937 random(seed);
  const auto uniform = [&random](float low, float high) { return std::uniform_real_distribution(low, high)(random); };
  YoloHead head{80, 8400, {}};
  head.values.resize((4 + head.classes) * head.places);
  std::vector<std::pair<float, float>> people(60);
  for (auto& [x, y] : people)
    x = uniform(20, side - 20), y = uniform(40, side - 40);
  for (std::size_t i = 0; i < head.places; i++) {
    const float score = std::pow(10.F, uniform(-12, 0));
    const auto& [x, y] = people[random() % people.size()];
    const bool sure = score > .1F;
    head.at(0, i) = sure ? x + uniform(-8, 8) : uniform(0, side);
    head.at(1, i) = sure ? y + uniform(-8, 8) : uniform(0, side);
    head.at(2, i) = sure ? uniform(20, 40) : uniform(8, 60);
    head.at(3, i) = sure ? uniform(50, 90) : uniform(8, 90);
    head.at(4, i) = score;
  }
  return head;
}

/// Of this thread.
inline double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

}  // namespace crowd::test
