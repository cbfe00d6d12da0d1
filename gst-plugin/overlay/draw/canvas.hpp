// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * canvas.hpp: painting primitives on a frame of components of 8 bits, or of up to 16 in two bytes.
 *
 * The pixel rule, the same for every backend:
 *
 * - A frame is a set of components (Y, U, V or R, G, B, A), each a grid of samples, some of them subsampled. A sample
 *   is a byte, or two with the lower one first.
 * - Primitives are painted in their order, opaque: the last one that covers a sample gives it its value.
 * - A fill covers the pixels x1 <= x < x2, y1 <= y < y2 of every component. A subsampled component's sample is covered
 *   if any of its pixels is covered, so chroma may reach one pixel beyond the luma of a fill at odd edges.
 * - A glyph covers, of its cell of 5x9 squares of `scale` pixels, the squares that have ink. In YUV and grey formats it
 *   writes luma alone and leaves the chroma of what lies below it; in RGB formats it writes R, G, B and alpha.
 * - Alpha becomes opaque where it is written. The unused byte of formats such as RGBx is never written; the unused bits
 * of a sample of two bytes become 0.
 * - Nothing is written outside the frame.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace crowd::draw {

/** One component of a frame. */
struct Component {
  std::uint8_t* data;
  std::ptrdiff_t stride;   ///< bytes from row to row
  std::ptrdiff_t advance;  ///< bytes from sample to sample
  int shift_x, shift_y;    ///< log2 of the pixels of a sample in a row and in a column
  int bytes = 1;           ///< of a sample, 1 or 2
  int shift = 0;           ///< unused bits below those of the value
};

/** Values of the components of one colour, alpha last. */
using Paint = std::array<std::uint16_t, 4>;

/** How RGB becomes the components of a frame. The weights of luma are parts of 10000. */
struct ColourSpace {
  bool rgb;         ///< components are R, G, B, A; else Y, Cb, Cr, A
  bool full_range;  ///< luma 0..255 and chroma 1..255, else 16..235 and 16..240; of 8 bits
  int kr, kb;       ///< weight of red and of blue in luma, say 2990 and 1140 for BT.601
  int depth = 8;    ///< bits of a component, 8..16
};

/** Encodes 0xRRGGBB, in integers: exact values rounded to nearest, halves away from zero. */
Paint encode(std::uint32_t rgb, const ColourSpace& space);

/** A frame to paint on. */
struct Canvas {
  int width, height;     ///< pixels
  int components;        ///< of `component`, in the order of Paint
  int glyph_components;  ///< the first so many take glyphs
  ColourSpace colours;
  std::array<Component, 4> component;
  int left = 0, top = 0;  ///< where it begins in the components, pixels
};

/** What is painted: a rectangle, or a glyph whose cell begins at x1 y1. */
struct Primitive {
  enum Kind : std::int32_t { fill, glyph };
  Kind kind;
  std::int32_t x1, y1, x2, y2;  ///< fill: the rectangle, half-open. glyph: x1 y1 only
  std::int32_t scale;           ///< glyph: pixels per square of its cell
  std::int32_t code;            ///< glyph: index into glyphs()
  std::uint32_t rgb;            ///< 0xRRGGBB
};

/** Paints in order. */
void paint(const Canvas& canvas, std::span<const Primitive> primitives);

}  // namespace crowd::draw
