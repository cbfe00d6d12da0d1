// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "canvas.hpp"

#include <algorithm>

#include "font.hpp"

namespace crowd::draw {

namespace {

constexpr std::int64_t rounded_quotient(std::int64_t numerator, std::int64_t denominator) {
  return (numerator >= 0 ? numerator + denominator / 2 : numerator - denominator / 2) / denominator;
}

constexpr std::uint8_t to_byte(std::int64_t value) {
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(value, 0, 255));
}

struct Rect {
  int x1, y1, x2, y2;
};

void fill(const Component& component, const Rect& pixels, std::uint8_t value) {
  const int x1 = pixels.x1 >> component.shift_x;
  const int x2 = ((pixels.x2 - 1) >> component.shift_x) + 1;
  const int y1 = pixels.y1 >> component.shift_y;
  const int y2 = ((pixels.y2 - 1) >> component.shift_y) + 1;
  for (int y = y1; y < y2; y++) {
    std::uint8_t* row = component.data + y * component.stride;
    if (component.advance == 1) {
      std::fill(row + x1, row + x2, value);
      continue;
    }
    for (int x = x1; x < x2; x++)
      row[x * component.advance] = value;
  }
}

// Pixels of `rect` that lie in the frame; the corners may be anywhere in the range of int.
Rect clipped(const Canvas& canvas, const Primitive& p) {
  return {std::max(p.x1, 0), std::max(p.y1, 0), std::min(p.x2, canvas.width), std::min(p.y2, canvas.height)};
}

void paint_rect(const Canvas& canvas, const Primitive& rect, const Paint& paint, int components) {
  const Rect visible = clipped(canvas, rect);
  if (visible.x1 >= visible.x2 || visible.y1 >= visible.y2)
    return;
  for (int c = 0; c < components; c++)
    fill(canvas.component[static_cast<std::size_t>(c)], visible, paint[static_cast<std::size_t>(c)]);
}

void paint_glyph(const Canvas& canvas, const Primitive& cell, const Paint& paint) {
  const Glyph& glyph = glyphs()[static_cast<std::size_t>(cell.code)];
  for (int row = 0; row < glyph_height; row++)
    for (int column = 0; column < glyph_width; column++) {
      if (!has_ink(glyph, column, row))
        continue;
      Primitive square = cell;
      square.x1 = cell.x1 + column * cell.scale;
      square.y1 = cell.y1 + row * cell.scale;
      square.x2 = square.x1 + cell.scale;
      square.y2 = square.y1 + cell.scale;
      paint_rect(canvas, square, paint, canvas.glyph_components);
    }
}

}  // namespace

Paint encode(std::uint32_t rgb, const ColourSpace& space) {
  const std::int64_t r = rgb >> 16 & 0xff;
  const std::int64_t g = rgb >> 8 & 0xff;
  const std::int64_t b = rgb & 0xff;
  if (space.rgb)
    return {to_byte(r), to_byte(g), to_byte(b), 255};
  // Luma and the colour differences as 10000ths of 255.
  const std::int64_t luma = space.kr * r + (10000 - space.kr - space.kb) * g + space.kb * b;
  const std::int64_t luma_range = space.full_range ? 255 : 219;
  const std::int64_t chroma_range = space.full_range ? 255 : 224;
  const auto chroma = [&](std::int64_t value, std::int64_t weight) {
    return to_byte(128 + rounded_quotient(chroma_range * (10000 * value - luma), 2 * (10000 - weight) * 255));
  };
  return {to_byte((space.full_range ? 0 : 16) + rounded_quotient(luma_range * luma, 10000 * 255)), chroma(b, space.kb),
          chroma(r, space.kr), 255};
}

void paint(const Canvas& canvas, std::span<const Primitive> primitives) {
  for (const Primitive& primitive : primitives) {
    const Paint colour = encode(primitive.rgb, canvas.colours);
    if (primitive.kind == Primitive::fill)
      paint_rect(canvas, primitive, colour, canvas.components);
    else
      paint_glyph(canvas, primitive, colour);
  }
}

}  // namespace crowd::draw
