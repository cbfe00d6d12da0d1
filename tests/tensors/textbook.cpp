// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "textbook.hpp"

#include <array>
#include <cmath>
#include <map>

namespace crowd::test {

namespace {

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

using Box = std::array<double, 4>;  // x1 y1 x2 y2

Box around(double cx, double cy, double w, double h) {
  return {cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2};
}

/// cx cy w h in parts of the picture; layers, rows, columns and then shapes.
std::vector<Box> anchors_of_ssd() {
  std::vector<Box> anchors;
  const int grids[] = {19, 10, 5, 3, 2, 1};
  for (int layer = 0; layer < 6; layer++) {
    const double scale = .2 + .15 * layer, next = layer == 5 ? 1 : .2 + .15 * (layer + 1);
    for (int row = 0; row < grids[layer]; row++)
      for (int column = 0; column < grids[layer]; column++) {
        const double x = (column + .5) / grids[layer], y = (row + .5) / grids[layer];
        const auto add = [&](double size, double ratio) {
          anchors.push_back({x, y, size * std::sqrt(ratio), size / std::sqrt(ratio)});
        };
        if (layer == 0) {
          add(.1, 1), add(.2, 2), add(.2, .5);
          continue;
        }
        add(scale, 1), add(scale, 2), add(scale, .5), add(scale, 3), add(scale, .3333);
        add(std::sqrt(scale * next), 1);
      }
  }
  return anchors;
}

/// 16 x 16 cells with two anchors, then 8 x 8 with six: cx cy in pixels of 256.
std::vector<Box> anchors_of_blazeface() {
  std::vector<Box> anchors;
  for (int i = 0; i < 512; i++)
    anchors.push_back({i / 2 % 16 * 16. + 8, i / 2 / 16 * 16. + 8, 0, 0});
  for (int i = 0; i < 384; i++)
    anchors.push_back({i / 6 % 8 * 32. + 16, i / 6 / 8 * 32. + 16, 0, 0});
  return anchors;
}

struct Place {
  Box box;
  std::vector<double> scores;  // of each class
};

Place place_of(const Network& network, const Answer& a, std::size_t b, std::size_t n) {
  const std::string& name = network.name;
  Place place;
  if (name == "person-net") {
    static const std::vector<Box> anchors = anchors_of_ssd();
    const Box& anchor = anchors.at(n);
    const double cy = a.at(0, b, n, 0) / 10 * anchor[3] + anchor[1], cx = a.at(0, b, n, 1) / 10 * anchor[2] + anchor[0];
    const double h = std::exp(a.at(0, b, n, 2) / 5.) * anchor[3], w = std::exp(a.at(0, b, n, 3) / 5.) * anchor[2];
    place.box = around(300 * cx, 300 * cy, 300 * w, 300 * h);
    place.scores = {sigmoid(a.at(1, b, n, 1))};
  } else if (name == "ssd-boxes") {
    place.box = {300. * a.at(0, b, n, 1), 200. * a.at(0, b, n, 0), 300. * a.at(0, b, n, 3), 200. * a.at(0, b, n, 2)};
    for (std::size_t c = 1; c < 5; c++)
      place.scores.push_back(a.at(1, b, n, c));
  } else if (name == "ultra-light-face") {
    place.box = {320. * a.at(0, b, n, 0), 240. * a.at(0, b, n, 1), 320. * a.at(0, b, n, 2), 240. * a.at(0, b, n, 3)};
    place.scores = {a.at(1, b, n, 1)};
  } else if (name == "face-net") {
    const std::size_t row = n / 24, column = n % 24;
    const double s0 = std::exp(a.at(1, b, 0, row, column)) * 4., s1 = std::exp(a.at(1, b, 1, row, column)) * 4.;
    const double o0 = a.at(2, b, 0, row, column), o1 = a.at(2, b, 1, row, column);
    const double x1 = (static_cast<double>(column) + o1 + .5) * 4 - s1 / 2;
    const double y1 = (static_cast<double>(row) + o0 + .5) * 4 - s0 / 2;
    place.box = {x1, y1, x1 + s1, y1 + s0};
    place.scores = {a.at(0, b, 0, row, column)};
  } else if (name == "yolo-v8") {
    place.box = around(a.at(0, b, 0, n), a.at(0, b, 1, n), a.at(0, b, 2, n), a.at(0, b, 3, n));
    for (std::size_t c = 0; c < 40; c++)
      place.scores.push_back(a.at(0, b, 4 + c, n));
  } else if (name == "yolo-v5") {
    place.box = around(a.at(0, b, n, 0), a.at(0, b, n, 1), a.at(0, b, n, 2), a.at(0, b, n, 3));
    for (std::size_t c = 0; c < 7; c++)
      place.scores.push_back(static_cast<double>(a.at(0, b, n, 4)) * a.at(0, b, n, 5 + c));
  } else if (name == "yolo-v26") {
    place.box = {a.at(0, b, n, 0), a.at(0, b, n, 1), a.at(0, b, n, 2), a.at(0, b, n, 3)};
    place.scores.assign(80, -1);
    place.scores.at(static_cast<std::size_t>(a.at(0, b, n, 5))) = a.at(0, b, n, 4);
  } else if (name == "blazeface") {
    static const std::vector<Box> anchors = anchors_of_blazeface();
    place.box = around(anchors.at(n)[0] + a.at(0, b, n, 0), anchors.at(n)[1] + a.at(0, b, n, 1), a.at(0, b, n, 2),
                       a.at(0, b, n, 3));
    place.scores = {sigmoid(a.at(1, b, n, 0))};
  }
  return place;
}

}  // namespace

std::vector<Expected> decode_by_the_book(const Network& network, const Answer& answer,
                                         const std::vector<tensors::InputPlacement>& placements, double threshold) {
  static const std::map<std::string, std::size_t> places = {
      {"person-net", 1917}, {"ssd-boxes", 333}, {"face-net", 16 * 24}, {"yolo-v8", 315},
      {"yolo-v5", 945},     {"yolo-v26", 300},  {"blazeface", 896},    {"ultra-light-face", 442}};
  std::vector<Expected> found;
  for (std::size_t b = 0; b < placements.size(); b++)
    for (std::size_t n = 0; n < places.at(network.name); n++) {
      const Place place = place_of(network, answer, b, n);
      unsigned best = 0;
      for (unsigned c = 1; c < place.scores.size(); c++)
        if (place.scores[c] > place.scores[best])
          best = c;
      if (place.scores[best] < threshold)
        continue;
      const auto [x, y, sx, sy] = placements[b];
      const Box& box = place.box;
      found.push_back({x + sx * box[0], y + sy * box[1], x + sx * box[2], y + sy * box[3], place.scores[best], best});
    }
  return found;
}

}  // namespace crowd::test
