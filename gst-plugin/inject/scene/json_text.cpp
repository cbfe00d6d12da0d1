// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "inject/scene/json_text.hpp"

#include <algorithm>

namespace crowd::scene {

namespace {

// Takes digits off the text; whether there was one.
bool take_digits(std::string_view& text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(digits);
  return digits > 0;
}

bool take_any_of(std::string_view& text, std::string_view characters) {
  if (text.empty() || characters.find(text.front()) == std::string_view::npos)
    return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

bool is_nested_too_deeply(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    if (quoted && c == '\\')
      i++;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == '[' || c == '{') && ++depth > max_json_depth)
      return true;
    else if (!quoted && (c == ']' || c == '}'))
      depth--;
  }
  return false;
}

std::string_view without_blanks(std::string_view token) {
  return token.substr(0, token.find_last_not_of(" \t\r\n") + 1);
}

bool is_json_number(std::string_view text) {
  take_any_of(text, "-");
  if (!take_any_of(text, "0") && !take_digits(text))
    return false;
  if (take_any_of(text, ".") && !take_digits(text))
    return false;
  if (take_any_of(text, "eE")) {
    take_any_of(text, "+-");
    if (!take_digits(text))
      return false;
  }
  return text.empty();
}

std::string printable(std::string_view text) {
  std::string result(text.substr(0, 40));
  std::ranges::replace_if(
      result, [](char c) { return c < ' ' || c > '~'; }, '?');
  return result;
}

}  // namespace crowd::scene
