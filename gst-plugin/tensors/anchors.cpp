// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tensors/anchors.hpp"

#include <cmath>

namespace crowd::tensors {

namespace {

/// Sides in parts of the input's.
struct Shape {
  double width, height;
};

Shape shape_of(double scale, double ratio) {
  return {scale * std::sqrt(ratio), scale / std::sqrt(ratio)};
}

void add_layer(std::vector<Anchor>& anchors, double grid, const std::vector<Shape>& shapes, int width, int height) {
  const auto cells = static_cast<int>(grid);
  for (int row = 0; row < cells; row++)
    for (int column = 0; column < cells; column++)
      for (const Shape& shape : shapes)
        anchors.push_back({static_cast<float>((column + .5) / grid * width),
                           static_cast<float>((row + .5) / grid * height), static_cast<float>(shape.width * width),
                           static_cast<float>(shape.height * height)});
}

}  // namespace

std::size_t count_anchors(const std::vector<double>& grids, const std::vector<double>& per_cell) {
  double count = 0;
  for (std::size_t layer = 0; layer < grids.size(); layer++)
    count += grids[layer] * grids[layer] * per_cell[layer];
  return static_cast<std::size_t>(count);
}

std::size_t count_anchors(const SsdAnchors& of) {
  constexpr double reduced_anchors = 3;
  std::vector<double> per_cell(of.grids.size(), static_cast<double>(of.ratios.size() + 1));
  if (of.reduce_first)
    per_cell[0] = reduced_anchors;
  return count_anchors(of.grids, per_cell);
}

std::vector<Anchor> make_ssd_anchors(const SsdAnchors& of, int width, int height) {
  constexpr double reduced_scale = .1;
  const std::size_t layers = of.grids.size();
  const auto scale_of = [&](std::size_t layer) {
    if (layer == layers)
      return 1.;
    const double step = layers > 1 ? (of.max_scale - of.min_scale) / static_cast<double>(layers - 1) : 0;
    return of.min_scale + step * static_cast<double>(layer);
  };
  std::vector<Anchor> anchors;
  for (std::size_t layer = 0; layer < layers; layer++) {
    const double scale = scale_of(layer);
    std::vector<Shape> shapes;
    if (layer == 0 && of.reduce_first) {
      shapes = {shape_of(reduced_scale, 1), shape_of(scale, 2), shape_of(scale, .5)};
    } else {
      for (const double ratio : of.ratios)
        shapes.push_back(shape_of(scale, ratio));
      shapes.push_back(shape_of(std::sqrt(scale * scale_of(layer + 1)), 1));
    }
    add_layer(anchors, of.grids[layer], shapes, width, height);
  }
  return anchors;
}

std::vector<Anchor> make_cell_anchors(const std::vector<double>& grids, const std::vector<double>& per_cell, int width,
                                      int height) {
  std::vector<Anchor> anchors;
  for (std::size_t layer = 0; layer < grids.size(); layer++)
    add_layer(anchors, grids[layer], std::vector<Shape>(static_cast<std::size_t>(per_cell[layer]), {1, 1}), width,
              height);
  return anchors;
}

}  // namespace crowd::tensors
