// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "hard_boxes.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace crowd::test {

namespace {

std::uint32_t side_of(std::uint32_t n) {
  return static_cast<std::uint32_t>(std::ceil(std::sqrt(static_cast<double>(n))));
}

/// Places 0 to n - 1 in random order.
std::vector<std::uint32_t> shuffled(std::uint32_t n, Dice& dice) {
  std::vector<std::uint32_t> places(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t at = dice.below(i + 1);
    places[i] = places[at];
    places[at] = i;
  }
  return places;
}

float log_between(float low, float high, Dice& dice) {
  return std::exp(dice.between(std::log(low), std::log(high)));
}

// A grid of disjoint boxes, but for one box 64 times, where samples at even distances look.
Boxes decoys(std::uint32_t n, Dice& dice) {
  Boxes set;
  const std::vector<std::uint32_t> places = shuffled(n, dice);
  const std::uint32_t side = side_of(n);
  for (const std::uint32_t place : places) {
    const auto x = 12 * static_cast<float>(place % side), y = 12 * static_cast<float>(place / side);
    set.add({x, y, x + 10, y + 10}, dice.unit());
  }
  for (std::uint32_t i = 0; n >= 64 && i < 64; ++i)
    set.boxes[static_cast<std::size_t>(std::uint64_t{i} * n / 64)] = {0, 0, 1, 1};
  return set;
}

Boxes many_orders_of_magnitude(std::uint32_t n, Dice& dice) {
  Boxes set;
  for (std::uint32_t i = 0; i < n; ++i) {
    const float d = log_between(1e-26f, 1e26f, dice);
    set.add({d, d, d * 1.001f, d * 1.001f}, dice.unit());
  }
  return set;
}

Boxes class_each(std::uint32_t n, Dice& dice) {
  Boxes set;
  for (std::uint32_t i = 0; i < n; ++i)
    set.add({10, 10, 60, 60}, dice.unit(), static_cast<std::int32_t>(i * 2654435761u));
  return set;
}

Boxes many_classes_in_a_pile(std::uint32_t n, Dice& dice) {
  Boxes set;
  for (std::uint32_t i = 0; i < n; ++i) {
    const float x = dice.between(0, 60), y = dice.between(0, 60);
    set.add({x, y, x + dice.between(20, 70), y + dice.between(20, 70)}, dice.unit(),
            static_cast<std::int32_t>(dice.below(1000)));
  }
  return set;
}

Boxes areas_that_underflow(std::uint32_t n, Dice& dice) {
  Boxes set;
  for (std::uint32_t i = 0; i < n; ++i) {
    const float x = dice.between(0, 1e-24f), y = dice.between(0, 1e-24f);
    set.add({x, y, x + 1e-23f, y + 1e-23f}, dice.unit());
  }
  return set;
}

// Areas of one to a few units of the smallest float, in lines that cross.
Boxes least_areas(std::uint32_t n, Dice& dice) {
  Boxes set;
  for (std::uint32_t i = 0; i < n; ++i) {
    const float along = log_between(1e-20f, 1e20f, dice), across = dice.between(1, 40) * 0x1p-149f / along;
    const float at = dice.between(0, 1e-19f);
    if (i % 2)
      set.add({-along, at, along, at + across}, dice.unit());
    else
      set.add({at, -along, at + across, along}, dice.unit());
  }
  return set;
}

Boxes giants_above_small_ones(std::uint32_t n, Dice& dice) {
  Boxes set;
  for (std::uint32_t i = 0; i < n; ++i) {
    const bool giant = dice.one_in(100);
    const float x = dice.between(0, giant ? 400 : 4000), y = dice.between(0, giant ? 400 : 4000);
    const float side = giant ? dice.between(3000, 3900) : 4;
    set.add({x, y, x + side, y + side}, dice.unit());
  }
  return set;
}

Boxes crossing_bars(std::uint32_t n, Dice& dice) {
  Boxes set;
  for (std::uint32_t i = 0; i < n; ++i) {
    const float from = dice.unit(), at = dice.between(0, 4000);
    if (i % 2)
      set.add({from, at, from + 4000, at + 0.02f}, dice.unit());
    else
      set.add({at, from, at + 0.02f, from + 4000}, dice.unit());
  }
  return set;
}

Boxes all_sizes_in_one_spot(std::uint32_t n, Dice& dice) {
  Boxes set;
  for (std::uint32_t i = 0; i < n; ++i) {
    const float w = log_between(1e-16f, 1e16f, dice), h = log_between(1e-16f, 1e16f, dice);
    set.add({-w, -h, w, h}, dice.unit());
  }
  return set;
}

Boxes all_shapes_of_one_area(std::uint32_t n, Dice& dice) {
  Boxes set;
  for (std::uint32_t i = 0; i < n; ++i) {
    const float w = log_between(1e-10f, 1e10f, dice);
    set.add({-w, -1 / w, w, 1 / w}, dice.unit());
  }
  return set;
}

Boxes one_pile(std::uint32_t n, Dice& dice) {
  Boxes set;
  for (std::uint32_t i = 0; i < n; ++i) {
    const float x = dice.between(0, 60), y = dice.between(0, 60);
    set.add({x, y, x + dice.between(20, 70), y + dice.between(20, 70)}, dice.unit());
  }
  return set;
}

// Squares that are apart and rank best, and among them squares around one point, each a little larger than another.
Boxes nested_below_a_grid(std::uint32_t n, Dice& dice) {
  Boxes set;
  const std::uint32_t nested = n - n / 2;
  const std::uint32_t side = side_of(n / 2);
  for (std::uint32_t i = 0; i < nested; ++i) {
    const float half = 50 * std::exp(0.0015f * static_cast<float>(i));
    set.add({500 - half, 500 - half, 500 + half, 500 + half}, dice.between(0.5f, 0.50001f));
  }
  for (std::uint32_t i = nested; i < n; ++i) {
    const float x = 180 * static_cast<float>((i - nested) % side), y = 180 * static_cast<float>((i - nested) / side);
    const float extent = log_between(20, 178, dice);
    set.add({x, y, x + extent, y + extent}, dice.between(0.8f, 1));
  }
  return set;
}

// Squares around one point up to areas that are no finite float, and below them a crowd of small ones.
Boxes areas_that_overflow(std::uint32_t n, Dice& dice) {
  Boxes set;
  for (std::uint32_t i = 0; i < n; ++i) {
    const bool small = dice.one_in(3);
    const float half = small ? 2.5f : log_between(300, 1e29f, dice);
    const float at = small ? dice.between(0, 12) : 0;
    set.add({at - half, at - half, at + half, at + half}, small ? dice.between(0.2f, 0.3f) : dice.between(0.8f, 1));
  }
  return set;
}

constexpr Distribution all[] = {
    {"decoys", decoys},
    {"nested_below_a_grid", nested_below_a_grid},
    {"areas_that_overflow", areas_that_overflow},
    {"many_orders_of_magnitude", many_orders_of_magnitude},
    {"class_each", class_each},
    {"many_classes_in_a_pile", many_classes_in_a_pile},
    {"areas_that_underflow", areas_that_underflow},
    {"least_areas", least_areas},
    {"giants_above_small_ones", giants_above_small_ones},
    {"crossing_bars", crossing_bars},
    {"all_sizes_in_one_spot", all_sizes_in_one_spot},
    {"all_shapes_of_one_area", all_shapes_of_one_area},
    {"one_pile", one_pile},
};

}  // namespace

std::span<const Distribution> hard_distributions() {
  return all;
}

Boxes ladder(std::uint32_t n, std::uint32_t suppressors) {
  const float step = 100.0F / 3 / (static_cast<float>(suppressors) + 0.5F);
  Boxes set;
  for (std::uint32_t rank = 0; rank < n; ++rank) {
    const float x = step * static_cast<float>(rank);
    set.add({x, 0, x + 100, 100}, 1 - static_cast<float>(rank) / static_cast<float>(n));
  }
  return set;
}

}  // namespace crowd::test
