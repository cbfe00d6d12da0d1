// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Large boxes: far larger along an axis than the mean of the frame (StagedArguments::large_size). The window of a box
// so large that it overlaps large ones alone has most of the frame's cells. Walks through it pass by groups of cells
// whose boxes are all too small (cuda/PROOFS.md, section 5).
#pragma once

#include "kernels/staged/staged.cuh"

namespace crowd::CROWD_STAGED {

/// Of a box: the larger of its extents, each in cells of the same part of the mean extent along its axis.
__device__ inline float size_in_cells(const Grid& grid, float width, float height) {
  return fmaxf(width * (grid.per_x / tuning::staged_narrow), height * grid.per_y);
}

/// The size that all boxes have which can overlap this one, at least, if it is that of a large box; else 0.
__device__ inline float min_size_of_overlapping(const Stage& stage, const float4& box, const PairRule& rule) {
  const float w = width(box, rule.overlap.offset);
  const float h = height(box, rule.overlap.offset);
  const float size = size_in_cells(stage.scale().grid, w, h);
  // How much smaller a box that overlaps can be along an axis, at most; infinite for rules that do not bound it.
  const float times = (1 + 2 * rule.reach) * (1 + 1e-4f);
  if (!unlikely(size >= stage.a.large_size * times))
    return 0;
  // A size that has overflowed says nothing of others.
  return size < INFINITY && times < INFINITY && w * h >= tiny_area ? size / times : 0;
}

/// Takes note of a valid candidate if it is large.
__device__ inline void note_size(const Stage& stage, std::uint32_t cell, float size) {
  if (unlikely(size >= stage.a.large_size))
    atomicMax(&stage.sizes()[cell / size_cells], __float_as_uint(size));
}

struct CellRange {
  std::uint32_t first, end;
};

/// The cells without those at either end that hold no large box of that size.
__device__ inline CellRange narrowed(const CellRange& cells, const std::uint32_t* sizes, float size) {
  CellRange narrow{cells.end, cells.end};
  for (std::uint32_t number = cells.first / size_cells; number * size_cells < cells.end; ++number) {
    if (__uint_as_float(sizes[number]) < size)
      continue;
    narrow.first = min(narrow.first, max(number * size_cells, cells.first));
    narrow.end = min((number + 1) * size_cells, cells.end);
  }
  return narrow;
}

}  // namespace crowd::CROWD_STAGED
