// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The numbers of the CPU backend that change its speed and nothing else.
#pragma once

#include <cstdint>

namespace crowd::cpu::tuning {

/// Frames up to this many valid candidates are scanned in rank order; larger ones get a tree.
constexpr std::uint32_t flat_most = 128;

/// From this many keys on a radix sort by bytes is quicker than std::sort, and from this many on one by eleven bits.
constexpr std::uint32_t bytes_least = 200;
constexpr std::uint32_t elevens_least = 800;

/// Centres that are looked at to learn where a frame's candidates are.
constexpr std::uint32_t centre_samples = 64;

}  // namespace crowd::cpu::tuning
