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

/// How four values become a box in pixels of the input.
enum class Form : std::uint8_t {
  corners,       ///< x1 y1 x2 y2, times unit
  center,        ///< centre and size, times unit
  anchor_exp,    ///< centre: value * variance * size of the anchor + its centre; size: exp(value * variance) * its size
  anchor_plain,  ///< centre: value * unit + the anchor's centre; size: value * unit
  cell,          ///< of a grid of cells of `unit` pixels; centre: cell + value + .5; size: exp(value) cells
};

/// Centre and size, pixels of the input.
struct Anchor {
  float x, y, width, height;
};

/// Values of one kind in an output: channel k of place j of input i is element first + batch * i + place * j +
/// channel * k.
struct Values {
  std::uint8_t output = 0;  ///< index among the outputs of the plan
  Type type = Type::float32;
  std::uint32_t first = 0, place = 0, channel = 0;
  std::uint64_t batch = 0;
};

/// Outputs that a layout reads, at most.
inline constexpr unsigned max_outputs = 3;

/// The outputs of a batch, in the order of the plan.
struct OutputData {
  const void* data[max_outputs];
};

struct Plan {
  Form form = Form::corners;
  std::uint32_t places = 0;   ///< in the outputs of one input
  std::uint32_t classes = 0;  ///< told apart, without the background
  std::uint32_t columns = 1;  ///< of cells

  Values boxes;                        ///< has the channels x and y
  Values sizes;                        ///< has the channels width and height, which of corners are x2 and y2
  std::uint8_t x = 0, y = 1;           ///< channels
  std::uint8_t width = 2, height = 3;  ///< channels
  float variance_x = 1, variance_y = 1, variance_width = 1, variance_height = 1;
  float unit_x = 1, unit_y = 1;

  Values scores;                ///< a channel for each class
  bool class_is_value = false;  ///< else: channel 0 is the score, and channel 1 the class
  Values objectness;            ///< one channel, which multiplies the score
  bool has_objectness = false;
  bool sigmoid = false;  ///< is to be taken of scores and objectness
  float clip = 0;        ///< before the sigmoid, to -clip .. clip; 0: not
};

}  // namespace crowd::tensors
