// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The anchors of detectors that have them: layer by layer, row by row, cell by cell.
#pragma once

#include <cstddef>
#include <vector>

#include "tensors/plan.hpp"

namespace crowd::tensors {

/// SSD's. Scales rise evenly from the first layer to the last; an anchor of scale s and ratio r is s * sqrt(r) wide and
/// s / sqrt(r) high, parts of the input's sides. Each cell has one for each ratio, and a square one of the geometric
/// mean of its layer's scale and the next one's, of 1 in the last layer. With `reduce_first`, cells of the first layer
/// have three: a square of .1, and ratios 2 and 1/2.
struct SsdAnchors {
  std::vector<double> grids;  ///< cells a side of each layer, whole numbers
  double min_scale, max_scale;
  std::vector<double> ratios;
  bool reduce_first;
};
std::size_t count_anchors(const SsdAnchors& of);
std::vector<Anchor> make_ssd_anchors(const SsdAnchors& of, int width, int height);

/// BlazeFace's: the centres of cells, so many alike in each; as large as the input.
std::size_t count_anchors(const std::vector<double>& grids, const std::vector<double>& per_cell);
std::vector<Anchor> make_cell_anchors(const std::vector<double>& grids, const std::vector<double>& per_cell, int width,
                                      int height);

}  // namespace crowd::tensors
