// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * font.hpp: the glyphs of labels, the same for every backend that draws.
 *
 * A cell of 6x8 pixels: 5 columns of ink and one of space. Row 7 holds nothing but the underscore.
 */
#pragma once

#include <array>
#include <cstdint>

#include "host_device.hpp"

namespace crowd::draw {

constexpr int glyph_width = 5;
constexpr int glyph_height = 8;
constexpr int glyph_advance = 6;

/** Rows from the top; bit 4 is the leftmost column. */
using Glyph = std::array<std::uint8_t, glyph_height>;

/** Printable ASCII from space to tilde, then one glyph for everything else. */
constexpr int glyph_count = 96;
const std::array<Glyph, glyph_count>& glyphs();

/** Where in glyphs() a character is. */
CROWD_HD constexpr int glyph_index(char32_t character) {
  return character >= 0x20 && character < 0x7f ? static_cast<int>(character - 0x20) : glyph_count - 1;
}

/** Whether a glyph has ink at a column and row of its 5x8 pixels. */
constexpr bool has_ink(const Glyph& glyph, int column, int row) {
  return (glyph[static_cast<std::size_t>(row)] >> (glyph_width - 1 - column) & 1) != 0;
}

}  // namespace crowd::draw
