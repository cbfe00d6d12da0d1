// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What holds for every scene.

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <set>
#include <vector>

#include "inject/scene/random.hpp"
#include "scene_shots.hpp"

namespace {

using namespace crowd::scene;

class AnyScene : public testing::TestWithParam<SceneKind> {
 protected:
  SceneSettings settings{.kind = GetParam()};
};

INSTANTIATE_TEST_SUITE_P(scenes, AnyScene,
                         testing::Values(SceneKind::oscars, SceneKind::crowd_run, SceneKind::mosaic,
                                         SceneKind::uniform),
                         [](const auto& info) { return name_of(info.param); });

TEST_P(AnyScene, frame_is_a_function_of_seed_and_number) {
  Scene walked(settings);
  for (std::uint64_t number = 0; number < 20; number++) {
    Shot shot;
    walked.frame(number, walked.size(), own_number, shot.candidates, shot.objects);
    EXPECT_TRUE(same(shot, shoot(settings, number))) << number;
  }
}

TEST_P(AnyScene, seeds_differ) {
  SceneSettings other = settings;
  for (const std::uint64_t seed : {0ull, 2ull, 1ull << 32, ~0ull}) {
    other.seed = seed;
    EXPECT_NE(shoot(settings, 3, 500).candidates.boxes, shoot(other, 3, 500).candidates.boxes) << seed;
  }
}

TEST_P(AnyScene, has_exactly_the_candidates_asked_for) {
  for (const std::int64_t wanted : {0, 1, 3, 146, 1000, 3001, 100'000}) {
    const Shot shot = shoot(settings, 5, wanted);
    EXPECT_EQ(shot.candidates.boxes.size(), static_cast<std::size_t>(wanted));
    EXPECT_EQ(shot.candidates.scores.size(), static_cast<std::size_t>(wanted));
    EXPECT_EQ(shot.candidates.classes.size(), static_cast<std::size_t>(wanted));
  }
}

TEST_P(AnyScene, boxes_lie_within_the_frame) {
  for (const Size frame : {Size{4646, 1800}, Size{1920, 1080}, Size{641, 359}, Size{17, 1999}}) {
    for (const std::uint64_t number : {0ull, 7ull, 123'456'789ull, ~0ull}) {
      settings.jitter = number % 2 ? max_jitter : 0.06f;
      const Shot shot = shoot(settings, number, 5000, frame);
      std::vector<Box> boxes = shot.candidates.boxes;
      for (const TrueObject& object : shot.objects)
        boxes.push_back(object.box);
      for (const Box& box : boxes)
        ASSERT_TRUE(0 <= box.x1 && box.x1 < box.x2 && box.x2 <= frame.width && 0 <= box.y1 && box.y1 < box.y2 &&
                    box.y2 <= frame.height)
            << number << ": " << box.x1 << ' ' << box.y1 << ' ' << box.x2 << ' ' << box.y2;
    }
  }
}

TEST_P(AnyScene, scores_are_in_range_and_nearly_all_different) {
  const Shot shot = shoot(settings, 1, 2000);
  for (const float score : shot.candidates.scores)
    ASSERT_TRUE(score >= 0 && score <= 1) << score;
  EXPECT_GT(std::set<float>(shot.candidates.scores.begin(), shot.candidates.scores.end()).size(), 1990u);
}

TEST_P(AnyScene, stretches_to_the_frame) {
  Scene scene(settings);
  const Size size = scene.size();
  const Shot whole = shoot(settings, 4), half = shoot(settings, 4, own_number, {size.width / 2, size.height / 4});
  ASSERT_EQ(whole.candidates.size(), half.candidates.size());
  for (std::size_t i = 0; i < whole.candidates.size(); i++) {
    const Box &a = whole.candidates.boxes[i], &b = half.candidates.boxes[i];
    ASSERT_EQ((Box{a.x1 / 2, a.y1 / 4, a.x2 / 2, a.y2 / 4}), b) << i;
  }
}

TEST_P(AnyScene, classes_are_within_number_and_all_used) {
  settings.classes = 5;
  const Shot shot = shoot(settings, 2);
  EXPECT_EQ(std::set<std::int32_t>(shot.candidates.classes.begin(), shot.candidates.classes.end()),
            (std::set<std::int32_t>{0, 1, 2, 3, 4}));
}

// Pinned: a change of a scene changes what has been measured on it. The digest is FNV-1a over the coordinates'
// bits.
struct Golden {
  SceneKind kind;
  std::size_t candidates, objects;
  Box first;
  float score;
  std::uint64_t digest;
};

TEST(scene, frame_0_of_the_default_seed_is_pinned) {
  const Golden goldens[] = {
      {SceneKind::oscars,
       2895,
       147,
       {2501.24146f, 366.081879f, 2555.61401f, 420.454681f},
       0.662960351f,
       0x67ba14b020251e5e},
      {SceneKind::crowd_run,
       663,
       60,
       {1579.48901f, 454.184998f, 1631.61914f, 506.315063f},
       0.671015859f,
       0xb44953009decc25c},
      {SceneKind::mosaic,
       2293,
       231,
       {832.972595f, 698.677124f, 907.653503f, 773.358032f},
       0.749061942f,
       0x70ed191c24f3684e},
      {SceneKind::uniform, 4096, 0, {3725.48193f, 423.1203f, 3771.12915f, 483.6745f}, 0.86909765f, 0x91e3c13f8ac2a26e}};
  for (const Golden& golden : goldens) {
    const Shot shot = shoot({.kind = golden.kind}, 0);
    ASSERT_EQ(shot.candidates.size(), golden.candidates) << name_of(golden.kind);
    EXPECT_EQ(shot.objects.size(), golden.objects) << name_of(golden.kind);
    EXPECT_EQ(shot.candidates.boxes[0], golden.first) << name_of(golden.kind);
    EXPECT_EQ(shot.candidates.scores[0], golden.score) << name_of(golden.kind);
    std::uint64_t digest = 0;
    for (const Box& box : shot.candidates.boxes)
      for (const std::uint32_t bits : std::bit_cast<std::array<std::uint32_t, 4>>(box))
        digest = (digest ^ bits) * 1099511628211u;
    EXPECT_EQ(digest, golden.digest) << name_of(golden.kind);
  }
}

TEST(scene_random, numbers_are_splitmix64s_and_evenly_spread) {
  EXPECT_EQ(mix(0), 0xe220a8397b1dcdafu);  // the first output of splitmix64 for seed 0, as published
  double sum = 0, squares = 0, units = 0;
  constexpr int n = 100'000;
  for (int i = 0; i < n; i++) {
    const float x = normal(mix(static_cast<std::uint64_t>(i)));
    ASSERT_LE(std::abs(x), 3.4642f);
    sum += x;
    squares += static_cast<double>(x) * x;
    units += unit(mix(static_cast<std::uint64_t>(i)));
  }
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 1, 0.01);
  EXPECT_NEAR(units / n, 0.5, 0.005);
  EXPECT_EQ(wave(0), 0.0f);
  EXPECT_EQ(wave(1ull << 62), 1.0f);
  EXPECT_EQ(wave(3ull << 62), -1.0f);
}

}  // namespace
