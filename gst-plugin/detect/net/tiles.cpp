// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/net/tiles.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "tensors/fitting.hpp"

namespace crowd::net {

namespace {

struct Region {
  double x, y, width, height;
};

// Tiles of equal size along one side, each sharing `overlap` of its length with the next.
double tile_side(int picture, int count, double overlap) {
  return picture / (count - (count - 1) * overlap);
}

double tile_start(int picture, int count, int i, double side) {
  return count > 1 ? (picture - side) * i / (count - 1) : 0;
}

int rounded_up(double side, int multiple) {
  return std::max(1, static_cast<int>(std::ceil(side / multiple - 1e-9))) * multiple;
}

PixelSize input_size(const tensors::Input& input, double width, double height) {
  const double shrink = std::min(1.0, input.max_side / std::max(width, height));
  return {input.width() > 0 ? input.width() : rounded_up(width * shrink, input.multiple_of),
          input.height() > 0 ? input.height() : rounded_up(height * shrink, input.multiple_of)};
}

// One sample for each pixel of the picture that a pixel of the input covers; between them is interpolated.
int taps(double scale) {
  constexpr int max_taps = 16;
  return std::clamp(static_cast<int>(scale + 1e-6), 1, max_taps);
}

Crop crop_of(const Region& region, PixelSize input, tensors::Fit fit) {
  const auto [scale_x, scale_y] =
      tensors::scale_to_picture(region.width, region.height, input.width, input.height, fit);
  Crop crop;
  crop.place = {static_cast<float>(region.x), static_cast<float>(region.y), static_cast<float>(scale_x),
                static_cast<float>(scale_y)};
  crop.content_width = static_cast<float>(region.width / scale_x);
  crop.content_height = static_cast<float>(region.height / scale_y);
  crop.taps_x = taps(scale_x);
  crop.taps_y = taps(scale_y);
  return crop;
}

}  // namespace

bool parse_tiles(const std::string& text, TileGrid& grid) {
  int columns = 0, rows = 0;
  const char* const end = text.data() + text.size();
  const auto [after_columns, columns_error] = std::from_chars(text.data(), end, columns);
  if (columns_error != std::errc() || after_columns == end || *after_columns != 'x')
    return false;
  const auto [after_rows, rows_error] = std::from_chars(after_columns + 1, end, rows);
  if (rows_error != std::errc() || after_rows != end || columns < 1 || columns > max_tiles || rows < 1 ||
      rows > max_tiles)
    return false;
  grid.columns = columns;
  grid.rows = rows;
  return true;
}

std::string tiles_to_string(const TileGrid& grid) {
  return std::to_string(grid.columns) + "x" + std::to_string(grid.rows);
}

std::vector<tensors::InputPlacement> TilePlan::placements() const {
  std::vector<tensors::InputPlacement> all;
  for (const Crop& crop : crops)
    all.push_back(crop.place);
  return all;
}

std::string tiles_problem(PixelSize picture, const TileGrid& grid) {
  if (grid.columns < 1 || grid.rows < 1)
    return "tiles is not COLUMNSxROWS of 1 to " + std::to_string(max_tiles) + " each; set it to, say, 3x3";
  if (tile_side(picture.width, grid.columns, grid.overlap) < min_tile_side ||
      tile_side(picture.height, grid.rows, grid.overlap) < min_tile_side)
    return "a frame of " + std::to_string(picture.width) + "x" + std::to_string(picture.height) + " in " +
           tiles_to_string(grid) + " tiles leaves less than " + std::to_string(min_tile_side) +
           " pixels a side; set tiles=1x1 or use larger frames";
  return {};
}

std::optional<TilePlan> plan_tiles(PixelSize picture, const TileGrid& grid, const tensors::Input& input,
                                   std::string& problem) {
  if (problem = tiles_problem(picture, grid); !problem.empty())
    return std::nullopt;
  const double width = tile_side(picture.width, grid.columns, grid.overlap);
  const double height = tile_side(picture.height, grid.rows, grid.overlap);
  TilePlan plan;
  plan.input = input_size(input, width, height);
  for (int row = 0; row < grid.rows; row++)
    for (int column = 0; column < grid.columns; column++)
      plan.crops.push_back(crop_of({tile_start(picture.width, grid.columns, column, width),
                                    tile_start(picture.height, grid.rows, row, height), width, height},
                                   plan.input, input.fit));
  if (plan.crops.size() > 1)
    plan.crops.push_back(crop_of({0, 0, static_cast<double>(picture.width), static_cast<double>(picture.height)},
                                 plan.input, input.fit));
  return plan;
}

}  // namespace crowd::net
