// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The picture of a tile while it is being made: the colour of each sample, as the bits of its index in planes, so that
// a thread paints 32 pixels of a row with a few instructions.
#pragma once

#include <cuda_runtime.h>

#include "overlay/draw/painter_job.hpp"

namespace crowd::draw {

constexpr int tile_size = 64;               ///< pixels, both ways
constexpr int tile_words = tile_size / 32;  ///< of pixels in a row
constexpr int color_bits = 4;
static_assert(color_count <= 1 << color_bits);

__device__ inline unsigned mask_if(unsigned condition) {
  return condition ? ~0U : 0U;
}

/// The lowest bits, none if the number is negative.
__device__ inline unsigned low_bits(int number) {
  return number >= 32 ? ~0U : number <= 0 ? 0U : (1U << number) - 1;
}

/// The bits from `first` to before `end`; both may lie outside the word.
__device__ inline unsigned bits_between(int first, int end) {
  return low_bits(end) & ~low_bits(first);
}

/// Samples of a row, and which of them are painted.
struct Row {
  static constexpr int planes = 1 + color_bits;
  unsigned covered;
  unsigned color[color_bits];

  __device__ void paint(unsigned samples, unsigned index) {
    covered |= samples;
#pragma unroll
    for (int k = 0; k < color_bits; ++k)
      color[k] = (color[k] & ~samples) | (samples & mask_if(index >> k & 1));
  }
  /// What was painted later lies on top.
  __device__ void put(const Row& later) {
#pragma unroll
    for (int k = 0; k < color_bits; ++k)
      color[k] = (color[k] & ~later.covered) | (later.color[k] & later.covered);
    covered |= later.covered;
  }
  __device__ void store(unsigned* to, unsigned step) const {
    to[0] = covered;
#pragma unroll
    for (int k = 0; k < color_bits; ++k)
      to[(1 + k) * step] = color[k];
  }
  __device__ void load(const unsigned* from, unsigned step) {
    covered = from[0];
#pragma unroll
    for (int k = 0; k < color_bits; ++k)
      color[k] = from[(1 + k) * step];
  }
};

/// Two rows of 32 pixels: of the components that have a sample for each pixel, and the row or two of the others.
template <int rest_rows>
struct Strip {
  static constexpr int rows = 2 + rest_rows;
  static constexpr int planes = rows * Row::planes;
  Row row[rows];

  __device__ void clear() {
#pragma unroll
    for (Row& it : row)
      it = Row{};
  }
  /// Paints pixels of both rows. A sample of the others is painted with any of its pixels; one that covers two
  /// pixels of a row has the bit of the left one.
  __device__ void fill(unsigned upper, unsigned lower, unsigned color, bool pairs) {
    row[0].paint(upper, color);
    row[1].paint(lower, color);
    const auto samples = [pairs](unsigned pixels) { return pairs ? pixels | pixels >> 1 : pixels; };
    if constexpr (rest_rows == 1)
      row[2].paint(samples(upper | lower), color);
    if constexpr (rest_rows == 2) {
      row[2].paint(samples(upper), color);
      row[3].paint(samples(lower), color);
    }
  }
  __device__ void put(const Strip& later) {
#pragma unroll
    for (int r = 0; r < rows; ++r)
      row[r].put(later.row[r]);
  }
  __device__ void store(unsigned* to, unsigned step) const {
#pragma unroll
    for (int r = 0; r < rows; ++r)
      row[r].store(to + r * Row::planes * step, step);
  }
  __device__ void load(const unsigned* from, unsigned step) {
#pragma unroll
    for (int r = 0; r < rows; ++r)
      row[r].load(from + r * Row::planes * step, step);
  }
};

/// Where a strip lies in its tile.
struct StripPlace {
  int word;  ///< of the row
  int y;     ///< of the upper row
};

}  // namespace crowd::draw
