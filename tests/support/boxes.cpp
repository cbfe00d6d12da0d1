// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "boxes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <numeric>

namespace crowd::test {

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

std::int32_t some_class(Dice& dice) {
  constexpr std::int32_t classes[] = {7, 7, 7, 0, -5};
  return dice.pick(std::span<const std::int32_t>(classes));
}

CrowdNmsBox some_box(Dice& dice, float width, float height) {
  const float w = dice.between(16, 96);
  const float h = w * dice.between(0.7f, 1.4f);
  const float x = dice.between(0, width - 96);
  const float y = dice.between(0, height - 96);
  return {x, y, x + w, y + h};
}

Boxes draw_uniform(std::uint32_t n, Dice& dice, float width, float height) {
  Boxes set;
  for (std::uint32_t i = 0; i < n; ++i) {
    const CrowdNmsBox box = some_box(dice, width, height);
    set.add(box, dice.unit(), some_class(dice));
  }
  return set;
}

Boxes draw_crowd(std::uint32_t n, Dice& dice, std::uint32_t faces, float width, float height) {
  struct Face {
    float x, y, side;
  };
  std::vector<Face> at(faces);
  for (Face& face : at)
    face = {dice.between(40, width - 40), dice.between(40, height - 40), dice.between(24, 90)};
  Boxes set;
  for (std::uint32_t i = 0; i < n; ++i) {
    const Face& face = at[dice.below(faces)];
    const float w = face.side * std::exp(0.12f * dice.bell());
    const float h = 1.25f * w;
    const float dx = 0.12f * dice.bell() * face.side;
    const float dy = 0.12f * dice.bell() * face.side;
    const float x = face.x + dx - w / 2;
    const float y = face.y + dy - h / 2;
    const float near = std::exp(-(dx * dx + dy * dy) / (2 * 0.0625f * face.side * face.side));
    set.add({x, y, x + w, y + h}, near * dice.between(0.7f, 1), some_class(dice));
  }
  return set;
}

Boxes uniform_in_4k(std::uint32_t n, Dice& dice) {
  return draw_uniform(n, dice, 3840, 2160);
}

// Every box meets dozens of others, few of them closely.
Boxes dense(std::uint32_t n, Dice& dice) {
  const float side = 96 + 12 * std::sqrt(static_cast<float>(n));
  return draw_uniform(n, dice, side * 1.5f, side);
}

Boxes clustered(std::uint32_t n, Dice& dice) {
  return draw_crowd(n, dice, std::max(1u, n / 28), 4646, 1800);
}

Boxes all_equal(std::uint32_t n, Dice&) {
  Boxes set;
  for (std::uint32_t i = 0; i < n; ++i)
    set.add({10, 20, 34, 76}, 0.5f, 3);
  return set;
}

Boxes same_box(std::uint32_t n, Dice& dice) {
  Boxes set;
  for (std::uint32_t i = 0; i < n; ++i)
    set.add({-3.5f, 20, 34, 21.25f}, dice.unit(), some_class(dice));
  return set;
}

// Neighbours share an edge: nothing in common with pixel offset 0, a line of pixels with 1.
Boxes disjoint_grid(std::uint32_t n, Dice& dice) {
  Boxes set;
  for (std::uint32_t i = 0; i < n; ++i) {
    const float x = 24.0f * static_cast<float>(i % 83);
    const float y = 17.0f * static_cast<float>(i / 83);
    set.add({x, y, x + 24, y + 17}, dice.unit(), some_class(dice));
  }
  return set;
}

Boxes nested(std::uint32_t n, Dice& dice) {
  Boxes set;
  for (std::uint32_t i = 0; i < n; ++i) {
    const float r = 5 + 3 * static_cast<float>(i);
    set.add({1000 - r, 700 - 2 * r, 1000 + r, 700 + 2 * r}, dice.unit(), 4);
  }
  return set;
}

// Box k overlaps k - 1 and k + 1 by IoU 0.6, k - 2 and k + 2 by 1/3, and scores fall with k: the longest dependence
// that greedy can have.
Boxes chain(std::uint32_t n, Dice& dice) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (std::uint32_t i = n; i > 1; --i)
    std::swap(order[i - 1], order[dice.below(i)]);
  Boxes set;
  for (const std::uint32_t k : order) {
    const float x = 4 * static_cast<float>(k);
    set.add({x, 100, x + 16, 140}, 1 - static_cast<float>(k) * 0x1p-16f, 1);
  }
  return set;
}

// Pairs whose IoU is exactly 1/2, 1/4, 3/4 or 1, and the two float neighbours of 1/2.
Boxes exact_threshold(std::uint32_t n, Dice& dice) {
  Boxes set;
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t pair = i / 2;
    const float x = 64 * static_cast<float>(pair % 50);
    const float y = 64 * static_cast<float>(pair / 50);
    constexpr float heights[] = {12, 6, 18, 24};
    float h = i % 2 ? heights[dice.below(4)] : 24;
    if (h == 12 && dice.one_in(2))
      h = std::nextafter(12.0f, dice.one_in(2) ? 0.0f : 24.0f);
    set.add({x, y, x + 16, y + h}, dice.unit(), 2);
  }
  return set;
}

Boxes tied_scores(std::uint32_t n, Dice& dice) {
  Boxes set = clustered(n, dice);
  for (float& score : set.scores)
    score = 0.25f * static_cast<float>(dice.below(3));
  return set;
}

Boxes quantised_scores(std::uint32_t n, Dice& dice) {
  Boxes set = dense(n, dice);
  for (std::uint32_t i = 0; i < n; ++i) {
    set.scores[i] = std::round(set.scores[i] * 127) / 127;
    if (i && dice.one_in(4))
      set.boxes[i] = set.boxes[dice.below(i)];
  }
  return set;
}

/// Neighbours in the order of rank differ in the last bit of the score, and come later the better they rank.
Boxes close_scores(std::uint32_t n, Dice& dice) {
  Boxes set = dense(n, dice);
  float score = 0.5f;
  for (float& own : set.scores)
    own = score = std::nextafter(score, 1.0f);
  return set;
}

Boxes scaled(std::uint32_t n, Dice& dice, float low_exponent, float high_exponent) {
  Boxes set = dense(n, dice);
  for (CrowdNmsBox& box : set.boxes) {
    const float by = std::exp2(std::floor(dice.between(low_exponent, high_exponent)));
    box = {box.x1 * by, box.y1 * by, box.x2 * by, box.y2 * by};
  }
  return set;
}

// Extents and areas overflow to infinity, ratios to NaN.
Boxes huge_coordinates(std::uint32_t n, Dice& dice) {
  Boxes set = scaled(n, dice, 50, 115);
  for (CrowdNmsBox& box : set.boxes) {
    if (dice.one_in(3))
      box = {-box.x2, -box.y2, box.x2, box.y2};
  }
  return set;
}

// Areas and extents underflow to denormals and to 0, ratios to NaN.
Boxes tiny_coordinates(std::uint32_t n, Dice& dice) {
  return scaled(n, dice, -155, -60);
}

Boxes zero_and_inverted(std::uint32_t n, Dice& dice) {
  Boxes set = dense(n, dice);
  for (CrowdNmsBox& box : set.boxes) {
    switch (dice.below(8)) {
      case 0:
        box.x2 = box.x1;
        break;
      case 1:
        box.y2 = box.y1;
        break;
      case 2:
        std::swap(box.x1, box.x2);
        break;
      case 3:
        box.y2 = box.y1 - 1;
        break;
      default:
        break;
    }
  }
  return set;
}

Boxes spoilt(std::uint32_t n, Dice& dice, std::span<const float> with) {
  Boxes set = dense(n, dice);
  for (CrowdNmsBox& box : set.boxes) {
    if (!dice.one_in(3))
      continue;
    float* const sides[] = {&box.x1, &box.y1, &box.x2, &box.y2};
    *sides[dice.below(4)] = dice.pick(with);
  }
  return set;
}

Boxes nan_coordinates(std::uint32_t n, Dice& dice) {
  constexpr float with[] = {nan};
  return spoilt(n, dice, with);
}

Boxes infinite_coordinates(std::uint32_t n, Dice& dice) {
  constexpr float with[] = {inf, -inf};
  return spoilt(n, dice, with);
}

Boxes odd_scores(std::uint32_t n, Dice& dice) {
  Boxes set = dense(n, dice);
  constexpr float odd[] = {nan, -nan, inf, -inf, 0.0f, -0.0f, 1e-45f, -1e-45f, 3.4028235e38f, -3.4028235e38f};
  for (float& score : set.scores) {
    if (dice.one_in(2))
      score = dice.pick(std::span<const float>(odd));
  }
  return set;
}

Boxes integer_lattice(std::uint32_t n, Dice& dice) {
  Boxes set;
  const std::uint32_t side = 8 + static_cast<std::uint32_t>(std::sqrt(static_cast<double>(n)));
  for (std::uint32_t i = 0; i < n; ++i) {
    const auto x = static_cast<float>(dice.below(side));
    const auto y = static_cast<float>(dice.below(side)) - 4;
    const auto w = static_cast<float>(1 + dice.below(6));
    const auto h = static_cast<float>(1 + dice.below(9));
    set.add({x, y, x + w, y + h}, 0.125f * static_cast<float>(dice.below(9)), some_class(dice));
  }
  return set;
}

Boxes negative_scores(std::uint32_t n, Dice& dice) {
  Boxes set = dense(n, dice);
  for (float& score : set.scores)
    score = 8 * score - 6;
  return set;
}

Boxes multi_class(std::uint32_t n, Dice& dice) {
  Boxes set = clustered(n, dice);
  constexpr std::int32_t ends[] = {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max(),
                                   -1};
  for (std::int32_t& label : set.classes)
    label = dice.one_in(5) ? dice.pick(std::span<const std::int32_t>(ends)) : static_cast<int>(dice.below(80)) - 20;
  return set;
}

// From one pixel to a whole picture, in one picture.
Boxes mixed_sizes(std::uint32_t n, Dice& dice) {
  Boxes set;
  for (std::uint32_t i = 0; i < n; ++i) {
    const float w = std::exp2(dice.between(0, 11));
    const float h = w * dice.between(0.4f, 1.1f);
    const float x = dice.between(-100, 3840);
    const float y = dice.between(-100, 2160);
    set.add({x, y, x + w, y + h}, dice.unit(), some_class(dice));
  }
  return set;
}

// Long thin boxes, lying and standing: the pairs cross, but hardly overlap.
Boxes stripes(std::uint32_t n, Dice& dice) {
  Boxes set;
  for (std::uint32_t i = 0; i < n; ++i) {
    const float at = dice.between(0, 1000);
    const float from = dice.between(0, 50);
    const CrowdNmsBox lying = {from, at, from + 900, at + 2};
    const CrowdNmsBox standing = {at, from, at + 3, from + 950};
    set.add(dice.one_in(2) ? lying : standing, dice.unit(), some_class(dice));
  }
  return set;
}

// A picture full of boxes, and a few very far away.
Boxes outliers(std::uint32_t n, Dice& dice) {
  Boxes set = dense(n, dice);
  for (CrowdNmsBox& box : set.boxes) {
    if (dice.one_in(50))
      box = {box.x1 * 1e30f, box.y1 * -1e30f, box.x1 * 1e30f + 1e29f, box.y1 * -1e30f + 2e29f};
  }
  return set;
}

// Windows of a sliding window detector, in its own order: row by row, scale by scale, scores highest around objects.
Boxes sliding_windows(std::uint32_t n, Dice& dice) {
  Boxes set;
  const float fx = dice.between(0.05f, 0.2f);
  const float fy = dice.between(0.05f, 0.2f);
  for (std::uint32_t i = 0; i < n; ++i) {
    const float side = 32 * std::exp2(0.5f * static_cast<float>(i * 4 / std::max(n, 1u)));
    const float x = 8 * static_cast<float>(i % 60);
    const float y = 8 * static_cast<float>(i / 60 % 34);
    const float score = 2 + std::sin(x * fx) + std::sin(y * fy) + 0.1f * dice.unit();
    set.add({x, y, x + side, y + 2 * side}, score, 6);
  }
  return set;
}

constexpr Distribution all[] = {
    {"uniform", uniform_in_4k},
    {"dense", dense},
    {"clustered", clustered},
    {"all_equal", all_equal},
    {"same_box", same_box},
    {"disjoint_grid", disjoint_grid},
    {"nested", nested},
    {"chain", chain},
    {"exact_threshold", exact_threshold},
    {"tied_scores", tied_scores},
    {"quantised_scores", quantised_scores},
    {"close_scores", close_scores},
    {"huge_coordinates", huge_coordinates},
    {"tiny_coordinates", tiny_coordinates},
    {"zero_and_inverted", zero_and_inverted},
    {"nan_coordinates", nan_coordinates},
    {"infinite_coordinates", infinite_coordinates},
    {"odd_scores", odd_scores},
    {"integer_lattice", integer_lattice},
    {"negative_scores", negative_scores},
    {"multi_class", multi_class},
    {"mixed_sizes", mixed_sizes},
    {"stripes", stripes},
    {"outliers", outliers},
    {"sliding_windows", sliding_windows},
};

}  // namespace

void Boxes::add(const CrowdNmsBox& box, float score, std::int32_t label) {
  boxes.push_back(box);
  scores.push_back(score);
  classes.push_back(label);
}

float Dice::bell() {
  float sum = 0;
  for (int i = 0; i < 12; ++i)
    sum += unit();
  return sum - 6;
}

Boxes Distribution::make(std::uint32_t n, std::uint64_t seed) const {
  Dice dice(seed);
  return draw(n, dice);
}

std::span<const Distribution> distributions() {
  return all;
}

const Distribution& distribution(const std::string& name) {
  const auto found = std::find_if(std::begin(all), std::end(all), [&](const auto& d) { return name == d.name; });
  if (found == std::end(all)) {
    std::fprintf(stderr, "no distribution is called '%s'\n", name.c_str());
    std::abort();
  }
  return *found;
}

Boxes crowd(std::uint32_t n, std::uint32_t faces, float width, float height, std::uint64_t seed) {
  Dice dice(seed);
  return draw_crowd(n, dice, faces, width, height);
}

Boxes uniform(std::uint32_t n, float width, float height, std::uint64_t seed) {
  Dice dice(seed);
  return draw_uniform(n, dice, width, height);
}

}  // namespace crowd::test
