// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What each scene is.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "crowd/nms.h"
#include "scene_shots.hpp"

namespace {

using namespace crowd::scene;

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
  for (const TrueObject& object : shot.objects) {
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
    for (const TrueObject& object : shot.objects) {
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
    for (const TrueObject& object : shot.objects)
      EXPECT_TRUE(
          std::ranges::any_of(shot.candidates.boxes, [&](const Box& box) { return iou(box, object.box) > 0.5f; }))
          << name_of(kind) << " face " << object.id;
    std::size_t close = 0;
    for (const Box& box : shot.candidates.boxes) {
      float best = 0;
      for (const TrueObject& object : shot.objects)
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
    for (const TrueObject& object : shot.objects)
      if (iou(shot.candidates.boxes[indices[i]], object.box) > 0.5f)
        found.insert(object.id);
  EXPECT_EQ(found.size(), 147u);
}

TEST(scene, without_jitter_windows_are_their_faces) {
  const Shot shot = shoot({.kind = SceneKind::oscars, .jitter = 0}, 0);
  std::set<float> faces, windows;
  for (const TrueObject& object : shot.objects)
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
    for (const TrueObject& object : shot.objects)
      nearest = std::min(nearest, distance(shot.candidates.boxes[i], object.box));
    (nearest < 0.08f ? near : far) += shot.candidates.scores[i];
    (nearest < 0.08f ? n_near : n_far)++;
  }
  ASSERT_TRUE(n_near > 500 && n_far > 500) << n_near << ' ' << n_far;
  EXPECT_GT(near / n_near, far / n_far + 0.05);
}

}  // namespace
