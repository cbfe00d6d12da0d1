// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * geometry.hpp: where the parts of a detection lie, in whole pixels, and which colour they have: the rules of
 * composer.hpp for the painters on the host and on a device, in C++17.
 */
#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"
#include "overlay/draw/font.hpp"

namespace crowd::draw {

/** A rectangle of pixels, half-open; of no area if x2 <= x1 or y2 <= y1. */
struct PixelBox {
  int x1, y1, x2, y2;
};

/** What an outline covers: the pixels of `outer` that are not in `hole`. */
struct Outline {
  PixelBox outer, hole;
};

/** From coordinates of boxes to pixels of a frame, as a GstCrowdBoxesPlacement. */
struct Placement {
  float xx = 1, xy = 0, x0 = 0;
  float yx = 0, yy = 1, y0 = 0;
};

/** A box in pixels, which may leave the frame. */
struct PlacedBox {
  float x1, y1, x2, y2;
};

/** An inverted box stays one. */
CROWD_HD inline PlacedBox place(const Placement& p, float x1, float y1, float x2, float y2) {
  const float left = p.xx * x1 + p.xy * y1 + p.x0, right = p.xx * x2 + p.xy * y2 + p.x0;
  const float top = p.yx * x1 + p.yy * y1 + p.y0, bottom = p.yx * x2 + p.yy * y2 + p.y0;
  const bool mirrored = p.xx + p.xy < 0, upside_down = p.yx + p.yy < 0;
  return {mirrored ? right : left, upside_down ? bottom : top, mirrored ? left : right, upside_down ? top : bottom};
}

CROWD_HD constexpr int smaller_of(int a, int b) {
  return b < a ? b : a;
}

CROWD_HD constexpr int larger_of(int a, int b) {
  return a < b ? b : a;
}

CROWD_HD constexpr bool is_empty(const PixelBox& box) {
  return box.x1 >= box.x2 || box.y1 >= box.y2;
}

CROWD_HD constexpr PixelBox intersection(const PixelBox& a, const PixelBox& b) {
  return {larger_of(a.x1, b.x1), larger_of(a.y1, b.y1), smaller_of(a.x2, b.x2), smaller_of(a.y2, b.y2)};
}

/** Whether a box has finite coordinates and an area. */
CROWD_HD inline bool is_drawable(float x1, float y1, float x2, float y2) {
  constexpr float max = 3.402823466e+38F;
  return x1 >= -max && y1 >= -max && x2 <= max && y2 <= max && x1 < x2 && y1 < y2;
}

/** The pixel edge nearest to a coordinate; a half goes up. */
CROWD_HD inline int nearest_edge(float edge) {
  // Keeps sums and differences of a few coordinates in an int; far beyond any frame.
  constexpr float far = 1 << 28;
  const float near = edge < -far ? -far : edge > far ? far : edge;
  return static_cast<int>(std::floor(near + 0.5F));
}

/** The pixels of a drawable box: one at least. */
CROWD_HD inline PixelBox to_pixels(float x1, float y1, float x2, float y2) {
  const int left = nearest_edge(x1);
  const int top = nearest_edge(y1);
  return {left, top, larger_of(nearest_edge(x2), left + 1), larger_of(nearest_edge(y2), top + 1)};
}

CROWD_HD constexpr bool is_visible(const PixelBox& box, int width, int height) {
  return box.x1 < width && box.y1 < height && box.x2 > 0 && box.y2 > 0;
}

/** The outline inside a box; one thicker than its box fills it. */
CROWD_HD constexpr Outline outline_of(const PixelBox& box, int thickness) {
  if (2 * thickness >= box.x2 - box.x1 || 2 * thickness >= box.y2 - box.y1)
    return {box, {box.x1, box.y1, box.x1, box.y1}};
  return {box, {box.x1 + thickness, box.y1 + thickness, box.x2 - thickness, box.y2 - thickness}};
}

/** The background of a text whose upper left corner is at x y. */
CROWD_HD constexpr PixelBox text_box(int x, int y, int characters, int scale) {
  return {x, y, x + (characters * glyph_advance + 1) * scale, y + glyph_height * scale};
}

/** Where the cell of a text's character begins. */
CROWD_HD constexpr int character_left(const PixelBox& text, int index, int scale) {
  return text.x1 + (1 + index * glyph_advance) * scale;
}

/** A thickness or scale: as set or, where 0 is set, a part of the frame's height. */
constexpr int automatic(int value, int height, int part) {
  return value > 0 ? value : larger_of(1, (height + part / 2) / part);
}

constexpr int outline_part = 360;
constexpr int text_part = 540;
/** The summary is so many times as large as labels. */
constexpr int summary_scale = 2;

// Bright and far apart, so that neighbouring classes differ on dark and light footage.
constexpr int class_color_count = 12;
inline constexpr std::uint32_t class_colors[class_color_count] = {0x00e676, 0x2979ff, 0xff5252, 0xffd600,
                                                                  0xd500f9, 0x00e5ff, 0xff9100, 0x76ff03,
                                                                  0xff4081, 0x1de9b6, 0x7c4dff, 0xc6ff00};

/** Which of class_colors a class has that is not negative. */
CROWD_HD constexpr int class_color_index(int class_id) {
  return class_id % class_color_count;
}

/** Which of class_colors a label has, for classes that are negative. */
CROWD_HD constexpr int label_color_index(const char* label) {
  std::uint32_t hash = 2166136261U;
  for (const char* c = label ? label : ""; *c; c++)
    hash = (hash ^ static_cast<unsigned char>(*c)) * 16777619U;
  return static_cast<int>(hash % class_color_count);
}

/** Black or white. */
constexpr std::uint32_t readable_on(std::uint32_t rgb) {
  const std::uint32_t luma = 299 * (rgb >> 16 & 0xff) + 587 * (rgb >> 8 & 0xff) + 114 * (rgb & 0xff);
  return luma > 128 * 1000 ? 0x000000 : 0xffffff;
}

}  // namespace crowd::draw
