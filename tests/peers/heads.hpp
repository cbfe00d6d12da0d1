// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Outputs of networks as detectors of crowds give them.
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

enum class Scores {
  distinct,  ///< from 0 to 1
  eighths,   ///< from 1/8 to 1, as those of quantised networks
  saturated  ///< all 1
};

/// From 0 to 1, in random order.
inline std::vector<float> make_scores(std::size_t count, Scores kind, std::mt19937& random) {
  std::vector<float> scores(count, 1);
  for (std::size_t i = 0; i < count && kind != Scores::saturated; i++)
    scores[i] = kind == Scores::eighths ? float(1 + i % 8) / 8 : (float(i) + .5F) / float(count);
  std::ranges::shuffle(scores, random);
  return scores;
}

/// Clusters, some beyond the edges (every third seed: all of them in one spot), and noise. One side in eight is less
/// than a pixel. Without `places` some hundred.
inline YoloHead make_head(unsigned seed, unsigned width, unsigned height, Scores kind = Scores::distinct,
                          std::size_t places = 0) {
  std::mt19937 random(seed);
  const auto uniform = [&random](float low, float high) { return std::uniform_real_distribution(low, high)(random); };
  const auto side = [&uniform](float longest) { return uniform(0, uniform(0, 8) < 1 ? 1 : longest); };
  YoloHead head{1 + random() % 4, places ? places : 100 + random() % 400, {}};
  head.values.resize((4 + head.classes) * head.places);
  const auto scores = make_scores(head.places, kind, random);
  const auto w = float(width), h = float(height);
  for (std::size_t i = 0; i < head.places; i++) {
    const float spread = uniform(0, 1) < .5F ? 3 : 40, far = seed % 3 ? 1.F : 0.F;
    head.at(0, i) = far * w / 8 * std::round(uniform(-2, 10)) + uniform(-spread, spread);
    head.at(1, i) = far * h / 8 * std::round(uniform(-2, 10)) + uniform(-spread, spread);
    head.at(2, i) = side(w / 5);
    head.at(3, i) = side(h / 3);
    head.at(4 + random() % head.classes, i) = scores[i];
  }
  return head;
}

/// Cells that lie apart, with eight boxes on each: one of every eighth, so that equal scores do not overlap; of
/// saturated ones a box on each.
struct Apart {
  static constexpr std::size_t columns = 12, rows = 8;

  struct Place {
    float x, y, score;  ///< of the middle, from 0 to 1
  };
  static std::vector<Place> make(std::mt19937& random, Scores kind) {
    std::uniform_real_distribution off(-.1F, .1F);
    std::vector<Place> places;
    for (std::size_t cell = 0; cell < columns * rows; cell++)
      for (int eighth = kind == Scores::saturated ? 8 : 1; eighth <= 8; eighth++)
        places.push_back({(float(cell % columns) + .5F + off(random)) / columns,
                          (float(cell / columns) + .5F + off(random)) / rows, float(eighth) / 8});
    std::ranges::shuffle(places, random);
    return places;
  }
};

inline YoloHead make_head_apart(unsigned seed, unsigned width, unsigned height, Scores kind) {
  std::mt19937 random(seed);
  std::uniform_real_distribution size(.3F, .7F);
  const auto places = Apart::make(random, kind);
  YoloHead head{2, places.size(), {}};
  head.values.resize((4 + head.classes) * head.places);
  for (std::size_t i = 0; i < places.size(); i++) {
    head.at(0, i) = places[i].x * float(width);
    head.at(1, i) = places[i].y * float(height);
    head.at(2, i) = size(random) * float(width) / Apart::columns;
    head.at(3, i) = size(random) * float(height) / Apart::rows;
    head.at(4 + random() % 2, i) = places[i].score;
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
  const auto scores = make_scores(head.places, Scores::distinct, random);
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

inline FaceHead make_faces_apart(unsigned seed, Scores kind) {
  std::mt19937 random(seed);
  std::uniform_real_distribution size(.15F, .35F);
  FaceHead head{0, {}, {}};
  for (const auto& [x, y, score] : Apart::make(random, kind)) {
    const float half_width = size(random) / Apart::columns, half_height = size(random) / Apart::rows;
    head.boxes.insert(head.boxes.end(), {x - half_width, y - half_height, x + half_width, y + half_height});
    head.scores.insert(head.scores.end(), {1 - score, score});
    head.places++;
  }
  return head;
}

}  // namespace crowd::test
