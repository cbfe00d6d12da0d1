// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The numbers of names that crowdoverlay keeps from frame to frame.

#include "overlay/draw/labels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using crowd::draw::LabelTable;

/// The numbers of a frame's names, whose memory goes with the frame.
std::vector<std::int32_t> frame(LabelTable& table, std::vector<std::string> names) {
  table.begin_frame();
  std::vector<std::int32_t> numbers;
  for (const std::string& name : names)
    numbers.push_back(table.index_of(name.c_str()));
  return numbers;
}

std::vector<std::string> names_of(const LabelTable& table) {
  return {table.names().begin(), table.names().end()};
}

std::vector<std::string> different_names(std::size_t n, const std::string& prefix) {
  std::vector<std::string> names;
  while (names.size() < n)
    names.push_back(prefix + std::to_string(names.size()));
  return names;
}

TEST(LabelTable, keeps_numbers_in_any_order) {
  LabelTable table;
  EXPECT_EQ(frame(table, {"person", "car", "person"}), (std::vector<std::int32_t>{0, 1, 0}));
  EXPECT_EQ(frame(table, {"car", "person"}), (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(frame(table, {"a dog with a name beyond any small string", "car"}), (std::vector<std::int32_t>{2, 1}));
  EXPECT_EQ(frame(table, {}), (std::vector<std::int32_t>{}));
  EXPECT_EQ(names_of(table), (std::vector<std::string>{"person", "car", "a dog with a name beyond any small string"}));
}

TEST(LabelTable, has_no_number_for_no_name) {
  LabelTable table;
  table.begin_frame();
  EXPECT_EQ(table.index_of(nullptr), -1);
  EXPECT_EQ(table.index_of(""), 0);
  EXPECT_EQ(table.names().size(), 1u);
}

TEST(LabelTable, starts_anew_where_there_are_too_many) {
  LabelTable table;
  frame(table, different_names(LabelTable::max_names - 1, "early "));
  EXPECT_EQ(frame(table, {"last"}), (std::vector<std::int32_t>{LabelTable::max_names - 1}));
  EXPECT_EQ(frame(table, {"last", "early 3"}), (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(names_of(table), (std::vector<std::string>{"last", "early 3"}));
}

TEST(LabelTable, takes_all_names_of_a_frame) {
  LabelTable table;
  const auto names = different_names(3 * LabelTable::max_names, "");
  for (int i = 0; i < 2; i++) {
    const auto numbers = frame(table, names);
    EXPECT_TRUE(std::ranges::is_sorted(numbers, std::ranges::less_equal()));
    EXPECT_EQ(names_of(table), names);
  }
}

}  // namespace
