// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "overlay/draw/colortext.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace {

using crowd::draw::parse_color;

TEST(colors, mean_what_people_type) {
  for (const auto& [text, color] : {std::pair{"red", 0xffff0000U},
                                    {"Red", 0xffff0000U},
                                    {"GREEN", 0xff008000U},
                                    {"lime", 0xff00ff00U},
                                    {"orange", 0xffffa500U},
                                    {"black", 0xff000000U},
                                    {"class", 0U},
                                    {"Class", 0U},
                                    {"0x00ff00", 0xff00ff00U},
                                    {"0X00FF00", 0xff00ff00U},
                                    {"#00ff00", 0xff00ff00U},
                                    {"#f00", 0xffff0000U},
                                    {"#1aF", 0xff11aaffU},
                                    {"#000", 0xff000000U},
                                    {"0x80123456", 0xff123456U},
                                    {"#00123456", 0xff123456U},
                                    {"0x00000000", 0xff000000U}})
    EXPECT_EQ(parse_color(text), color) << text;
}

TEST(colors, that_cannot_be_read_are_none) {
  for (const char* text : {"",
                           " ",
                           "rde",
                           "red ",
                           " red",
                           "#",
                           "0x",
                           "#12",
                           "#1234",
                           "#12345",
                           "#1234567",
                           "#123456789",
                           "#ggg",
                           "0x123",
                           "0x12345g",
                           "0x1234567",
                           "123456",
                           "0",
                           "4294901760",
                           "#-12345",
                           "rgb(1,2,3)",
                           "r\xc3\xa9"
                           "d",
                           "clas"})
    EXPECT_EQ(parse_color(text), std::nullopt) << text;
  EXPECT_EQ(parse_color(std::string_view("red\0", 4)), std::nullopt);
}

TEST(colors, of_the_sixteen_names_differ) {
  std::string seen;
  for (const char* name : {"aqua", "black", "blue", "fuchsia", "gray", "green", "lime", "maroon", "navy", "olive",
                           "purple", "red", "silver", "teal", "white", "yellow", "orange"}) {
    const auto color = parse_color(name);
    ASSERT_TRUE(color) << name;
    EXPECT_NE(std::string(crowd::draw::color_forms).find(name), std::string::npos) << name;
    const std::string one = std::to_string(*color) + ";";
    EXPECT_EQ(seen.find(one), std::string::npos) << name;
    seen += one;
  }
}

}  // namespace
