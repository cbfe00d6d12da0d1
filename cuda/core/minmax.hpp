// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// min and max as crowd/nms.h defines them: of equal operands, and where one is NaN, the first.
#pragma once

#include "core/host_device.hpp"

namespace crowd {

CROWD_HD inline float smaller(float a, float b) {
  return b < a ? b : a;
}

CROWD_HD inline float larger(float a, float b) {
  return a < b ? b : a;
}

}  // namespace crowd
