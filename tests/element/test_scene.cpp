// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "crowd/nms.h"
#include "inject/scene/random.hpp"
#include "inject/scene/scene.hpp"
#include "inject/scene/source.hpp"
#include "inject/scene/truth_file.hpp"
#include "temporary_file.hpp"

namespace {

using namespace crowd::scene;

struct Shot {
  Candidates candidates;
  std::vector<Object> objects;
};

Shot shoot(const SceneSettings& settings, std::uint64_t number, std::int64_t wanted = own_number, Size frame = {}) {
  Scene scene(settings);
  Shot shot;
  scene.frame(number, frame.width > 0 ? frame : scene.size(), wanted, shot.candidates, shot.objects);
  return shot;
}

bool same(const Shot& a, const Shot& b) {
  return a.candidates.boxes == b.candidates.boxes && a.candidates.scores == b.candidates.scores &&
         a.candidates.classes == b.candidates.classes && a.objects == b.objects;
}

float iou(const Box& a, const Box& b) {
  const float w = std::max(0.0f, std::min(a.x2, b.x2) - std::max(a.x1, b.x1));
  const float h = std::max(0.0f, std::min(a.y2, b.y2) - std::max(a.y1, b.y1));
  return w * h / ((a.x2 - a.x1) * (a.y2 - a.y1) + (b.x2 - b.x1) * (b.y2 - b.y1) - w * h);
}

std::string name_of(SceneKind kind) {
  return std::vector<std::string>{"oscars", "crowd_run", "mosaic", "uniform"}[static_cast<std::size_t>(kind)];
}

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
      for (const Object& object : shot.objects)
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

// Own number of candidates and of objects, over many frames.
struct Range {
  std::size_t min = SIZE_MAX, max = 0;
  void add(std::size_t n) {
    min = std::min(min, n);
    max = std::max(max, n);
  }
};

std::pair<Range, Range> ranges(SceneKind kind) {
  std::pair<Range, Range> result;
  Scene scene({.kind = kind});
  Shot shot;
  for (std::uint64_t number = 0; number < 1500; number++) {
    scene.frame(number, scene.size(), own_number, shot.candidates, shot.objects);
    result.first.add(shot.candidates.size());
    result.second.add(shot.objects.size());
  }
  return result;
}

TEST(scene, oscars_has_147_faces_that_do_not_touch) {
  const Shot shot = shoot({.kind = SceneKind::oscars}, 0);
  EXPECT_EQ(shot.candidates.size(), 2895u);
  ASSERT_EQ(shot.objects.size(), 147u);
  for (std::size_t i = 0; i < shot.objects.size(); i++)
    for (std::size_t j = 0; j < i; j++)
      ASSERT_EQ(iou(shot.objects[i].box, shot.objects[j].box), 0.0f) << i << ' ' << j;
}

TEST(scene, oscars_is_a_still_picture) {
  EXPECT_TRUE(same(shoot({.kind = SceneKind::oscars}, 0), shoot({.kind = SceneKind::oscars}, 99)));
}

TEST(scene, oscars_uncovers_one_face_after_the_other) {
  const SceneSettings covered{.kind = SceneKind::oscars, .uncover_every = 2};
  const Shot all = shoot({.kind = SceneKind::oscars}, 0);
  std::size_t before = 0;
  for (std::uint64_t number = 0; number < 310; number++) {
    const Shot shot = shoot(covered, number);
    EXPECT_EQ(shot.objects.size(), std::min<std::size_t>(number / 2, 147)) << number;
    EXPECT_TRUE(std::equal(shot.objects.begin(), shot.objects.end(), all.objects.begin())) << number;
    EXPECT_EQ(shot.candidates.size() > before, number % 2 == 0 && number >= 2 && number <= 294) << number;
    before = shot.candidates.size();
  }
  EXPECT_EQ(shoot(covered, 1).candidates.size(), 0u);
  EXPECT_TRUE(same(shoot(covered, 294), all));
}

TEST(scene, crowd_run_has_the_papers_numbers) {
  const auto [candidates, objects] = ranges(SceneKind::crowd_run);
  EXPECT_GE(candidates.min, 360u);
  EXPECT_LE(candidates.min, 380u);
  EXPECT_GE(candidates.max, 678u);
  EXPECT_LE(candidates.max, 698u);
  EXPECT_GE(objects.min, 50u);
  EXPECT_LE(objects.max, 66u);
}

TEST(scene, mosaic_is_four_different_crowds_in_quarters) {
  const auto [candidates, objects] = ranges(SceneKind::mosaic);
  EXPECT_GE(candidates.min, 4 * 360u);
  EXPECT_LE(candidates.max, 4 * 698u);
  EXPECT_GE(objects.min, 200u);
  EXPECT_LE(objects.max, 264u);

  const Shot shot = shoot({.kind = SceneKind::mosaic}, 10);
  std::map<int, std::set<float>> sizes;
  std::set<std::uint32_t> ids;
  for (const Box& box : shot.candidates.boxes)
    ASSERT_TRUE((box.x2 <= 1920 || box.x1 >= 1920) && (box.y2 <= 1080 || box.y1 >= 1080));
  for (const Object& object : shot.objects) {
    sizes[(object.box.x1 >= 1920) + 2 * (object.box.y1 >= 1080)].insert(object.box.x2 - object.box.x1);
    ids.insert(object.id);
  }
  EXPECT_EQ(ids.size(), shot.objects.size());
  ASSERT_EQ(sizes.size(), 4u);
  EXPECT_NE(sizes[0], sizes[1]);
  EXPECT_NE(sizes[1], sizes[2]);
  EXPECT_NE(sizes[2], sizes[3]);
}

TEST(scene, uniform_has_no_objects_and_new_boxes_on_each_frame) {
  const Shot a = shoot({.kind = SceneKind::uniform}, 0), b = shoot({.kind = SceneKind::uniform}, 1);
  EXPECT_EQ(a.candidates.size(), 4096u);
  EXPECT_TRUE(a.objects.empty());
  EXPECT_NE(a.candidates.boxes, b.candidates.boxes);
}

TEST(scene, people_move_smoothly_and_all_of_them_move) {
  Scene scene({.kind = SceneKind::crowd_run});
  std::map<std::uint32_t, Box> before, first;
  std::set<std::uint32_t> moved;
  Shot shot;
  for (std::uint64_t number = 1'000'000'000'000; number < 1'000'000'000'300; number++) {
    scene.frame(number, scene.size(), own_number, shot.candidates, shot.objects);
    std::map<std::uint32_t, Box> now;
    for (const Object& object : shot.objects) {
      now[object.id] = object.box;
      if (const auto last = before.find(object.id); last != before.end()) {
        ASSERT_LE(std::abs(object.box.x1 - last->second.x1), 7.0f) << object.id;
        ASSERT_LE(std::abs(object.box.y1 - last->second.y1), 4.0f) << object.id;
        if (object.box.x1 != last->second.x1)
          moved.insert(object.id);
      }
    }
    before = std::move(now);
  }
  EXPECT_EQ(moved.size(), 66u);
}

// Every face has its pile of windows, and every window its face.
TEST(scene, windows_belong_to_faces) {
  for (const SceneKind kind : {SceneKind::oscars, SceneKind::crowd_run, SceneKind::mosaic}) {
    const Shot shot = shoot({.kind = kind}, 30);
    for (const Object& object : shot.objects)
      EXPECT_TRUE(
          std::ranges::any_of(shot.candidates.boxes, [&](const Box& box) { return iou(box, object.box) > 0.5f; }))
          << name_of(kind) << " face " << object.id;
    std::size_t close = 0;
    for (const Box& box : shot.candidates.boxes) {
      float best = 0;
      for (const Object& object : shot.objects)
        best = std::max(best, iou(box, object.box));
      EXPECT_GT(best, 0.3f) << name_of(kind);
      close += best > 0.7f;
    }
    EXPECT_GT(close, shot.candidates.size() / 2) << name_of(kind);
  }
}

TEST(scene, nms_leaves_one_box_a_face_of_the_picture) {
  const Shot shot = shoot({.kind = SceneKind::oscars}, 0);
  const auto n = static_cast<std::uint32_t>(shot.candidates.size());
  CrowdNmsParams params;
  crowd_nms_params_init(&params);
  CrowdNmsSession* session = nullptr;
  ASSERT_EQ(crowd_nms_session_new(CROWD_NMS_BACKEND_CPU, &params, 1, n, &session), CROWD_NMS_OK);
  std::vector<CrowdNmsBox> boxes;
  for (const Box& box : shot.candidates.boxes)
    boxes.push_back({box.x1, box.y1, box.x2, box.y2});
  CrowdNmsCandidates candidates{};
  candidates.boxes = boxes.data();
  candidates.scores = shot.candidates.scores.data();
  candidates.frames = 1;
  candidates.capacity = n;
  std::vector<std::uint32_t> indices(n);
  CrowdNmsReport report;
  CrowdNmsSurvivors survivors{};
  survivors.survivors = indices.data();
  survivors.reports = &report;
  survivors.max_survivors = n;
  EXPECT_EQ(crowd_nms_session_run(session, &params, &candidates, &survivors), CROWD_NMS_OK);
  crowd_nms_session_free(session);
  ASSERT_EQ(report.survivors, 147u);
  std::set<std::uint32_t> found;
  for (std::uint32_t i = 0; i < report.survivors; i++)
    for (const Object& object : shot.objects)
      if (iou(shot.candidates.boxes[indices[i]], object.box) > 0.5f)
        found.insert(object.id);
  EXPECT_EQ(found.size(), 147u);
}

TEST(scene, without_jitter_windows_are_their_faces) {
  const Shot shot = shoot({.kind = SceneKind::oscars, .jitter = 0}, 0);
  std::set<float> faces, windows;
  for (const Object& object : shot.objects)
    faces.insert(object.box.x1);
  for (const Box& box : shot.candidates.boxes)
    windows.insert(box.x1);
  EXPECT_EQ(windows, faces);
}

TEST(scene, jitter_is_kept_within_its_limits) {
  const auto boxes = [](float jitter) {
    return shoot({.kind = SceneKind::oscars, .jitter = jitter}, 0).candidates.boxes;
  };
  EXPECT_EQ(boxes(5), boxes(max_jitter));
  EXPECT_EQ(boxes(-1), boxes(0));
  EXPECT_NE(boxes(max_jitter), boxes(0));
}

// Centre to centre, in sides of the face.
float distance(const Box& box, const Box& face) {
  return std::hypot(box.x1 + box.x2 - face.x1 - face.x2, box.y1 + box.y2 - face.y1 - face.y2) / 2 / (face.x2 - face.x1);
}

TEST(scene, better_placed_windows_score_higher) {
  const Shot shot = shoot({.kind = SceneKind::oscars}, 0);
  double near = 0, far = 0;
  int n_near = 0, n_far = 0;
  for (std::size_t i = 0; i < shot.candidates.size(); i++) {
    float nearest = 1;
    for (const Object& object : shot.objects)
      nearest = std::min(nearest, distance(shot.candidates.boxes[i], object.box));
    (nearest < 0.08f ? near : far) += shot.candidates.scores[i];
    (nearest < 0.08f ? n_near : n_far)++;
  }
  ASSERT_TRUE(n_near > 500 && n_far > 500) << n_near << ' ' << n_far;
  EXPECT_GT(near / n_near, far / n_far + 0.05);
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

TEST(truth_file, writes_each_frame_once_as_mot_lines) {
  const std::string path = crowd::test::temporary_path(".txt");
  TruthFile file(path);
  ASSERT_TRUE(file.ok()) << file.error();
  const std::vector<Object> objects = {{7, 2, {0.5f, 10, 20.75f, 31}}, {9, 0, {1e6f, 0.1f, 1000001, 2}}};
  EXPECT_TRUE(file.write(0, objects));
  EXPECT_TRUE(file.write(3, {objects.data(), 1}));
  EXPECT_TRUE(file.write(3, objects));
  EXPECT_TRUE(file.write(1, objects));
  EXPECT_TRUE(file.close());
  std::ifstream in(path);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_EQ(text, "1,7,0.5,10,20.25,21,1,3,1\n1,9,1000000,0.1,1,1.9,1,1,1\n4,7,0.5,10,20.25,21,1,3,1\n");
}

TEST(truth_file, says_why_it_cannot_write) {
  TruthFile missing("/nowhere/at/all.txt");
  EXPECT_FALSE(missing.ok());
  EXPECT_EQ(missing.error(), "No such file or directory");
  EXPECT_FALSE(missing.write(0, std::vector<Object>{{1, 0, {0, 0, 1, 1}}}));

  TruthFile full("/dev/full");
  ASSERT_TRUE(full.ok());
  const std::vector<Object> many(1000, Object{1, 0, {0, 0, 1, 1}});
  EXPECT_FALSE(full.write(0, many) && full.flush());
  EXPECT_EQ(full.error(), "No space left on device");
  EXPECT_FALSE(full.close());
}

}  // namespace
