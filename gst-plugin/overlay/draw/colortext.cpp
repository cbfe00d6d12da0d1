// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "overlay/draw/colortext.hpp"

#include <algorithm>

namespace crowd::draw {

namespace {

constexpr std::uint32_t opaque = 0xff000000;
constexpr std::uint32_t color_of_class = 0;

struct Named {
  std::string_view name;
  std::uint32_t color;
};

constexpr Named names[] = {
    {"aqua", opaque | 0x00ffff},   {"black", opaque | 0x000000},   {"blue", opaque | 0x0000ff},
    {"class", color_of_class},     {"fuchsia", opaque | 0xff00ff}, {"gray", opaque | 0x808080},
    {"green", opaque | 0x008000},  {"lime", opaque | 0x00ff00},    {"maroon", opaque | 0x800000},
    {"navy", opaque | 0x000080},   {"olive", opaque | 0x808000},   {"orange", opaque | 0xffa500},
    {"purple", opaque | 0x800080}, {"red", opaque | 0xff0000},     {"silver", opaque | 0xc0c0c0},
    {"teal", opaque | 0x008080},   {"white", opaque | 0xffffff},   {"yellow", opaque | 0xffff00},
};

// Whatever the locale.
constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same(std::string_view text, std::string_view name) {
  return std::ranges::equal(text, name, {}, lower);
}

std::optional<std::uint32_t> digit_of(char c) {
  if (c >= '0' && c <= '9')
    return static_cast<std::uint32_t>(c - '0');
  if (lower(c) >= 'a' && lower(c) <= 'f')
    return static_cast<std::uint32_t>(lower(c) - 'a' + 10);
  return std::nullopt;
}

/** Digits, each of them repeated so many times. */
std::optional<std::uint32_t> parse_digits(std::string_view text, int times) {
  std::uint32_t value = 0;
  for (const char c : text) {
    const auto digit = digit_of(c);
    if (!digit)
      return std::nullopt;
    for (int i = 0; i < times; i++)
      value = value << 4 | *digit;
  }
  return opaque | value;
}

}  // namespace

std::optional<std::uint32_t> parse_color(std::string_view text) {
  const auto* named = std::ranges::find_if(names, [text](const Named& it) { return same(text, it.name); });
  if (named != std::end(names))
    return named->color;
  const bool hash = text.starts_with('#');
  if (!hash && !same(text.substr(0, 2), "0x"))
    return std::nullopt;
  const std::string_view digits = text.substr(hash ? 1 : 2);
  if (hash && digits.size() == 3)
    return parse_digits(digits, 2);
  return digits.size() == 6 || digits.size() == 8 ? parse_digits(digits, 1) : std::nullopt;
}

}  // namespace crowd::draw
