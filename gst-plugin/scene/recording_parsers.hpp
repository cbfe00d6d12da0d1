// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** What read_recording() is made of: the parsers of a line, and what they fill. */

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scene/recording.hpp"

namespace crowd::scene {

/** Collects lines in any order: the candidates of a line by add(), then end_line(). */
class RecordingBuilder {
 public:
  void add(const Box& box, float score, std::int32_t object_class) {
    recording_.candidates_.add(box, score, object_class);
  }
  void end_line(std::uint64_t frame);
  /** Counts a line that does not fit. Takes back all that was said since the last line ended. */
  void reject(BadLine bad);

  /** The first resolution wins; false if this one differs from it. */
  bool agree_on_resolution(Size resolution);
  /** Gives a class its name; the first one given stays. */
  void name_class(std::int32_t object_class, const std::string& label);
  /** The class of that name, a new one if there is none yet; nothing if there are too many. */
  std::optional<std::int32_t> class_named(const std::string& label);

  std::uint64_t accepted_lines() const {
    return accepted_lines_;
  }
  const std::optional<BadLine>& first_rejected() const {
    return recording_.first_skipped_;
  }
  Recording finish() &&;

 private:
  void sort_by_frame();
  void take_back();

  Recording recording_;
  std::size_t ended_ = 0; /**< candidates of the lines that have ended */
  std::uint64_t accepted_lines_ = 0;
  std::map<std::string, std::int32_t> classes_;
  std::vector<std::int32_t> named_; /**< classes that this line names */
  std::size_t labels_before_ = 0;   /**< as they were when the last line ended, like the next */
  Size resolution_before_{0, 0};
};

/**
 * Takes one line, without its end and not blank, into the builder. Returns what is wrong with it if it does not fit: it
 * is to be rejected then.
 */
class LineParser {
 public:
  virtual ~LineParser() = default;
  virtual std::optional<std::string> parse(std::string_view line, RecordingBuilder& builder) = 0;
};

std::unique_ptr<LineParser> new_mot_parser();
std::unique_ptr<LineParser> new_jsonl_parser();

/** Rounded once; infinite where a float cannot hold it. */
float to_float(double value);

}  // namespace crowd::scene
