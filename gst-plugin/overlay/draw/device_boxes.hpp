// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** device_boxes.hpp: what painter.hpp paints, in device memory. C++17, for the kernel as well. */
#pragma once

#include <cstdint>

#include "base/confidence.hpp"
#include "overlay/draw/geometry.hpp"

namespace crowd::draw {

/** Boxes in device memory, in the order of their rank. Each means what a Detection of composer.hpp does. */
struct DeviceBoxes {
  const float* boxes = nullptr;            ///< x1 y1 x2 y2 of each, aligned to 16 bytes
  const float* scores = nullptr;           ///< of each; NaN: none to show. Null: of none
  const std::int32_t* classes = nullptr;   ///< of each. Null: -1 of all
  const std::uint32_t* members = nullptr;  ///< of each; 0: unknown. Null: 0 of all
  /** Which of the painter's labels each has; negative or beyond them: none. Null: that of the number of its class. */
  const std::int32_t* labels = nullptr;
  const std::uint32_t* count = nullptr;  ///< may exceed the capacity, which is then the number. Null: no boxes
  std::uint32_t capacity = 0;
  Placement placement;      ///< from coordinates to pixels of the frame
  Calibration calibration;  ///< of scores; what is shown is their confidence
};

/** Numbers of the summary line, in device memory. */
struct DeviceSummary {
  const std::uint32_t* candidates = nullptr;  ///< null: 0
  const std::uint32_t* survivors = nullptr;   ///< null: left out
};

}  // namespace crowd::draw
