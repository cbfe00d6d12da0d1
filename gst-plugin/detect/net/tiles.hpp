// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which parts of a picture a network sees, and how each lies in the network's input.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "detect/net/crop.hpp"
#include "tensors/description.hpp"

namespace crowd::net {

inline constexpr int max_tiles = 8;              ///< columns, and rows
inline constexpr double max_tile_overlap = 0.5;  ///< beyond it a tile would share pixels with its next but one
inline constexpr int min_tile_side = 16;         ///< pixels

struct TileGrid {
  int columns = 1, rows = 1;
  double overlap = 0.2;  ///< of neighbours, as a part of a tile's side
  bool operator==(const TileGrid&) const = default;
};

/// Columns and rows of "3x3", from 1 to max_tiles each.
bool parse_tiles(const std::string& text, TileGrid& grid);
std::string tiles_to_string(const TileGrid& grid);

struct PixelSize {
  int width = 0, height = 0;
  bool operator==(const PixelSize&) const = default;
};

struct TilePlan {
  PixelSize input;          ///< of the network
  std::vector<Crop> crops;  ///< tiles row by row, then the whole picture where there is more than one tile

  std::vector<tensors::InputPlacement> placements() const;  ///< of the crops
};

/// Why a picture has no such tiles, and what helps; empty if it has.
std::string tiles_problem(PixelSize picture, const TileGrid& grid);

/// How a picture is searched. Nothing, with the reason and remedy, where there is no grid, or its
/// tiles are below min_tile_side.
std::optional<TilePlan> plan_tiles(PixelSize picture, const TileGrid& grid, const tensors::Input& input,
                                   std::string& problem);

}  // namespace crowd::net
