// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the library's tables list. Tests go through these, and so meet whatever is added to them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crowd/nms.h"

namespace crowd::test {

std::uint32_t metric_count();

/// All metrics, by number.
std::vector<CrowdNmsMetric> all_metrics();

/// All rules, by number.
std::vector<CrowdNmsRule> all_rules();

/// All ways of merging, by number.
std::vector<CrowdNmsMerge> all_merges();

/// All methods, by number.
std::vector<CrowdNmsMethod> all_methods();

/// The methods that a backend has.
std::vector<CrowdNmsMethod> methods_of(CrowdNmsBackend backend);

/// The same without those that read paper_d_max: their matrix makes frames of thousands slow.
std::vector<CrowdNmsMethod> quick_methods_of(CrowdNmsBackend backend);

/// Whether the method reads these members of CrowdNmsParams.
bool reads(CrowdNmsMethod method, CrowdNmsReads what);

/// As part of a test's name: "map_reduce".
std::string test_name(CrowdNmsMethod method);

}  // namespace crowd::test
