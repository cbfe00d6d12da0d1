// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Candidates in memory so that eight are met at a time: leaves of eight boxes, and above them a tree of fan-out eight
// with the bounds of what is below. A candidate that is decided leaves the space; whatever has nobody left is not
// visited again.
//
// Plain data, for the code of every instruction set: no functions here.
#pragma once

#include <cstdint>

#include "core/overlap.hpp"

namespace crowd::cpu {

constexpr std::uint32_t width = 8;

/// One for each of `width`.
using Bits = std::uint8_t;

/// Levels of bounds above the leaves: 8^11 slots are more than a frame can hold.
constexpr std::uint32_t most_levels = 11;

struct alignas(32) Leaf {
  float x1[width], y1[width], x2[width], y2[width], area[width];
  std::int32_t label[width];
};

/// Of eight leaves, or of eight nodes of the level below.
struct alignas(32) Node {
  float x1[width], y1[width], x2[width], y2[width];
};

struct Level {
  Node* nodes;
  Bits* alive;  ///< a bit for each child with anybody left
  std::uint32_t count;
};

struct Space {
  Leaf* leaves;
  Bits* alive;  ///< a bit for each slot of the leaf that is not decided
  std::uint32_t leaf_count;
  std::uint32_t levels;  ///< 0: no tree, slots are in rank order
  Level level[most_levels];
};

/// What the inner loops work on.
struct Task {
  Space space;
  const std::uint32_t* by_rank;  ///< slots, best candidate first; null where slots are in rank order
  const std::uint32_t* index;    ///< candidate of a slot
  std::uint32_t count;           ///< of candidates
  OverlapRule rule;
  bool dead_suppress;              ///< who has left suppresses as well: map-reduce
  std::uint32_t* survivors;        ///< [count], slots in rank order
  std::uint32_t* representatives;  ///< out, or null: by candidate
};

/// The inner loops, compiled for one instruction set.
struct Kernels {
  /// Every candidate in rank order that is still in the space survives and leaves it, and so does, dead, whom it
  /// overlaps. Fills task.survivors and returns how many.
  std::uint32_t (*suppress)(const Task& task);
  /// Given the survivors and a full space, finds the best-ranked survivor that overlaps a candidate.
  void (*elect)(const Task& task, std::uint32_t survivors);
};

namespace baseline {
std::uint32_t suppress(const Task& task);
void elect(const Task& task, std::uint32_t survivors);
}  // namespace baseline

namespace avx2 {
std::uint32_t suppress(const Task& task);
void elect(const Task& task, std::uint32_t survivors);
}  // namespace avx2

}  // namespace crowd::cpu
