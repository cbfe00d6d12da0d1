// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// In which order candidates lie in the leaves of a tree. Of the valid ones in Scratch::by_rank: slots to
// Scratch::index, and their inverse to Scratch::of.
#pragma once

#include <cstdint>

#include "core/overlap.hpp"
#include "cpu/frame.hpp"

namespace crowd::cpu {

/// Neighbours share leaves, if candidates are spread as in most frames. Quick.
void order_by_place(const Frame& frame, const Scratch& scratch, std::uint32_t count);

/// By class, within a class by width and height, and within these by place: subtrees hold boxes of one class and of
/// similar size. Takes some four times as long.
void order_by_kind(const Frame& frame, const Scratch& scratch, std::uint32_t count, const OverlapRule& rule);

/// Whether a box of this area overlaps none under a rule under which disjoint boxes do not: the area underflows, and so
/// does every intersection with it, or it overflows in a union.
bool overlaps_none(const OverlapRule& rule, float area);

}  // namespace crowd::cpu
