// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames of a scene, for the tests of scenes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "inject/scene/scene.hpp"
#include "inject/scene/source.hpp"

namespace crowd::scene {

struct Shot {
  CandidateList candidates;
  std::vector<TrueObject> objects;
};

inline Shot shoot(const SceneSettings& settings, std::uint64_t number, std::int64_t wanted = own_number,
                  Size frame = {}) {
  Scene scene(settings);
  Shot shot;
  scene.frame(number, frame.width > 0 ? frame : scene.size(), wanted, shot.candidates, shot.objects);
  return shot;
}

inline bool same(const Shot& a, const Shot& b) {
  return a.candidates.boxes == b.candidates.boxes && a.candidates.scores == b.candidates.scores &&
         a.candidates.classes == b.candidates.classes && a.objects == b.objects;
}

inline float iou(const Box& a, const Box& b) {
  const float w = std::max(0.0f, std::min(a.x2, b.x2) - std::max(a.x1, b.x1));
  const float h = std::max(0.0f, std::min(a.y2, b.y2) - std::max(a.y1, b.y1));
  return w * h / ((a.x2 - a.x1) * (a.y2 - a.y1) + (b.x2 - b.x1) * (b.y2 - b.y1) - w * h);
}

inline std::string name_of(SceneKind kind) {
  return std::vector<std::string>{"oscars", "crowd_run", "mosaic", "uniform"}[static_cast<std::size_t>(kind)];
}

}  // namespace crowd::scene
