// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The levels, planes and windows of a search as OpenCV 4.6 would go through them. No CUDA.
#pragma once

#include <string>
#include <vector>

#include "detect/hog/hog_tables.hpp"
#include "detect/search.hpp"

namespace crowd::hog {

struct SearchPlan {
  Zoom zoom;
  std::vector<ZoomTap> zoom_x, zoom_y;
  std::vector<float> zoom_weights;
  std::vector<Level> levels;
  std::vector<LevelTap> level_taps;
  std::vector<WindowRange> ranges;
  std::vector<Plane> planes;
  std::vector<BlockTile> block_tiles, score_tiles;
  std::size_t values = 0;  ///< floats for the blocks of all planes, and some that are read beyond
  std::uint32_t windows = 0;
};

/// Empty, or why there is no plan. A frame too small for a window has one, without windows.
std::string make_plan(int width, int height, const Search& search, SearchPlan& plan);

}  // namespace crowd::hog
