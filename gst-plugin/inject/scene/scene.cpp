// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "inject/scene/scene.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "inject/scene/random.hpp"

namespace crowd::scene {

namespace {

constexpr std::uint32_t rows = 7;
constexpr std::uint32_t seats_in_row = 21;
constexpr std::uint32_t sitters = rows * seats_in_row;
constexpr std::uint32_t runners = 66;
constexpr float runner_margin = 0.05f;  // of the width, on each side: out of the picture
constexpr std::uint64_t oscars_number = 2895;
constexpr std::uint64_t uniform_number = 4096;
constexpr std::uint64_t jitter_period = 8;  // frames

// What a draw is for, so that no two draws share a key.
enum Purpose : std::uint64_t { seating, seat, runner, running, window, amount, skip, uniform_box, colour, tile_seed };

constexpr Size scene_size(SceneKind kind) {
  switch (kind) {
    case SceneKind::oscars:
      return {4646.0f, 1800.0f};
    case SceneKind::crowd_run:
      return {1920.0f, 1080.0f};
    case SceneKind::mosaic:
    case SceneKind::uniform:
      break;
  }
  return {3840.0f, 2160.0f};
}

// A turn of 2^64 in so many frames.
constexpr std::uint64_t turns_in(float frames) {
  return static_cast<std::uint64_t>(0x1p64f / frames);
}

// 360 to 698 as in the paper: a slow tide and what a detector varies by between frames.
std::uint64_t crowd_run_number(std::uint64_t seed, std::uint64_t number) {
  const float tide = 150.0f * wave(draw(seed, amount) + number * turns_in(250.0f));
  const auto flicker = static_cast<std::int64_t>(draw(seed, amount, number) % 39) - 19;
  return static_cast<std::uint64_t>(529 + static_cast<std::int64_t>(tide) + flicker);
}

std::uint64_t share(std::uint64_t total, std::size_t parts, std::size_t part) {
  return total / parts + (part < total % parts ? 1 : 0);
}

}  // namespace

// Where a window lies relative to its face, in units of the face: drawn anew every few frames and moved smoothly
// between the draws.
struct Scene::Jitter {
  float x, y, scale, quality;

  static Jitter draw_at(std::uint64_t key, std::uint64_t time) {
    const std::uint64_t k = draw(key, time);
    return {normal(mix(k + 1)), normal(mix(k + 2)), normal(mix(k + 3)), between(0.7f, 1.0f, mix(k + 4))};
  }

  static Jitter at(std::uint64_t key, std::uint64_t number) {
    const std::uint64_t time = number / jitter_period;
    const float t = static_cast<float>(number % jitter_period) / static_cast<float>(jitter_period);
    const Jitter a = draw_at(key, time);
    if (t == 0.0f)
      return a;
    const Jitter b = draw_at(key, time + 1);
    const float s = t * t * (3.0f - 2.0f * t);
    return {a.x + (b.x - a.x) * s, a.y + (b.y - a.y) * s, a.scale + (b.scale - a.scale) * s,
            a.quality + (b.quality - a.quality) * s};
  }
};

Scene::Scene(const SceneSettings& settings) : settings_(settings) {
  settings_.classes = std::max(settings_.classes, 1u);
  settings_.jitter = std::clamp(settings_.jitter, 0.0f, max_jitter);
  const Size whole = size();
  const std::uint64_t seed = draw(settings_.seed, settings_.kind);
  if (settings_.kind == SceneKind::mosaic) {
    const float w = whole.width / 2, h = whole.height / 2;
    for (std::uint32_t i = 0; i < 4; i++) {
      const float x = w * static_cast<float>(i % 2), y = h * static_cast<float>(i / 2);
      tiles_.push_back({{x, y, x + w, y + h}, draw(seed, tile_seed, i), 1 + i * runners});
    }
  } else {
    tiles_.push_back({{0, 0, whole.width, whole.height}, seed, 1});
  }
  if (settings_.kind == SceneKind::oscars) {
    seats_.resize(sitters);
    std::iota(seats_.begin(), seats_.end(), 0u);
    for (std::uint32_t i = sitters - 1; i > 0; i--)
      std::swap(seats_[i], seats_[draw(seed, seating, i) % (i + 1)]);
  }
  faces_.reserve(std::max(sitters, runners));
}

Size Scene::size() const {
  return scene_size(settings_.kind);
}

void Scene::frame(std::uint64_t number, Size frame, std::int64_t wanted, CandidateList& candidates,
                  std::vector<TrueObject>& objects) {
  candidates.clear();
  objects.clear();
  const bool own = wanted < 0;
  const auto total = static_cast<std::uint64_t>(own ? 0 : wanted);
  if (settings_.kind == SceneKind::uniform) {
    add_uniform(number, own ? uniform_number : total, frame, candidates);
    return;
  }
  if (settings_.kind == SceneKind::oscars) {
    place_rows(number);
    add_objects(frame, objects);
    add_windows(tiles_[0], 0, own ? oscars_number : total, frame, candidates);  // a picture: always as on frame 0
    return;
  }
  for (std::size_t i = 0; i < tiles_.size(); i++) {
    const Tile& tile = tiles_[i];
    place_runners(tile, number);
    add_objects(frame, objects);
    add_windows(tile, number, own ? crowd_run_number(tile.seed, number) : share(total, tiles_.size(), i), frame,
                candidates);
  }
}

void Scene::place_rows(std::uint64_t number) {
  faces_.clear();
  const Size whole = size();
  const float w = whole.width / seats_in_row, h = whole.height / rows;
  for (std::uint32_t i = 0; i < sitters; i++) {
    const std::uint64_t key = draw(tiles_[0].seed, seat, i);
    const std::uint32_t row = seats_[i] / seats_in_row, column = seats_[i] % seats_in_row;
    const float side = 44.0f + 7.0f * static_cast<float>(row) + between(-6.0f, 6.0f, mix(key + 1));
    // Half the room that the seat leaves, so that faces never touch.
    const float dx = (w - side) * 0.5f * between(-0.5f, 0.5f, mix(key + 2));
    const float dy = (h - side) * 0.5f * between(-0.5f, 0.5f, mix(key + 3));
    const bool shown = settings_.uncover_every == 0 || i < number / settings_.uncover_every;
    faces_.push_back({(static_cast<float>(column) + 0.5f) * w + dx, (static_cast<float>(row) + 0.5f) * h + dy, side,
                      tiles_[0].first_id + i, shown});
  }
}

void Scene::place_runners(const Tile& tile, std::uint64_t number) {
  faces_.clear();
  const Box& area = tile.area;
  const float w = area.x2 - area.x1, h = area.y2 - area.y1;
  for (std::uint32_t i = 0; i < runners; i++) {
    const std::uint64_t key = draw(tile.seed, runner, i);
    const float depth = unit(mix(key + 1));  // 0 far, 1 near
    const float side = 24.0f + 66.0f * depth;
    const float lap = between(500.0f, 1100.0f, mix(key + 2)) * (1.5f - 0.5f * depth);  // frames
    const std::uint64_t way = mix(key + 3) + number * turns_in(lap);
    const float along = (1.0f + 2.0f * runner_margin) * unit(mix(key + 4) & 1 ? ~way : way) - runner_margin;
    const float bob = 0.1f * side * wave(mix(key + 5) + number * turns_in(between(24.0f, 40.0f, mix(key + 6))));
    const float x = area.x1 + w * along;
    const float y = area.y1 + h * (0.1f + 0.8f * depth) + bob;
    const float half = side / 2;
    if (x - half >= area.x1 && x + half <= area.x2)
      faces_.push_back({x, y, side, tile.first_id + i, true});
  }
}

void Scene::add_objects(Size frame, std::vector<TrueObject>& objects) const {
  for (const Face& face : faces_) {
    const float half = face.size / 2;
    if (face.shown)
      objects.push_back(
          {face.id, class_of(face.id), stretched({face.x - half, face.y - half, face.x + half, face.y + half}, frame)});
  }
}

// Round after round over the faces, so that each has about the same number of windows; some sit out a round.
void Scene::add_windows(const Tile& tile, std::uint64_t number, std::uint64_t wanted, Size frame,
                        CandidateList& candidates) const {
  if (faces_.empty())
    return;
  std::uint64_t made = 0;
  for (std::uint64_t round = 0; made < wanted; round++) {
    for (const Face& face : faces_) {
      if (made == wanted)
        break;
      if (round > 0 && draw(tile.seed, skip, face.id, round) % 4 == 0)
        continue;
      made++;
      if (face.shown)
        add_window(tile, face, Jitter::at(draw(tile.seed, window, face.id, round), number), frame, candidates);
    }
  }
}

void Scene::add_window(const Tile& tile, const Face& face, const Jitter& jitter, Size frame,
                       CandidateList& candidates) const {
  const float grown = settings_.jitter * jitter.scale;
  const float half = face.size * (1.0f + grown + 0.5f * grown * grown) / 2;  // exp(grown), nearly
  const float dx = settings_.jitter * jitter.x, dy = settings_.jitter * jitter.y;
  const float x = face.x + dx * face.size, y = face.y + dy * face.size;
  const float far = 8.0f * (dx * dx + dy * dy);
  const float score = jitter.quality / (1.0f + far + 0.5f * far * far);  // a bell of deviation 0.25
  const Box box{std::max(x - half, tile.area.x1), std::max(y - half, tile.area.y1), std::min(x + half, tile.area.x2),
                std::min(y + half, tile.area.y2)};
  candidates.add(stretched(box, frame), score, class_of(face.id));
}

void Scene::add_uniform(std::uint64_t number, std::uint64_t wanted, Size frame, CandidateList& candidates) const {
  const Size whole = size();
  const std::uint64_t of_frame = draw(tiles_[0].seed, uniform_box, number);
  for (std::uint64_t i = 0; i < wanted; i++) {
    const std::uint64_t key = draw(of_frame, i);
    const float w = between(16.0f, 96.0f, mix(key + 1));
    const float h = w * between(0.7f, 1.4f, mix(key + 2));
    const float x = unit(mix(key + 3)) * (whole.width - w), y = unit(mix(key + 4)) * (whole.height - h);
    candidates.add(stretched({x, y, x + w, y + h}, frame), unit(mix(key + 5)),
                   static_cast<std::int32_t>(mix(key + 6) % settings_.classes));
  }
}

Box Scene::stretched(const Box& box, Size frame) const {
  const Size whole = size();
  const float sx = frame.width / whole.width, sy = frame.height / whole.height;
  return {box.x1 * sx, box.y1 * sy, std::min(box.x2 * sx, frame.width), std::min(box.y2 * sy, frame.height)};
}

std::int32_t Scene::class_of(std::uint32_t id) const {
  return static_cast<std::int32_t>(draw(settings_.seed, colour, id) % settings_.classes);
}

}  // namespace crowd::scene
