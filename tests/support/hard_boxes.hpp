// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Candidates that make a search for overlaps slow: distributions as in boxes.hpp.
#pragma once

#include <span>

#include "boxes.hpp"

namespace crowd::test {

/// All of them, in a fixed order.
std::span<const Distribution> hard_distributions();

/// The best first, each overlaps exactly the `suppressors` before it by more than half of the union.
Boxes ladder(std::uint32_t n, std::uint32_t suppressors);

}  // namespace crowd::test
