// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Recordings from texts, for tests.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inject/scene/recording.hpp"

namespace crowd::scene {

/// What came of a text, with the reason if nothing did.
struct Parsed {
  std::optional<Recording> recording;
  ReadFailure failure{};
};

inline Parsed parse(std::string_view text, bool strict = false, Format format = Format::automatic) {
  Parsed parsed;
  parsed.recording = parse_recording(text, "det.txt", format, strict, parsed.failure);
  return parsed;
}

inline std::vector<Box> boxes(const Recording& recording, std::uint64_t frame) {
  const auto view = recording.frame(frame);
  return {view.boxes.begin(), view.boxes.end()};
}

inline std::vector<float> scores(const Recording& recording, std::uint64_t frame) {
  const auto view = recording.frame(frame);
  return {view.scores.begin(), view.scores.end()};
}

inline std::vector<std::int32_t> classes(const Recording& recording, std::uint64_t frame) {
  const auto view = recording.frame(frame);
  return {view.classes.begin(), view.classes.end()};
}

/// The reason for which a second, good line is all that is left.
inline std::string reason(const std::string& bad, const std::string& good) {
  const Parsed lenient = parse(bad + "\n" + good + "\n");
  if (!lenient.recording)
    return "not read: " + lenient.failure.message;
  EXPECT_EQ(lenient.recording->size(), 1u) << bad;
  EXPECT_EQ(lenient.recording->skipped_lines(), 1u) << bad;
  if (!lenient.recording->first_skipped())
    return "nothing was skipped";
  EXPECT_EQ(lenient.recording->first_skipped()->line, 1u);
  const std::string why = lenient.recording->first_skipped()->reason;

  const Parsed strict = parse(good + "\n\n" + bad, true);
  EXPECT_FALSE(strict.recording) << bad;
  EXPECT_EQ(strict.failure.cause, ReadFailure::Cause::malformed);
  EXPECT_EQ(strict.failure.message,
            "det.txt:3: " + why + ". Correct the line, or set strict=false to skip such lines.");
  return why;
}

}  // namespace crowd::scene
