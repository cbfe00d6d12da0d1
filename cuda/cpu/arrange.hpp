// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// From a frame to a Task: the steps that greedy and map-reduce share.
#pragma once

#include "core/overlap.hpp"
#include "cpu/frame.hpp"

namespace crowd::cpu {

/// Counts the candidates that are not valid, ranks the others and lays them out in scratch.space, small frames and
/// rules that reach disjoint boxes in rank order, others in a tree. `representatives`, if any, become CROWD_NMS_NONE.
Task arrange(const CrowdNmsParams& params, const Frame& frame, const Scratch& scratch, std::uint32_t* representatives,
             Outcome& outcome);

/// Everybody is in the space again.
void refill(const Task& task);

/// Survivors are slots until here, and candidates from here on.
void name_survivors(const Task& task, std::uint32_t survivors);

/// Those for this processor.
Kernels kernels();

}  // namespace crowd::cpu
