// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Numbers of a network's input from float32, on the host and on a device with the same bits. C++17.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "tensors/half.hpp"

namespace crowd::net {

/// IEEE 754 binary16.
struct Half {
  std::uint16_t bits;
};

CROWD_HD inline void store(float value, float& to) {
  to = value;
}

CROWD_HD inline void store(float value, Half& to) {
  to = {tensors::half_of_float(value)};
}

/// The nearest whole number of 0 to 255, halves upwards.
CROWD_HD inline void store(float value, std::uint8_t& to) {
  to = static_cast<std::uint8_t>(value <= 0.F ? 0.F : value >= 255.F ? 255.F : value + 0.5F);
}

}  // namespace crowd::net
