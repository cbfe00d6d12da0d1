// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What follows a method that reads merge, cluster_score and min_members (crowd/nms.h, "Merging").
#pragma once

#include <cstdint>

#include "cpu/frame.hpp"

namespace crowd::cpu {

/// Whether a call needs the representatives for merging.
bool needs_representatives(const CrowdNmsParams& params, const CrowdNmsSurvivors& out);

/// Takes survivors of fewer than params.min_members out of Scratch::survivors, of which there are `found`, and out of
/// the representatives. Returns how many remain.
std::uint32_t drop_small(const Job& job, std::uint32_t found);

/// Writes the own boxes and scores of the first `count` of Scratch::survivors to Job::out.
void write_own(const Job& job, std::uint32_t count);

/// Writes the boxes and scores of the first `count` of Scratch::survivors to Job::out. The job's representatives may be
/// null where they are not needed. What else the workspace holds but these is gone then.
void merge(const Job& job, std::uint32_t count);

}  // namespace crowd::cpu
