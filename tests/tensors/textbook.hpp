// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Decoding as the networks' own programs do it, in double, layout by layout. Shares nothing with gst-plugin/tensors/.
#pragma once

#include <vector>

#include "network.hpp"

namespace crowd::test {

struct Expected {
  double x1, y1, x2, y2, score;
  unsigned class_id;
};

std::vector<Expected> decode_by_the_book(const Network& network, const Answer& answer,
                                         const std::vector<tensors::InputPlacement>& placements, double threshold);

}  // namespace crowd::test
