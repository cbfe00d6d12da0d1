// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Boxes that have much in common, side by side.
#pragma once

#include <cstdint>

#include "core/overlap.hpp"
#include "cpu/frame.hpp"

namespace crowd::cpu {

/// A number of 16 bits, equal for boxes whose widths, and whose heights, lie between the same powers of four. The
/// largest for those that overlap none.
std::uint32_t size_class(const CrowdNmsBox& box, const OverlapRule& rule);

/// Sorts Scratch::index, candidates in order of their classes and size classes, anew within each of these: as a k-d
/// tree over the boxes' edges, whose cells are the subtrees of the space. A cell is split at the median of the edge
/// that differs most there, as a part of the width or height.
void split_by_edges(const Frame& frame, const Scratch& scratch, std::uint32_t count, const OverlapRule& rule);

}  // namespace crowd::cpu
