// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the CPU backend's parts look at, without a call.
#pragma once

#include "boxes.hpp"
#include "cpu/frame.hpp"

namespace crowd::test {

/// Of boxes that outlive it, without the arrays of rules.
inline cpu::Frame frame_of(const Boxes& set) {
  return {.boxes = set.boxes,
          .scores = set.scores.data(),
          .given_scores = set.scores.data(),
          .classes = set.classes.data(),
          .whole = set.boxes.data(),
          .arrays = {}};
}

}  // namespace crowd::test
