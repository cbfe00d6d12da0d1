// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Regions of interest that stand for the same objects as candidates of another kind, as DL Streamer attaches both: a
// region with a detection that has the candidate's id, and its rectangle within two pixels.
#pragma once

#include <span>

#include "meta/adapter.hpp"

namespace crowd::meta {

/// Candidates of another kind, all of them.
struct PairedCandidates {
  std::span<const guint> ids;  ///< ascending
  std::span<const CrowdNmsBox> boxes;
};

/// Drops (mode replace) the regions of candidates that are suppressed or rejected and marks the others, which get the
/// ids `after`; children of dropped ones go to the representative of their parent. Fills in `paired`.
void follow_in_regions(GstBuffer* buffer, const PairedCandidates& all, const Candidates& candidates,
                       const Verdict& verdict, Mode mode, ObjectIds& ids);

}  // namespace crowd::meta
