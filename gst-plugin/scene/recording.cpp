// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "scene/recording.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <system_error>
#include <utility>

#include "scene/recording_parsers.hpp"

namespace crowd::scene {

namespace {

constexpr std::string_view blanks = " \t\r";

std::optional<std::string> read_whole(const std::string& path, ReadFailure& failure) {
  using enum ReadFailure::Cause;
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    failure = {not_found, "There is no file \"" + path + "\"."};
    return std::nullopt;
  }
  if (status.type() == std::filesystem::file_type::directory) {
    failure = {unreadable, "\"" + path + "\" is a folder, not a file."};
    return std::nullopt;
  }
  if (std::filesystem::is_character_file(status) || std::filesystem::is_block_file(status)) {
    failure = {unreadable, "\"" + path + "\" is a device, not a file."};
    return std::nullopt;
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  std::string text;
  std::array<char, 1 << 16> piece;
  while (file && !std::feof(file.get()) && !std::ferror(file.get()))
    text.append(piece.data(), std::fread(piece.data(), 1, piece.size(), file.get()));
  if (!file || std::ferror(file.get())) {
    failure = {unreadable, "\"" + path + "\" cannot be read: " + std::generic_category().message(errno) + "."};
    return std::nullopt;
  }
  return text;
}

// Takes the next line off the text, without its end and the blanks around it.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  const std::size_t first = line.find_first_not_of(blanks);
  if (first == std::string_view::npos)
    return {};
  return line.substr(first, line.find_last_not_of(blanks) - first + 1);
}

Format detected(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' ? Format::jsonl : Format::mot;
}

std::string place(const std::string& path, const BadLine& bad) {
  return path + ":" + std::to_string(bad.line) + ": " + bad.reason;
}

}  // namespace

float to_float(double value) {
  constexpr double most = std::numeric_limits<float>::max();
  if (std::abs(value) > most && std::isfinite(value))
    return std::copysign(std::numeric_limits<float>::infinity(), static_cast<float>(std::copysign(1.0, value)));
  return static_cast<float>(value);
}

DetectionsView Recording::frame(std::uint64_t number) const {
  const auto at = std::ranges::lower_bound(frames_, number, {}, &RecordedFrame::number);
  if (at == frames_.end() || at->number != number)
    return {};
  return candidates_.view(at->first, at->count);
}

void RecordingBuilder::end_line(std::uint64_t frame) {
  auto& frames = recording_.frames_;
  const std::size_t now = recording_.candidates_.size();
  if (!frames.empty() && frames.back().number == frame)
    frames.back().count += now - ended_;
  else
    frames.push_back({frame, ended_, now - ended_});
  ended_ = now;
  accepted_lines_++;
  named_.clear();
  labels_before_ = recording_.labels_.size();
  resolution_before_ = recording_.resolution_;
}

void RecordingBuilder::take_back() {
  auto& labels = recording_.labels_;
  for (const std::int32_t object_class : named_) {
    std::string& label = labels[static_cast<std::size_t>(object_class)];
    if (const auto at = classes_.find(label); at != classes_.end() && at->second == object_class)
      classes_.erase(at);
    label.clear();
  }
  named_.clear();
  labels.resize(labels_before_);
  recording_.resolution_ = resolution_before_;
  recording_.candidates_.resize(ended_);
}

void RecordingBuilder::reject(BadLine bad) {
  take_back();
  recording_.skipped_lines_++;
  if (!recording_.first_skipped_)
    recording_.first_skipped_ = std::move(bad);
}

bool RecordingBuilder::agree_on_resolution(Size resolution) {
  Size& known = recording_.resolution_;
  if (known.width == 0)
    known = resolution;
  return known.width == resolution.width && known.height == resolution.height;
}

void RecordingBuilder::name_class(std::int32_t object_class, const std::string& label) {
  auto& labels = recording_.labels_;
  const auto at = static_cast<std::size_t>(object_class);
  if (labels.size() <= at)
    labels.resize(at + 1);
  if (labels[at].empty()) {
    labels[at] = label;
    named_.push_back(object_class);
    classes_.emplace(label, object_class);
  }
}

std::optional<std::int32_t> RecordingBuilder::class_named(const std::string& label) {
  if (const auto known = classes_.find(label); known != classes_.end())
    return known->second;
  const std::size_t next = recording_.labels_.size();
  if (next > static_cast<std::size_t>(highest_class))
    return std::nullopt;
  name_class(static_cast<std::int32_t>(next), label);
  return static_cast<std::int32_t>(next);
}

void RecordingBuilder::sort_by_frame() {
  const Detections unsorted = std::exchange(recording_.candidates_, {});
  const auto chunks = std::exchange(recording_.frames_, {});
  auto& frames = recording_.frames_;
  auto& sorted = recording_.candidates_;
  for (const RecordedFrame& chunk : chunks) {
    if (frames.empty() || frames.back().number != chunk.number)
      frames.push_back({chunk.number, sorted.size(), 0});
    frames.back().count += chunk.count;
    for (std::size_t i = chunk.first; i < chunk.first + chunk.count; i++)
      sorted.add(unsorted.boxes[i], unsorted.scores[i], unsorted.classes[i]);
  }
}

Recording RecordingBuilder::finish() && {
  auto& frames = recording_.frames_;
  if (!std::ranges::is_sorted(frames, {}, &RecordedFrame::number)) {
    std::ranges::stable_sort(frames, {}, &RecordedFrame::number);
    sort_by_frame();
  }
  for (std::size_t i = 0; i < recording_.labels_.size(); i++) {
    if (recording_.labels_[i].empty())
      recording_.labels_[i] = "class-" + std::to_string(i);
  }
  return std::move(recording_);
}

std::optional<Recording> parse_recording(std::string_view text, const std::string& path, Format format, bool strict,
                                         ReadFailure& failure) {
  using enum ReadFailure::Cause;
  if (text.starts_with("\xef\xbb\xbf"))
    text.remove_prefix(3);
  if (format == Format::automatic)
    format = detected(text);
  const bool json = format == Format::jsonl;
  const auto parser = json ? new_jsonl_parser() : new_mot_parser();
  RecordingBuilder builder;
  for (std::uint64_t number = 1; !text.empty(); number++) {
    const std::string_view line = next_line(text);
    if (line.empty())
      continue;
    auto reason = parser->parse(line, builder);
    if (!reason)
      continue;
    const BadLine bad{number, std::move(*reason)};
    if (strict) {
      failure = {malformed, place(path, bad) + ". Correct the line, or set strict=false to skip such lines."};
      return std::nullopt;
    }
    builder.reject(bad);
  }
  if (builder.first_rejected() && builder.accepted_lines() == 0) {
    failure = {malformed, "\"" + path + "\" has no line of " +
                              (json ? "JSON lines form" : "MOTChallenge form (frame,id,left,top,width,height,conf)") +
                              "; the first: " + place(path, *builder.first_rejected()) +
                              ". Give a file of the right kind, or set format."};
    return std::nullopt;
  }
  return std::move(builder).finish();
}

std::optional<Recording> read_recording(const std::string& path, Format format, bool strict, ReadFailure& failure) {
  const auto text = read_whole(path, failure);
  if (!text)
    return std::nullopt;
  return parse_recording(*text, path, format, strict, failure);
}

}  // namespace crowd::scene
