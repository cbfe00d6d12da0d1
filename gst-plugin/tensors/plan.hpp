// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How to decode the outputs of one network for one size of input: numbers only, for host and device alike. C++17, for
// CUDA sources as well.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensors/placement.hpp"
#include "tensors/tensor.hpp"

namespace crowd::tensors {

/// How four values become a box. What `unit` multiplies is in pixels of the input then.
enum class Form : std::uint8_t {
  corners,       ///< x1 y1 x2 y2, times unit
  center,        ///< centre and size, times unit
  anchor_exp,    ///< centre: value * variance * size of the anchor + its centre; size: exp(value * variance) * its size
  anchor_plain,  ///< centre: value * unit + the anchor's centre; size: value * unit
  cell,          ///< of a grid of cells of `unit` pixels; centre: cell + value + .5; size: exp(value) in cells
};

/// Centre and size, pixels of the input.
struct Anchor {
  float x, y, width, height;
};

/// Values of one kind in an output: element batch * i + place * j + channel * k is channel k of place j of input i.
struct Values {
  std::uint8_t output = 0;  ///< which: index among Plan::outputs
  Type type = Type::float32;
  std::uint32_t place = 0, channel = 0;
  std::uint64_t batch = 0;
  std::uint32_t first = 0;  ///< element of channel 0 of place 0
};

/// Outputs that a layout reads, at most.
inline constexpr unsigned max_outputs = 3;

struct Plan {
  Form form = Form::corners;
  std::uint32_t places = 0;   ///< in the outputs of one input
  std::uint32_t classes = 0;  ///< told apart by scores; not the background
  std::uint32_t columns = 1;  ///< of cells
  /// Four channels in two groups: channels x and y of `boxes`, width and height (or x2 and y2) of `sizes`.
  Values boxes, sizes;
  std::uint8_t x = 0, y = 1, width = 2, height = 3;  ///< their channels
  float variance_xy = 1, variance_size = 1;          // TF and its kin use one for x and y, and one for both sizes
  float unit_x = 1, unit_y = 1;
  Values scores;      ///< a channel a class; or one score, and the class itself is a value
  Values objectness;  ///< multiplies the score
  bool has_objectness = false;
  bool class_is_value = false;  ///< channel 1 of `scores` is the class
  bool sigmoid = false;         ///< of scores and objectness
  float clip = 0;               ///< before the sigmoid, values are clipped to -clip .. clip; 0: not
};

}  // namespace crowd::tensors
