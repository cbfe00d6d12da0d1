// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "overlay/draw/font.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace crowd::draw;
using testing::ElementsAre;

std::span<const Glyph> all_glyphs() {
  return {glyphs(), static_cast<std::size_t>(glyph_count())};
}

TEST(glyphs, are_all_different) {
  const std::set<Glyph> all(all_glyphs().begin(), all_glyphs().end());
  EXPECT_EQ(all.size(), static_cast<std::size_t>(glyph_count()));
  for (const Glyph& glyph : all_glyphs())
    for (const std::uint8_t row : glyph)
      EXPECT_LT(row, 1 << glyph_width);
  EXPECT_EQ(glyph_index(' '), 0);
  EXPECT_EQ(glyph_index('~'), replacement_glyph - 1);
  for (const char32_t other : {U'\0', U'\x1f', U'\x7f', U'\x9f', U'\x301', U'\x20ac', U'\xffff'})
    EXPECT_EQ(glyph_index(other), replacement_glyph);
}

TEST(glyphs, are_there_for_the_letters_of_europe) {
  std::u32string letters = U"ªµºΆΈΉΊΌҐґ";
  const auto add = [&letters](char32_t first, char32_t last, std::u32string_view but = U"") {
    for (char32_t c = first; c <= last; c++)
      if (but.find(c) == but.npos)
        letters += c;
  };
  add(U'\xc0', U'\x17f');
  add(U'Ύ', U'ώ', U"\x3a2");
  add(U'\x400', U'\x45f');
  for (const char32_t c : letters)
    EXPECT_NE(glyph_index(c), replacement_glyph) << std::hex << static_cast<std::uint32_t>(c);
  // Capitals and small letters differ, and so do the letters of one alphabet.
  const auto expect_different = [](char32_t first, char32_t last, std::u32string_view but) {
    std::set<int> known;
    for (char32_t c = first; c <= last; c++)
      if (but.find(c) == but.npos) {
        EXPECT_TRUE(known.insert(glyph_index(c)).second) << std::hex << static_cast<std::uint32_t>(c);
      }
  };
  expect_different(U'\xc0', U'\x17f', U"Đ");
  expect_different(U'Α', U'ώ', U"\x3a2");
  expect_different(U'\x400', U'\x45f', U"");
}

std::vector<std::string> drawn(char32_t character) {
  std::vector<std::string> rows(glyph_height);
  for (int row = 0; row < glyph_height; row++)
    for (int column = 0; column < glyph_width; column++)
      rows[static_cast<std::size_t>(row)] += has_ink(glyphs()[glyph_index(character)], column, row) ? '#' : '.';
  return rows;
}

TEST(glyphs, with_marks_are_made_of_letters) {
  EXPECT_THAT(drawn(U'é'),
              ElementsAre(".....", "...#.", "..#..", ".###.", "#...#", "#####", "#....", ".###.", "....."));
  EXPECT_THAT(drawn(U'Ä'),
              ElementsAre(".#.#.", ".....", ".###.", "#...#", "#####", "#...#", "#...#", "#...#", "....."));
  EXPECT_THAT(drawn(U'ç'),
              ElementsAre(".....", ".....", ".....", ".###.", "#...#", "#....", "#...#", ".###.", ".##.."));
  EXPECT_THAT(drawn(U'Й'),
              ElementsAre("#...#", ".###.", "#...#", "#...#", "#..##", "#.#.#", "##..#", "#...#", "....."));
  EXPECT_EQ(drawn(U'Α'), drawn(U'A')) << "Greek";
  EXPECT_EQ(drawn(U'Н'), drawn(U'H')) << "Cyrillic";
}

}  // namespace
