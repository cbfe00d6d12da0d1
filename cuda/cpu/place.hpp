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

/// By class, within a class by size_class(), and within these by edges: subtrees hold boxes of one class that have much
/// in common. Takes some ten times as long.
void order_by_kind(const Frame& frame, const Scratch& scratch, std::uint32_t count, const OverlapRule& rule);

}  // namespace crowd::cpu
