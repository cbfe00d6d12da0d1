// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

/** What else is known of a candidate. */
struct Extra {
  std::optional<float> density;
  std::optional<std::uint32_t> proposal;
  std::optional<Box> visible;
  std::optional<std::uint8_t> model;
  std::size_t first_feature = 0, feature_length = 0; /**< its part of all features; 0: it has none */
};

/** Candidates as seen by a reader: three parallel arrays, a fourth where more is known of any of them. */
struct CandidatesView {
  std::span<const Box> boxes;
  std::span<const float> scores;
  std::span<const std::int32_t> classes;
  std::span<const Extra> extras{};   /**< of each, or none */
  std::span<const float> features{}; /**< of all, see Extra */
};

/** Candidates of a frame, or of a whole recording. Clearing keeps the memory. */
struct CandidateList {
  std::vector<Box> boxes;
  std::vector<float> scores;
  std::vector<std::int32_t> classes;
  std::vector<Extra> extras; /**< of each, or empty */
  std::vector<float> features;

  std::size_t size() const {
    return boxes.size();
  }
  void clear() {
    boxes.clear();
    scores.clear();
    classes.clear();
    extras.clear();
    features.clear();
  }
  void resize(std::size_t n) {
    boxes.resize(n);
    scores.resize(n);
    classes.resize(n);
    if (!extras.empty())
      extras.resize(n);
  }
  void add(const Box& box, float score, std::int32_t object_class) {
    boxes.push_back(box);
    scores.push_back(score);
    classes.push_back(object_class);
    if (!extras.empty())
      extras.emplace_back();
  }
  /** Of the candidate that was added last. */
  void add_extra(const Extra& extra) {
    extras.resize(size());
    extras.back() = extra;
  }
  CandidatesView view(std::size_t first, std::size_t count) const {
    return {std::span(boxes).subspan(first, count), std::span(scores).subspan(first, count),
            std::span(classes).subspan(first, count),
            extras.empty() ? std::span<const Extra>() : std::span(extras).subspan(first, count), features};
  }
  CandidatesView view() const {
    return view(0, size());
  }
};

/** A true object of a frame. The id is the object's own for as long as the scene lasts, and starts at 1. */
struct TrueObject {
  std::uint32_t id;
  std::int32_t object_class;
  Box box;
  bool operator==(const TrueObject&) const = default;
};

}  // namespace crowd::scene
