// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Outputs of networks as detectors of crowds give them, without two scores that are equal.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "peers.hpp"

namespace crowd::test {

/// YOLOv8's [1, 4 + classes, places].
struct YoloHead {
  std::size_t classes, places;
  std::vector<float> values;

  float& at(std::size_t channel, std::size_t place) {
    return values[channel * places + place];
  }
  std::vector<FloatTensor> tensors() const {
    return {{"yolo-v8-out", {1, 4 + classes, places}, values}};
  }
};

/// Distinct, from 0 to 1, in random order.
inline std::vector<float> distinct_scores(std::size_t count, std::mt19937& random) {
  std::vector<float> scores(count);
  for (std::size_t i = 0; i < count; i++)
    scores[i] = (float(i) + .5F) / float(count);
  std::ranges::shuffle(scores, random);
  return scores;
}

/// Clusters, some beyond the edges (every third seed: all of them in one spot), and noise.
inline YoloHead make_head(unsigned seed, unsigned width, unsigned height) {
  std::mt19937 random(seed);
  const auto uniform = [&random](float low, float high) { return std::uniform_real_distribution(low, high)(random); };
  YoloHead head{1 + random() % 4, 100 + random() % 400, {}};
  head.values.resize((4 + head.classes) * head.places);
  const auto scores = distinct_scores(head.places, random);
  const auto w = float(width), h = float(height);
  for (std::size_t i = 0; i < head.places; i++) {
    const float spread = uniform(0, 1) < .5F ? 3 : 40, far = seed % 3 ? 1.F : 0.F;
    head.at(0, i) = far * w / 8 * std::round(uniform(-2, 10)) + uniform(-spread, spread);
    head.at(1, i) = far * h / 8 * std::round(uniform(-2, 10)) + uniform(-spread, spread);
    head.at(2, i) = uniform(.5F, w / 5);
    head.at(3, i) = uniform(.5F, h / 3);
    head.at(4 + random() % head.classes, i) = scores[i];
  }
  return head;
}

/// Boxes from 0 to 1 [1, places, 4] and scores of background and face [1, places, 2].
struct FaceHead {
  std::size_t places;
  std::vector<float> boxes, scores;

  std::vector<FloatTensor> tensors() const {
    return {{"ssd-mobilenet-v1-variant-1-out-boxes", {1, places, 4}, boxes},
            {"ultra-lightweight-face-detection-rfb-320-v1-variant-1-out-scores", {1, places, 2}, scores}};
  }
};

inline FaceHead make_faces(unsigned seed) {
  std::mt19937 random(seed);
  const auto uniform = [&random](float low, float high) { return std::uniform_real_distribution(low, high)(random); };
  FaceHead head{4420, {}, {}};
  const auto scores = distinct_scores(head.places, random);
  for (const float score : scores) {
    const float x = std::round(uniform(0, 9)) / 10 + uniform(-.01F, .01F), y = uniform(0, .9F),
                side = uniform(.02F, .1F);
    for (const float edge : {x, y, x + side, y + side})
      head.boxes.push_back(edge);
    head.scores.push_back(1 - score);
    head.scores.push_back(score);
  }
  return head;
}

}  // namespace crowd::test
