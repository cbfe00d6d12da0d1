// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Numbers and lists in the text of descriptions, whatever the locale. A list may end with its separator, as GLib's do.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace crowd::tensors {

inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  return begin == text.npos ? std::string_view() : text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

/// Between separators, trimmed.
inline std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  text = trimmed(text);
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    parts.push_back(trimmed(text.substr(0, end)));
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
  }
  return parts;
}

/// Nothing where the text is anything but one finite number that T holds.
template <typename T>
std::optional<T> number_of(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  if constexpr (std::is_floating_point_v<T>)
    if (!std::isfinite(value))
      return std::nullopt;
  return value;
}

/// Nothing where one of the parts is no number, or there are none.
template <typename T>
std::optional<std::vector<T>> numbers_of(std::string_view text) {
  std::vector<T> numbers;
  for (const std::string_view part : parts_of(text, ',')) {
    const auto number = number_of<T>(part);
    if (!number)
      return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers.empty() ? std::nullopt : std::optional(numbers);
}

}  // namespace crowd::tensors
