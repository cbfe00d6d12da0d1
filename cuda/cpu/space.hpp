// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Candidates in memory so that eight are tested at a time: leaves of eight boxes, and above them a tree of fan-out
// eight with bounds. A candidate that is decided is removed; subtrees without remaining candidates are skipped.
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
constexpr std::uint32_t max_levels = 11;

struct alignas(32) Leaf {
  float x1[width], y1[width], x2[width], y2[width], area[width];
  std::int32_t label[width];
};

/// Of eight leaves, or of eight nodes of the level below.
struct alignas(32) Node {
  float x1[width], y1[width], x2[width], y2[width];
};

/// Ranges of widths, heights, areas and classes of the boxes in eight leaves, or in eight nodes of the level below.
/// Widths and heights include the offset.
struct alignas(32) Kinds {
  float width_min[width], width_max[width], height_min[width], height_max[width];
  float area_min[width], area_max[width];
  std::int32_t label_min[width], label_max[width];
};

struct Level {
  Node* nodes;
  Kinds* kinds;     ///< of the children of each node, or null
  Bits* remaining;  ///< a bit for each child with remaining candidates
  std::uint32_t count;
};

struct Space {
  Leaf* leaves;
  Bits* remaining;  ///< a bit for each slot of the leaf that is not decided
  std::uint32_t leaf_count;
  std::uint32_t levels;  ///< 0: no tree, slots are in rank order
  Level level[max_levels];
};

/// What the inner loops work on.
struct Task {
  Space space;
  const std::uint32_t* by_rank;  ///< slots, best candidate first; null where slots are in rank order
  const std::uint32_t* index;    ///< candidate of a slot
  std::uint32_t count;           ///< of candidates
  OverlapRule rule;
  /// Whether a pair of candidates that overlap by `rule` counts; null: each does.
  bool (*counts)(const void* context, std::uint32_t hi, std::uint32_t lo);
  const void* context;
  float min_iou;                   ///< that overlapping boxes have at least, but for rounding; 0 if none is known
  std::uint64_t max_steps;         ///< nodes and leaves to look at
  bool all_suppress;               ///< suppressed candidates suppress, too: map-reduce
  bool in_any_order;               ///< candidates are not taken in rank order
  std::uint32_t* survivors;        ///< [count], slots in rank order
  std::uint32_t* representatives;  ///< out, or null: by candidate
};

/// What became of a task.
struct Pass {
  bool whole;  ///< false: it took more than task.max_steps, and what it wrote is of no use
  std::uint32_t survivors;
  std::uint64_t steps;  ///< nodes and leaves that were looked at
};

/// The inner loops, compiled for one instruction set.
struct Kernels {
  /// Goes through the candidates in rank order. One that remains survives and is removed, and so are the candidates it
  /// suppresses. Fills task.survivors.
  Pass (*suppress)(const Task& task);
  /// Given the survivors, and all candidates restored, finds each candidate's representative.
  Pass (*find_representatives)(const Task& task, std::uint32_t survivors);
  /// The candidate in `slot` survives, and is removed, and so are the remaining ones that it suppresses.
  void (*take)(const Task& task, std::uint32_t slot);
};

namespace baseline {
Pass suppress(const Task& task);
Pass find_representatives(const Task& task, std::uint32_t survivors);
void take(const Task& task, std::uint32_t slot);
}  // namespace baseline

namespace avx2 {
Pass suppress(const Task& task);
Pass find_representatives(const Task& task, std::uint32_t survivors);
void take(const Task& task, std::uint32_t slot);
}  // namespace avx2

}  // namespace crowd::cpu
