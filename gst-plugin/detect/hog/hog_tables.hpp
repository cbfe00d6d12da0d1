// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The tables of a search, which the host fills and the kernels read.
//
// The frame is zoomed to where the smallest window is 64x128, and scaled down to levels. A level is padded and then cut
// into planes: grids of blocks in steps of 8 pixels, one for each place of the first block that windows need, which is
// a single one with windows in steps of 8.
#pragma once

#include <cstddef>
#include <cstdint>

#include "detect/search.hpp"

namespace crowd::hog {

constexpr int cell = hog_cell;
constexpr int block_side = 2 * cell;
constexpr int window_width = 64;
constexpr int window_height = 128;
constexpr int window_columns = (window_width - block_side) / cell + 1;  ///< blocks
constexpr int window_rows = (window_height - block_side) / cell + 1;
constexpr int bins = 9;
constexpr int block_values = 4 * bins;
constexpr int detector_size = window_columns * window_rows * block_values;

// Tiles: what a block of threads works on.
constexpr int block_tile_columns = 15;
constexpr int block_tile_rows = 8;
constexpr int score_tile_columns = 128 - (window_columns - 1);
constexpr int score_tile_rows = 4;

enum class ZoomMode {
  linear,  ///< OpenCV's INTER_LINEAR; also the copy
  area,    ///< INTER_AREA
  whole,   ///< INTER_AREA by a whole number
};

/// What a row or column of the zoomed image is made of.
struct ZoomTap {
  std::int32_t first, last;  ///< linear: the two; else the first and the last of several
  std::int32_t a, b;         ///< linear: their weights / 2048; area: `a` is where the weights are
};

struct Zoom {
  ZoomMode mode = ZoomMode::linear;
  std::int32_t factor = 1;  ///< whole
  std::int32_t width = 0, height = 0;
  std::int32_t pitch = 0;
};

/// What a row or column of a level is made of: the first of two of the zoomed image, and the weight of the second / 256
/// in the lowest bits.
using LevelTap = std::uint32_t;
constexpr unsigned level_tap_bits = 9;

/// From where to where a window goes, in pixels of the frame.
struct WindowRange {
  float from, to;
};

/// A size of windows. Taps begin a pixel before the padded level and end a pixel after it; ranges are those of window
/// columns and rows.
struct Level {
  std::uint32_t x_taps, y_taps;
  std::uint32_t x_ranges, y_ranges;
  std::uint32_t width, height;  ///< padded
  std::uint32_t columns, rows;  ///< of windows
  std::uint32_t first_window;
};

struct Plane {
  std::uint32_t level;
  std::uint32_t x, y;           ///< of its first block
  std::uint32_t columns, rows;  ///< of blocks
  std::uint64_t values;         ///< where its block values are: [block_values][rows][columns]
};

struct BlockTile {
  std::uint32_t plane;
  std::uint16_t column, row;  ///< tile in the plane
};

}  // namespace crowd::hog
