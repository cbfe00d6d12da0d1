// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/hog/hog_levels.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <numeric>

namespace crowd::hog {

namespace {

constexpr std::size_t max_levels = 64;
constexpr std::size_t max_windows = std::size_t{1} << 28;
// Levels of equal size would have their windows mixed.
constexpr double min_scale_factor = 1.01;

struct Extent {
  int width, height;
};

// A grid that windows and the blocks in them lie on.
int grid_step(const Search& search) {
  return std::gcd(search.win_stride, cell);
}

int aligned_padding(const Search& search) {
  const int step = grid_step(search);
  return (std::max(search.padding, 0) + step - 1) / step * step;
}

// As cvRound(): ties to even.
int round_even(double value) {
  return static_cast<int>(std::lrint(value));
}

/// `snap`, as for columns: beyond an edge is all that at the edge. Rows keep two weights there, for the same row twice,
/// which rounds otherwise.
std::vector<ZoomTap> linear_taps(int from, int to, double scale, bool snap) {
  constexpr float one = 2048;
  std::vector<ZoomTap> taps;
  for (int i = 0; i < to; i++) {
    auto at = static_cast<float>((i + 0.5) * scale - 0.5);
    auto first = static_cast<int>(std::floor(at));
    at -= static_cast<float>(first);
    if (snap && (first < 0 || first >= from - 1)) {
      at = 0;
      first = std::clamp(first, 0, from - 1);
    }
    taps.push_back({std::clamp(first, 0, from - 1), std::clamp(first + 1, 0, from - 1), round_even((1.F - at) * one),
                    round_even(at * one)});
  }
  return taps;
}

std::vector<ZoomTap> area_taps(int from, int to, double scale, std::vector<float>& weights) {
  constexpr double little = 1e-3;
  std::vector<ZoomTap> taps;
  for (int i = 0; i < to; i++) {
    const double begin = i * scale;
    const double end = begin + scale;
    const double extent = std::min(scale, from - begin);
    const int last = std::min(static_cast<int>(std::floor(end)), from - 1);
    const int first = std::min(static_cast<int>(std::ceil(begin)), last);
    ZoomTap tap{first, last - 1, static_cast<int>(weights.size()), 0};
    if (first - begin > little) {
      tap.first--;
      weights.push_back(static_cast<float>((first - begin) / extent));
    }
    weights.insert(weights.end(), static_cast<std::size_t>(last - first), static_cast<float>(1.0 / extent));
    if (end - last > little) {
      tap.last++;
      weights.push_back(static_cast<float>(std::min(std::min(end - last, 1.0), extent) / extent));
    }
    taps.push_back(tap);
  }
  return taps;
}

std::vector<ZoomTap> whole_taps(int from, int to, int factor) {
  std::vector<ZoomTap> taps;
  for (int i = 0; i < to; i++)
    taps.push_back({i * factor, std::min((i + 1) * factor, from) - 1, 0, 0});
  return taps;
}

void plan_zoom(Extent frame, Extent size, double zoom, SearchPlan& plan) {
  constexpr int row_bytes = 64;
  plan.zoom = {ZoomMode::linear, 1, size.width, size.height, (size.width + row_bytes) / row_bytes * row_bytes};
  const double scale = 1.0 / zoom;
  if (zoom >= 1) {
    plan.zoom_x = linear_taps(frame.width, size.width, scale, true);
    plan.zoom_y = linear_taps(frame.height, size.height, scale, false);
    return;
  }
  const int factor = round_even(scale);
  if (std::abs(scale - factor) < DBL_EPSILON) {
    plan.zoom.mode = ZoomMode::whole;
    plan.zoom.factor = factor;
    plan.zoom_x = whole_taps(frame.width, size.width, factor);
    plan.zoom_y = whole_taps(frame.height, size.height, factor);
    return;
  }
  plan.zoom.mode = ZoomMode::area;
  plan.zoom_x = area_taps(frame.width, size.width, scale, plan.zoom_weights);
  plan.zoom_y = area_taps(frame.height, size.height, scale, plan.zoom_weights);
}

std::vector<double> list_scales(Extent size, const Search& search) {
  std::vector<double> scales;
  for (double scale = 1; scales.size() < max_levels; scale *= search.scale_factor) {
    const bool too_small =
        round_even(size.width / scale) < window_width || round_even(size.height / scale) < window_height;
    if (too_small || (search.max_size > 0 && min_people_height(search) * scale > search.max_size))
      break;
    scales.push_back(scale);
  }
  return scales;
}

// INTER_LINEAR_EXACT
LevelTap level_tap(int at, double scale, int from) {
  const double exact = scale * (at + 0.5) - 0.5;
  const auto first = static_cast<int>(std::floor(exact));
  if (first < 0)
    return 0;
  if (first >= from - 1)
    return static_cast<LevelTap>(from - 1) << level_tap_bits;
  const int second = round_even((exact - first) * 256);
  return static_cast<LevelTap>(first) << level_tap_bits | static_cast<LevelTap>(second);
}

// BORDER_REFLECT_101
int reflected(int at, int size) {
  while (at < 0 || at >= size)
    at = at < 0 ? -at : 2 * size - 2 - at;
  return at;
}

std::uint32_t add_taps(SearchPlan& plan, int from, int to, int padding) {
  const auto begin = static_cast<std::uint32_t>(plan.level_taps.size());
  const double scale = 1.0 / (static_cast<double>(to) / from);
  for (int at = -padding - 1; at <= to + padding; at++)
    plan.level_taps.push_back(level_tap(reflected(at, to), scale, from));
  return begin;
}

std::uint32_t add_ranges(SearchPlan& plan, std::uint32_t count, int extent, double scale, double zoom,
                         const Search& search) {
  const auto begin = static_cast<std::uint32_t>(plan.ranges.size());
  const int scaled_extent = round_even(extent * scale);
  for (int i = 0; i < static_cast<int>(count); i++) {
    const int from = round_even((i * search.win_stride - aligned_padding(search)) * scale);
    plan.ranges.push_back({static_cast<float>(from / zoom), static_cast<float>((from + scaled_extent) / zoom)});
  }
  return begin;
}

void add_level(SearchPlan& plan, double scale, double zoom, const Search& search) {
  const int padding = aligned_padding(search);
  const int width = round_even(plan.zoom.width / scale);
  const int height = round_even(plan.zoom.height / scale);
  const auto count = [&search](int size, int own) {
    return static_cast<std::uint32_t>((size - own) / search.win_stride + 1);
  };
  Level level{};
  level.width = static_cast<std::uint32_t>(width + 2 * padding);
  level.height = static_cast<std::uint32_t>(height + 2 * padding);
  level.columns = count(static_cast<int>(level.width), window_width);
  level.rows = count(static_cast<int>(level.height), window_height);
  level.x_taps = add_taps(plan, plan.zoom.width, width, padding);
  level.y_taps = add_taps(plan, plan.zoom.height, height, padding);
  level.x_ranges = add_ranges(plan, level.columns, window_width, scale, zoom, search);
  level.y_ranges = add_ranges(plan, level.rows, window_height, scale, zoom, search);
  plan.levels.push_back(level);
}

std::string number_windows(SearchPlan& plan) {
  std::size_t windows = 0;
  for (Level& level : plan.levels) {
    level.first_window = static_cast<std::uint32_t>(windows);
    windows += static_cast<std::size_t>(level.columns) * level.rows;
    if (windows > max_windows)
      return "a frame of this size has more than 268 million windows in this search: raise win-stride, scale-factor or "
             "min-size";
  }
  plan.windows = static_cast<std::uint32_t>(windows);
  return {};
}

void add_tiles(std::vector<BlockTile>& tiles, std::uint32_t plane, std::uint32_t columns, std::uint32_t rows,
               Extent tile) {
  const auto count = [](std::uint32_t all, int each) {
    return static_cast<std::uint16_t>((all + static_cast<std::uint32_t>(each) - 1) / static_cast<std::uint32_t>(each));
  };
  for (std::uint16_t row = 0; row < count(rows, tile.height); row++)
    for (std::uint16_t column = 0; column < count(columns, tile.width); column++)
      tiles.push_back({plane, column, row});
}

void add_plane(SearchPlan& plan, std::uint32_t level, std::uint32_t x, std::uint32_t y) {
  const Level& of = plan.levels[level];
  if (x + window_width > of.width || y + window_height > of.height)
    return;
  const auto number = static_cast<std::uint32_t>(plan.planes.size());
  const Plane plane{level, x, y, (of.width - x) / cell - 1, (of.height - y) / cell - 1, plan.values};
  plan.values += static_cast<std::size_t>(plane.columns) * plane.rows * block_values;
  add_tiles(plan.block_tiles, number, plane.columns, plane.rows, {block_tile_columns, block_tile_rows});
  add_tiles(plan.score_tiles, number, plane.columns - window_columns + 1, plane.rows - window_rows + 1,
            {score_tile_columns, score_tile_rows});
  plan.planes.push_back(plane);
}

void plan_planes(SearchPlan& plan, const Search& search) {
  const auto step = static_cast<std::uint32_t>(grid_step(search));
  std::size_t widest = 0;
  for (std::uint32_t level = 0; level < plan.levels.size(); level++) {
    widest = std::max<std::size_t>(widest, plan.levels[level].width / cell);
    for (std::uint32_t y = 0; y < cell; y += step)
      for (std::uint32_t x = 0; x < cell; x += step)
        add_plane(plan, level, x, y);
  }
  // Tiles of scores read beyond the edges of planes what they do not use.
  plan.values += (score_tile_rows + 1) * widest + score_tile_columns + window_columns;
}

}  // namespace

std::string make_plan(int width, int height, const Search& search, SearchPlan& plan) {
  plan = {};
  if (width < 1 || height < 1 || search.win_stride < 1 || !(search.scale_factor >= min_scale_factor))
    return "the frame has no pixels, win-stride is below 1 or scale-factor below 1.01";
  const double zoom = static_cast<double>(window_height) / min_people_height(search);
  if (std::lround(width * zoom) < window_width || std::lround(height * zoom) < window_height)
    return {};
  if (zoom > 1 && zoom * width * zoom * height > max_enlarged_pixels)
    return "min-size is too small for a frame of this size: it would be enlarged to more than 64 million pixels. Raise "
           "min-size";
  const Extent size = zoom == 1 ? Extent{width, height} : Extent{round_even(width * zoom), round_even(height * zoom)};
  plan_zoom({width, height}, size, zoom, plan);
  for (const double scale : list_scales(size, search))
    add_level(plan, scale, zoom, search);
  if (const std::string failure = number_windows(plan); !failure.empty()) {
    plan = {};
    return failure;
  }
  plan_planes(plan, search);
  return {};
}

}  // namespace crowd::hog
