// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Rules, settings of classes, limits of size and weights of models for cases, with the arrays that they read.
#pragma once

#include "cases.hpp"

namespace crowd::test {

/// Draws all of them.
void draw_rule(Case& it, Dice& dice);

/// The cases of for_each_case(), of for_each_batch() and of for_each_case_of_tiny_frames(), of a method that reads
/// rules, with rules.
void for_each_ruled_case(std::span<const std::uint32_t> sizes, CrowdNmsMethod method, std::uint32_t per_size,
                         const std::function<void(const Case&)>& body);
void for_each_ruled_batch(CrowdNmsMethod method, const std::function<void(const Case&)>& body);
void for_each_ruled_case_of_tiny_frames(CrowdNmsMethod method, const std::function<void(const Case&)>& body);

/// All arrays for candidates of these boxes: a few entries are broken, others make no difference.
Extras draw_extras(const Boxes& boxes, Dice& dice);

}  // namespace crowd::test
