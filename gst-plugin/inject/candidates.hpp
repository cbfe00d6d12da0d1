// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Candidates of a scene or a recording in the layout of a GstCrowdBoxesMeta.
#pragma once

#include <crowd/nms.h>
#include <gst/crowd/gstcrowdboxesarrays.h>

#include <algorithm>
#include <cstddef>

#include "inject/scene/recording.hpp"
#include "meta/candidatewriter.hpp"

namespace crowd::inject {

static_assert(scene::max_model + 1 == CROWD_NMS_MAX_MODEL_WEIGHTS);

/// What all candidates of a frame have beside boxes.
inline CandidateWriter::Arrays arrays_of(const scene::CandidatesView& candidates) {
  if (candidates.extras.empty())
    return {};
  const auto if_all = [&](guint array, auto has) { return std::ranges::all_of(candidates.extras, has) ? array : 0; };
  const auto length = static_cast<guint>(candidates.extras.front().feature_length);
  guint arrays = if_all(GST_CROWD_BOXES_DENSITIES, [](const scene::Extra& e) { return e.density.has_value(); });
  arrays |= if_all(GST_CROWD_BOXES_PROPOSALS, [](const scene::Extra& e) { return e.proposal.has_value(); });
  arrays |= if_all(GST_CROWD_BOXES_VISIBLE, [](const scene::Extra& e) { return e.visible.has_value(); });
  arrays |= if_all(GST_CROWD_BOXES_MODELS, [](const scene::Extra& e) { return e.model.has_value(); });
  arrays |= if_all(GST_CROWD_BOXES_FEATURES,
                   [length](const scene::Extra& e) { return length && e.feature_length == length; });
  return {.arrays = arrays, .feature_length = arrays & GST_CROWD_BOXES_FEATURES ? length : 0};
}

inline GstCrowdBox to_box(const scene::Box& box) {
  return {box.x1, box.y1, box.x2, box.y2};
}

/// Copies the first `n`, and of what else is known of them that which there is room for.
inline void fill(const GstCrowdBoxesMap& to, const scene::CandidatesView& candidates, std::size_t n) {
  const auto count = static_cast<std::ptrdiff_t>(n);
  std::transform(candidates.boxes.begin(), candidates.boxes.begin() + count, to.boxes, to_box);
  std::copy_n(candidates.scores.begin(), n, to.scores);
  std::copy_n(candidates.classes.begin(), n, to.classes);
  for (std::size_t i = 0; i < std::min(n, candidates.extras.size()); i++) {
    const scene::Extra& extra = candidates.extras[i];
    if (to.densities)
      to.densities[i] = *extra.density;
    if (to.proposals)
      to.proposals[i] = *extra.proposal;
    if (to.visible)
      to.visible[i] = to_box(*extra.visible);
    if (to.models)
      to.models[i] = *extra.model;
    if (to.features)
      std::ranges::copy(candidates.features.subspan(extra.first_feature, to.feature_length),
                        to.features + i * to.feature_length);
  }
}

}  // namespace crowd::inject
