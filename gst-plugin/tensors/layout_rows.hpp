// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a row of the table of layouts consists of.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tensors/layouts.hpp"
#include "tensors/parameters.hpp"

namespace crowd::tensors {

/// A dimension: `plus`, and to it a size that the network chooses, where `symbol` is not 0.
struct Dim {
  char symbol;
  std::int64_t plus;
};
inline constexpr Dim batch_dim{'b', 0};
constexpr Dim fixed_dim(std::int64_t size) {
  return {0, size};
}
constexpr Dim free_dim(char symbol, std::int64_t plus = 0) {
  return {symbol, plus};
}

struct OutputRow {
  const char* id;
  std::array<Dim, 4> dims;
  unsigned rank;
  bool read = true;  ///< else it may be described, and is of no use
};

/// Sizes that symbols stand for, and what else a plan is made from.
struct Draft {
  std::int64_t places = 0, channels = 0, rows = 0, columns = 0;  // N, C, H, W
  int width = 0, height = 0;                                     // of the input
  Planned& planned;
};

struct Layout {
  const char* group_id;
  std::span<const OutputRow> outputs;  ///< those that are read come first
  std::span<const char* const> parameters;
  /// Fills the plan but for outputs, types and what all layouts have in common. The reason and remedy, or nothing.
  std::string (*draw_up)(Draft& draft, Parameters& parameters);
};

std::span<const Layout> layouts();

/// "[b,4+C,N]"
std::string text_of(const OutputRow& row);
/// "[1,84,8400]"; "any" where a dimension is open.
std::string text_of(const Dims& dims);

/// Finds the output of each row that is read, and what symbols stand for.
bool match_outputs(const Layout& layout, const Description& description, const std::vector<TensorInfo>& outputs,
                   Draft& draft, std::string& problem);

/// Sizes that are too large for places and classes.
inline constexpr std::int64_t max_places = 1 << 22, max_classes = 1 << 16;

}  // namespace crowd::tensors
