// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The numbers of the CPU backend that change its speed and nothing else, each with what chose it: microseconds on one
// core of a Xeon of the Sapphire Rapids family, AVX2, medians over 16 frames as bench_cpu draws them.
#pragma once

#include <cstdint>

namespace crowd::cpu::tuning {

/// Frames up to this many valid candidates are scanned in rank order; larger ones get a tree.
/// Greedy, flat against tree: crowd 128: 5.7, 14.6; 256: 13.8, 17.5; 384: 23.9, 24.2; 512: 34.2, 30.6.
/// Uniform 256: 15.8, 21.1; 384: 31.2, 33.4; 512: 51.6, 47.0.
constexpr std::uint32_t flat_max = 384;

/// Nodes and leaves to look at, for each candidate, before a tree by place is given up for one by kind.
/// Crowds and uniform frames take 2 to 25.
constexpr std::uint64_t max_steps = 64;

/// From this many keys on a radix sort by bytes is quicker than std::sort, and from this many on one by eleven bits.
/// 128 keys: std::sort 0.6, bytes 1.2; 256: 3.0, 2.1. 512: bytes 3.4, elevens 3.8; 1000: 8.0, 6.0; 4096: 23, 15.
constexpr std::uint32_t bytes_min = 160;
constexpr std::uint32_t elevens_min = 800;

/// Centres that are looked at to learn where a frame's candidates are, outliers aside: sorting them is 5 %
/// of arranging a frame of 1000.
constexpr std::uint32_t centre_samples = 64;

}  // namespace crowd::cpu::tuning
