// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * cells.hpp: rectangles of one value in the memory of a frame.
 *
 * Components that lie side by side in each pixel, say B, G, R and A, or U and V, are written together, as the cells of
 * one grid.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "overlay/draw/canvas.hpp"

namespace crowd::draw {

/** Rows or columns of pixels, half-open. */
struct Pixels {
  int first, end;
};

/** Cells of one or more components, without a gap in a cell. */
struct Grid {
  std::uint8_t* data;
  std::ptrdiff_t stride;   ///< bytes from row to row
  std::ptrdiff_t advance;  ///< bytes from cell to cell
  std::ptrdiff_t bytes;    ///< of a cell; fewer than `advance` if something else lies between them
  int shift_x, shift_y;
  unsigned members;  ///< a bit for each component
};

/** The components of a frame. Those that lie side by side are joined, where all of them or none take glyphs. */
class Grids {
 public:
  explicit Grids(const Canvas& canvas);

  std::span<const Grid> all() const {
    return {grids_.data(), count_};
  }

 private:
  std::array<Grid, 4> grids_{};
  std::size_t count_ = 0;
};

/** What the cells of a grid become. */
class Ink {
 public:
  Ink() = default;
  /** Nothing, unless the grid's components are among the first `components` of the frame. */
  Ink(const Canvas& canvas, const Grid& grid, const Paint& paint, int components);

  /** Fills the cells of pixels, which lie in the frame: in each of the rows, all of the columns. */
  void fill(const Grid& grid, const Pixels& rows, std::span<const Pixels> columns) const;
  /** The same where, from the first to the last of the columns, each row is as the row above it: rows are copied. */
  void fill_alike(const Grid& grid, const Pixels& rows, std::span<const Pixels> columns) const;

 private:
  static constexpr std::ptrdiff_t run_bytes = 48;  ///< cells of 1, 2, 3, 4, 6 or 8 bytes fill it

  void write_run(std::uint8_t* to, std::ptrdiff_t size) const;
  void write_cells(std::uint8_t* to, std::ptrdiff_t count, const Grid& grid) const;

  std::ptrdiff_t period_ = 0;                     ///< bytes of a cell; 0: none is written
  std::array<std::uint8_t, run_bytes> values_{};  ///< of as many cells as fit
};

}  // namespace crowd::draw
