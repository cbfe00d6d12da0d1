// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace crowd::scene {

/** Pixels of the frame, half-open: width = x2 - x1. */
struct Box {
  float x1, y1, x2, y2;
  bool operator==(const Box&) const = default;
};

struct Size {
  float width, height;
};

/** Candidates as seen by a reader: three parallel arrays. */
struct CandidatesView {
  std::span<const Box> boxes;
  std::span<const float> scores;
  std::span<const std::int32_t> classes;
};

/** Candidates of a frame, or of a whole recording. Clearing keeps the memory. */
struct Candidates {
  std::vector<Box> boxes;
  std::vector<float> scores;
  std::vector<std::int32_t> classes;

  std::size_t size() const {
    return boxes.size();
  }
  void clear() {
    boxes.clear();
    scores.clear();
    classes.clear();
  }
  void resize(std::size_t n) {
    boxes.resize(n);
    scores.resize(n);
    classes.resize(n);
  }
  void add(const Box& box, float score, std::int32_t object_class) {
    boxes.push_back(box);
    scores.push_back(score);
    classes.push_back(object_class);
  }
  CandidatesView view(std::size_t first, std::size_t count) const {
    return {std::span(boxes).subspan(first, count), std::span(scores).subspan(first, count),
            std::span(classes).subspan(first, count)};
  }
  CandidatesView view() const {
    return view(0, size());
  }
};

/** A true object of a frame. The id is the object's own for as long as the scene lasts, and starts at 1. */
struct Object {
  std::uint32_t id;
  std::int32_t object_class;
  Box box;
  bool operator==(const Object&) const = default;
};

}  // namespace crowd::scene
