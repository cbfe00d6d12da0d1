// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

namespace crowd::cpu {

/// Sorts `items` by bits 32 to 31 + `bits` (1 to 32, those above are 0), ascending. On entry they ascend in their low
/// 32 bits, and those that agree above still do afterwards. `spare` is as long. Returns where the sorted items are:
/// `items` or `spare`.
std::uint64_t* sort(std::uint64_t* items, std::uint64_t* spare, std::uint32_t count, std::uint32_t bits);

}  // namespace crowd::cpu
