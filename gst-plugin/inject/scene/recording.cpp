// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "inject/scene/recording.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "inject/scene/line_reader.hpp"
#include "inject/scene/recording_parsers.hpp"

namespace crowd::scene {

namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;
static_assert(max_file_bytes % gib == 0);

std::string too_large(const std::string& path) {
  return "\"" + path + "\" is larger than " + std::to_string(max_file_bytes / gib) +
         " GiB, which is the most that is read: give a part of it.";
}

std::string cannot_be_read(const std::string& path, int error) {
  return "\"" + path + "\" cannot be read: " + std::generic_category().message(error) + ".";
}

// What can be said of a file without opening it.
std::optional<ReadFailure> failure_of(const std::string& path) {
  using enum ReadFailure::Cause;
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found)
    return ReadFailure{not_found, "There is no file \"" + path + "\"."};
  if (status.type() == std::filesystem::file_type::directory)
    return ReadFailure{unreadable, "\"" + path + "\" is a folder, not a file."};
  if (std::filesystem::is_character_file(status) || std::filesystem::is_block_file(status))
    return ReadFailure{unreadable, "\"" + path + "\" is a device, not a file."};
  if (std::filesystem::is_regular_file(status)) {
    const std::uintmax_t bytes = std::filesystem::file_size(path, error);
    if (!error && bytes > max_file_bytes)
      return ReadFailure{unreadable, too_large(path)};
  }
  return std::nullopt;
}

std::string place(const std::string& path, const BadLine& bad) {
  return path + ":" + std::to_string(bad.line) + ": " + bad.reason;
}

/** Reads the lines of one recording. */
class Reading {
 public:
  Reading(const std::string& path, Format format, bool strict) : path_(path), format_(format), strict_(strict) {}

  std::optional<Recording> read(LineReader& lines, ReadFailure& failure) {
    while (const auto line = lines.next()) {
      if (!line->empty() && !take(*line, lines.number(), failure))
        return std::nullopt;
    }
    if (lines.too_large() || lines.error() != 0) {
      failure = {ReadFailure::Cause::unreadable,
                 lines.too_large() ? too_large(path_) : cannot_be_read(path_, lines.error())};
      return std::nullopt;
    }
    return finish(failure);
  }

 private:
  // Settles the format by the first line that is not blank.
  bool begin(char first, std::uint64_t number, ReadFailure& failure) {
    if (format_ == Format::automatic)
      format_ = first == '{' || first == '[' ? Format::jsonl : Format::mot;
    parser_ = format_ == Format::jsonl ? new_jsonl_parser() : new_mot_parser();
    if (format_ != Format::jsonl || first != '[')
      return true;
    failure = {ReadFailure::Cause::malformed,
               place(path_, {number, "a JSON array; write one object a line, say with jq -c '.[]'"}) + "."};
    return false;
  }

  bool take(std::string_view line, std::uint64_t number, ReadFailure& failure) {
    if (!parser_ && !begin(line.front(), number, failure))
      return false;
    auto reason = parser_->parse(line, builder_);
    if (!reason)
      return true;
    BadLine bad{number, std::move(*reason)};
    if (strict_) {
      failure = {ReadFailure::Cause::malformed,
                 place(path_, bad) + ". Correct the line, or set strict=false to skip such lines."};
      return false;
    }
    builder_.reject(std::move(bad));
    return true;
  }

  std::optional<Recording> finish(ReadFailure& failure) {
    if (!builder_.first_rejected() || builder_.accepted_lines() > 0)
      return std::move(builder_).finish();
    const char* form =
        format_ == Format::jsonl ? "JSON lines form" : "MOTChallenge form (frame,id,left,top,width,height,conf)";
    failure = {ReadFailure::Cause::malformed, "\"" + path_ + "\" has no line of " + form +
                                                  "; the first: " + place(path_, *builder_.first_rejected()) +
                                                  ". Give a file of the right kind, or set format."};
    return std::nullopt;
  }

  const std::string& path_;
  Format format_;
  const bool strict_;
  std::unique_ptr<LineParser> parser_;
  RecordingBuilder builder_;
};

}  // namespace

CandidatesView Recording::frame(std::uint64_t number) const {
  const auto at = std::ranges::lower_bound(frames_, number, {}, &RecordedFrame::number);
  if (at == frames_.end() || at->number != number)
    return {};
  return candidates_.view(at->first, at->count);
}

CandidatesView Recording::first_candidates() const {
  const auto at = std::ranges::find_if(frames_, [](const RecordedFrame& frame) { return frame.count > 0; });
  return at == frames_.end() ? CandidatesView() : candidates_.view(at->first, at->count);
}

std::optional<Recording> parse_recording(std::string_view text, const std::string& path, Format format, bool strict,
                                         ReadFailure& failure) {
  LineReader lines(text);
  return Reading(path, format, strict).read(lines, failure);
}

std::optional<Recording> read_recording(const std::string& path, Format format, bool strict, ReadFailure& failure) {
  if (auto known = failure_of(path)) {
    failure = std::move(*known);
    return std::nullopt;
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  if (!file) {
    failure = {ReadFailure::Cause::unreadable, cannot_be_read(path, errno)};
    return std::nullopt;
  }
  LineReader lines(file.get(), max_file_bytes);
  return Reading(path, format, strict).read(lines, failure);
}

}  // namespace crowd::scene
