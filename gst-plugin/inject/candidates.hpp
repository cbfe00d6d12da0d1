// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Candidates of a scene or a recording in the layout of a GstCrowdBoxesMeta.
#pragma once

#include <gst/crowd/gstcrowdboxesmeta.h>

#include <algorithm>
#include <cstddef>

#include "inject/scene/detections.hpp"

namespace crowd::inject {

/// Copies the first `n`.
inline void fill(const GstCrowdBoxesMap& to, const scene::CandidatesView& candidates, std::size_t n) {
  const auto count = static_cast<std::ptrdiff_t>(n);
  std::transform(candidates.boxes.begin(), candidates.boxes.begin() + count, to.boxes, [](const scene::Box& box) {
    return GstCrowdBox{box.x1, box.y1, box.x2, box.y2};
  });
  std::copy_n(candidates.scores.begin(), n, to.scores);
  std::copy_n(candidates.classes.begin(), n, to.classes);
}

}  // namespace crowd::inject
