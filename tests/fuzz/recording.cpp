// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Recordings: an input is the text of one. Every format reads it, strict and not.

#include "inject/scene/recording.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "input.hpp"

namespace {

using namespace crowd::scene;
using crowd::fuzz::require;

void check_frames(const Recording& recording, std::uint64_t number) {
  const CandidatesView view = recording.frame(number);
  require(view.boxes.size() == view.scores.size() && view.boxes.size() == view.classes.size(),
          "the arrays of a frame are equally long");
  require(view.boxes.size() <= recording.size(), "a frame has no more candidates than the recording");
  require(view.extras.empty() || view.extras.size() == view.boxes.size(), "more is known of each or of none");
  for (const Extra& extra : view.extras) {
    require(extra.feature_length <= max_feature_length, "features are within the limit");
    require(extra.first_feature <= view.features.size() &&
                extra.feature_length <= view.features.size() - extra.first_feature,
            "features are there");
    require(extra.model.value_or(0) <= max_model, "models are within the limit");
  }
  for (const std::int32_t object_class : view.classes)
    require(object_class >= 0 && object_class <= max_class, "classes are within the limit");
}

void check(const Recording& recording, std::string_view text, std::size_t lines) {
  // "{}" is the shortest candidate there could be, "1,1,1,1,1,1,1" the shortest of MOTChallenge.
  require(recording.size() <= text.size() / 2, "candidates take bytes");
  require(recording.length() <= static_cast<std::uint64_t>(max_frame) + 1, "frames are within the limit");
  require(recording.labels().size() <= static_cast<std::size_t>(max_class) + 1, "labels are within the limit");
  require(recording.skipped_lines() <= lines, "no more lines are skipped than there are");
  require(recording.first_skipped().has_value() == (recording.skipped_lines() > 0), "a skipped line is reported");
  if (const auto& bad = recording.first_skipped()) {
    require(bad->line >= 1 && bad->line <= lines, "the skipped line is in the text");
    require(!bad->reason.empty(), "a skipped line has a reason");
  }
  const Size size = recording.resolution();
  require(size.width >= 0 && size.height >= 0 && std::isfinite(size.width) && std::isfinite(size.height),
          "a resolution is a size");
  require((size.width > 0) == (size.height > 0), "a resolution has both extents or none");
  for (std::uint64_t number = 0; number < 4; number++)
    check_frames(recording, number);
  if (recording.length() > 0)
    check_frames(recording, recording.length() - 1);
  require(recording.frame(recording.length()).boxes.empty(), "nothing comes after the last frame");
}

std::optional<Recording> read(std::string_view text, Format format, bool strict) {
  ReadFailure failure{};
  auto recording = parse_recording(text, "fuzz", format, strict, failure);
  if (!recording) {
    require(failure.cause == ReadFailure::Cause::malformed, "a text in memory can only be malformed");
    require(!failure.message.empty(), "a failure has a message");
  }
  return recording;
}

void read_both_ways(std::string_view text, Format format, std::size_t lines) {
  const auto strict = read(text, format, true);
  const auto lenient = read(text, format, false);
  if (lenient)
    check(*lenient, text, lines);
  if (!strict)
    return;
  check(*strict, text, lines);
  require(strict->skipped_lines() == 0, "strict reading skips nothing");
  require(lenient && lenient->skipped_lines() == 0, "what fits strictly fits");
  require(strict->size() == lenient->size() && strict->length() == lenient->length(), "strictness changes no frame");
  require(strict->labels() == lenient->labels(), "strictness changes no label");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const crowd::fuzz::Exact<char> copy(size);
  std::copy_n(bytes, size, copy.data());
  const std::string_view text(copy.data(), size);
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  for (const Format format : {Format::automatic, Format::mot, Format::jsonl})
    read_both_ways(text, format, lines);
  return 0;
}
