// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tables of types, which are searched at compile time: a kernel that uses one has no table in memory.
#pragma once

#include <cstdint>

namespace crowd {

/// Rows are types with a `value` of one enumeration.
template <typename... Row>
struct Table {
  static constexpr std::uint32_t size = sizeof...(Row);
};

/// Whether the rows' values are 0, 1, 2 and so on: a value is then legal iff it is less than the table's size.
template <typename... Row>
constexpr bool in_order(Table<Row...>) {
  std::uint32_t next = 0;
  return ((static_cast<std::uint32_t>(Row::value) == next++) && ...);
}

}  // namespace crowd
