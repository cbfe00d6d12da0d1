// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <array>
#include <cmath>

#include "inject/scene/number.hpp"
#include "inject/scene/recording_parsers.hpp"

namespace crowd::scene {

namespace {

constexpr std::array columns = {"frame", "id", "left", "top", "width", "height", "conf"};
constexpr std::size_t max_columns = columns.size() + 3;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<double> number(std::string_view text) {
  text = trimmed(text);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-')
    text.remove_prefix(1);
  return number_from(text);
}

class MotParser : public LineParser {
 public:
  std::optional<std::string> parse(std::string_view line, RecordingBuilder& builder) override {
    std::array<double, columns.size()> values{};
    std::size_t column = 0;
    std::optional<std::string> reason;
    for (;; column++) {
      const std::size_t comma = line.find(',');
      if (column < columns.size() && !reason) {
        if (const auto value = number(line.substr(0, comma)))
          values[column] = *value;
        else
          reason = "column " + std::to_string(column + 1) + " (" + columns[column] + ") is not a number";
      }
      if (comma == std::string_view::npos)
        break;
      line.remove_prefix(comma + 1);
    }
    if (const std::size_t n = column + 1; n < columns.size() || n > max_columns)
      return std::to_string(n) + (n == 1 ? " column" : " columns") +
             " instead of 7 to 10: frame,id,left,top,width,height,conf[,x,y,z]";
    if (reason)
      return reason;
    const auto [frame, id, left, top, width, height, confidence] = values;
    if (!(frame >= 1 && frame <= static_cast<double>(max_frame)) || frame != std::floor(frame))
      return "the frame is not a whole number from 1 to " + std::to_string(max_frame);
    builder.add({to_float(left), to_float(top), to_float(left + width), to_float(top + height)}, to_float(confidence),
                0);
    builder.end_line(static_cast<std::uint64_t>(frame) - 1);
    return std::nullopt;
  }
};

}  // namespace

std::unique_ptr<LineParser> new_mot_parser() {
  return std::make_unique<MotParser>();
}

}  // namespace crowd::scene
