// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * font.hpp: the glyphs of labels, the same for every backend that draws.
 *
 * A cell of 6x9 pixels: 5 columns of ink and one of space. Row 0 holds nothing but marks above capital letters, which
 * are lower by a row under them. Row 8 holds nothing but the underscore, descenders and marks below a letter.
 *
 * There are ASCII, the letters of Latin-1 and of Latin Extended-A, those of modern Greek (U+0386 to U+03CE), and the
 * Cyrillic ones from U+0400 to U+045F with U+0490 and U+0491.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/host_device.hpp"

namespace crowd::draw {

constexpr int glyph_width = 5;
constexpr int glyph_height = 9;
constexpr int glyph_advance = 6;

/** Rows from the top; bit 4 is the leftmost column. */
using Glyph = std::array<std::uint8_t, glyph_height>;

/** Drawn for a character that the font lacks, behind printable ASCII from space to tilde. */
constexpr int replacement_glyph = 95;
/** The first glyphs are those of ascii_glyph(). */
constexpr int ascii_glyph_count = replacement_glyph + 1;

/** How many there are. */
int glyph_count();
/** Each once. */
const Glyph* glyphs();

/** Where in glyphs() a character of ASCII is. */
CROWD_HD constexpr int ascii_glyph(char character) {
  return character >= 0x20 && character < 0x7f ? character - 0x20 : replacement_glyph;
}

/** Where in glyphs() any character is. */
int glyph_index(char32_t character);

/** Whether a glyph has ink at a column and row of its 5x9 pixels. */
constexpr bool has_ink(const Glyph& glyph, int column, int row) {
  return (glyph[static_cast<std::size_t>(row)] >> (glyph_width - 1 - column) & 1) != 0;
}

}  // namespace crowd::draw
