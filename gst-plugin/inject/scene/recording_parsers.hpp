// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** The parsers of a line of read_recording(), one a format. */

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "inject/scene/recording_builder.hpp"

namespace crowd::scene {

/**
 * Takes one line, without its end and not blank, into the builder. Returns what is wrong with it if it does not fit: it
 * is to be rejected then. Throws std::bad_alloc.
 */
class LineParser {
 public:
  virtual ~LineParser() = default;
  virtual std::optional<std::string> parse(std::string_view line, RecordingBuilder& builder) = 0;
};

std::unique_ptr<LineParser> new_mot_parser();
std::unique_ptr<LineParser> new_jsonl_parser();

}  // namespace crowd::scene
