// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** utf8.hpp: the characters of a text that may hold anything. */
#pragma once

namespace crowd::draw {

/** In place of bytes that are no character. */
constexpr char32_t no_character = 0xfffd;

constexpr bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

/**
 * The character that begins at `at`, which points before the zero that ends a text; moves `at` behind it. There is one
 * `no_character` for each byte that begins none, for each sequence that ends early, and for each that is longer than
 * its character needs or means none: a surrogate, or beyond U+10FFFF.
 */
constexpr char32_t next_character(const char*& at) {
  const auto lead = static_cast<unsigned char>(*at++);
  if (lead < 0x80)
    return lead;
  if (lead < 0xc0 || lead > 0xf7)
    return no_character;
  const int following = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
  char32_t character = lead & (0x3fU >> following);
  for (int i = 0; i < following; i++) {
    if (!is_continuation(*at))
      return no_character;
    character = character << 6 | (static_cast<unsigned char>(*at++) & 0x3fU);
  }
  const char32_t min = following == 3 ? 0x10000 : following == 2 ? 0x800 : 0x80;
  const bool surrogate = character >= 0xd800 && character < 0xe000;
  return character < min || surrogate || character > 0x10ffff ? no_character : character;
}

}  // namespace crowd::draw
