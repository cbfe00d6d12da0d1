// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Pairs of boxes that overlap by exactly as much as a threshold says, where the last bit of it decides.
#pragma once

#include <functional>

#include "cases.hpp"

namespace crowd::test {

/// Every metric and comparator, with thresholds that are the ratios of the boxes: the nine tenths, and ratios too small
/// for a normal float.
void for_each_exact_ratio(CrowdNmsMethod method, const std::function<void(const Case&)>& body);

/// The same with thresholds just below and just above, as doubles and as floats.
void for_each_near_ratio(CrowdNmsMethod method, const std::function<void(const Case&)>& body);

}  // namespace crowd::test
