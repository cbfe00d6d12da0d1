// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** What the parsers of read_recording() fill. */

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "inject/scene/recording.hpp"

namespace crowd::scene {

/**
 * Collects lines in any order. What is said of a line counts from end_line() on; reject() takes it back, in time linear
 * in what was said.
 */
class RecordingBuilder {
 public:
  void add(const Box& box, float score, std::int32_t object_class) {
    recording_.candidates_.add(box, score, object_class);
  }
  /** What else is known of the candidate that was added last, its features among it. */
  void add_extra(Extra extra, std::span<const float> features);
  void end_line(std::uint64_t frame);
  /** Counts a line that does not fit. */
  void reject(BadLine bad);

  /** The first resolution holds; false if this one differs from it. */
  bool agree_on_resolution(Size resolution);
  /** Gives a class its name; the first one given stays. */
  void name_class(std::int32_t object_class, std::string_view label);
  /** The class of that name, a new one if there is none yet; nothing if there are too many. */
  std::optional<std::int32_t> class_named(std::string_view label);

  std::uint64_t accepted_lines() const {
    return accepted_lines_;
  }
  const std::optional<BadLine>& first_rejected() const {
    return recording_.first_skipped_;
  }
  Recording finish() &&;

 private:
  using ClassesByLabel = std::map<std::string, std::int32_t, std::less<>>;

  /** Of the line in hand, beside its candidates. */
  struct Pending {
    std::map<std::int32_t, std::string> labels;
    ClassesByLabel classes;
    std::optional<Size> resolution;
  };

  std::size_t next_free_class() const;
  void sort_by_frame();

  Recording recording_;
  ClassesByLabel classes_;
  Pending pending_;
  std::size_t ended_ = 0; /**< candidates of the lines that have ended */
  std::size_t ended_features_ = 0;
  std::uint64_t accepted_lines_ = 0;
};

}  // namespace crowd::scene
