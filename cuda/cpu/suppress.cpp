// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The inner loops, compiled once per instruction set into the namespace CROWD_ISA. Calls nothing that another
// translation unit might also define: the linker would keep either copy.

#include "cpu/lanes.hpp"
#include "cpu/space.hpp"

namespace crowd::cpu::CROWD_ISA {

namespace {

/// A suppressing box in every lane.
struct Probe {
  Lanes x1, y1, x2, y2, area;
  std::int32_t label;
};

CROWD_INLINE Probe probe(const Leaf& leaf, std::uint32_t lane) {
  return {all(leaf.x1[lane]), all(leaf.y1[lane]),   all(leaf.x2[lane]),
          all(leaf.y2[lane]), all(leaf.area[lane]), leaf.label[lane]};
}

template <typename Boxes>
CROWD_INLINE Lanes common_width(const Probe& hi, const Boxes& lo, Lanes offset) {
  return smaller(hi.x2, lanes(lo.x2)) - larger(hi.x1, lanes(lo.x1)) + offset;
}

template <typename Boxes>
CROWD_INLINE Lanes common_height(const Probe& hi, const Boxes& lo, Lanes offset) {
  return smaller(hi.y2, lanes(lo.y2)) - larger(hi.y1, lanes(lo.y1)) + offset;
}

/// overlaps() of overlap.hpp, operation by operation: the slots of `lo` that `hi` overlaps.
CROWD_INLINE unsigned overlapped(const Probe& hi, const Leaf& lo, const OverlapRule& rule) {
  const Lanes offset = all(rule.offset);
  const Lanes zero = all(0.0f);
  const Lanes inter = larger(zero, common_width(hi, lo, offset)) * larger(zero, common_height(hi, lo, offset));
  const Lanes ratio = inter / denominator(rule.metric, hi.area, lanes(lo.area), inter);
  const Lanes threshold = all(rule.threshold);
  const unsigned near = rule.or_equal ? at_least(ratio, threshold) : above(ratio, threshold);
  return near & equal(lo.label, hi.label);
}

/// The children that may hold a box with an area in common with `hi`. Rounding is monotone: where the bounds have no
/// extent in common with `hi`, no box inside has.
CROWD_INLINE unsigned reached(const Probe& hi, const Node& node, Lanes offset) {
  return above(smaller(common_width(hi, node, offset), common_height(hi, node, offset)), all(0.0f));
}

CROWD_INLINE bool is_remaining(const Space& space, std::uint32_t slot) {
  return space.remaining[slot / width] >> slot % width & 1;
}

CROWD_INLINE void remove(const Space& space, std::uint32_t leaf, unsigned slots) {
  space.remaining[leaf] &= static_cast<Bits>(~slots);
  std::uint32_t child = leaf;
  bool empty = !space.remaining[leaf];
  for (std::uint32_t l = 0; empty && l < space.levels; ++l) {
    Bits& remaining = space.level[l].remaining[child / width];
    remaining &= static_cast<Bits>(~(1u << child % width));
    empty = !remaining;
    child /= width;
  }
}

/// Removes the candidates of the leaf that `hi` suppresses; their representative is `by`.
CROWD_INLINE void sweep_leaf(const Task& task, const Probe& hi, std::uint32_t by, std::uint32_t leaf) {
  const unsigned hit = overlapped(hi, task.space.leaves[leaf], task.rule) & task.space.remaining[leaf];
  if (!hit)
    return;
  remove(task.space, leaf, hit);
  if (!task.representatives)
    return;
  for (unsigned rest = hit; rest; rest &= rest - 1)
    task.representatives[task.index[leaf * width + static_cast<unsigned>(__builtin_ctz(rest))]] = by;
}

/// For slots in rank order: those before `slot` cannot be suppressed by it.
void sweep_flat(const Task& task, const Probe& hi, std::uint32_t by, std::uint32_t slot) {
  for (std::uint32_t leaf = slot / width; leaf < task.space.leaf_count; ++leaf) {
    if (task.space.remaining[leaf])
      sweep_leaf(task, hi, by, leaf);
  }
}

void sweep_tree(const Task& task, const Probe& hi, std::uint32_t by) {
  struct Visit {
    std::uint32_t level;
    std::uint32_t node;
  };
  // Depth first, a level leaves at most seven siblings pending.
  Visit pending[max_levels * width];
  std::uint32_t count = 0;
  const Lanes offset = all(task.rule.offset);
  pending[count++] = {task.space.levels - 1, 0};
  while (count) {
    const Visit visit = pending[--count];
    const Level& level = task.space.level[visit.level];
    unsigned rest = level.remaining[visit.node];
    if (!rest)
      continue;
    rest &= reached(hi, level.nodes[visit.node], offset);
    for (; rest; rest &= rest - 1) {
      const std::uint32_t child = visit.node * width + static_cast<std::uint32_t>(__builtin_ctz(rest));
      if (visit.level)
        pending[count++] = {visit.level - 1, child};
      else
        sweep_leaf(task, hi, by, child);
    }
  }
}

std::uint32_t slot_of(const Task& task, std::uint32_t rank) {
  return task.by_rank ? task.by_rank[rank] : rank;
}

/// Removes the remaining candidates that the one in `slot` suppresses.
void sweep(const Task& task, std::uint32_t slot) {
  const std::uint32_t by = task.index[slot];
  const Probe hi = probe(task.space.leaves[slot / width], slot % width);
  if (task.space.levels)
    sweep_tree(task, hi, by);
  else
    sweep_flat(task, hi, by, slot);
}

void survive(const Task& task, std::uint32_t slot) {
  remove(task.space, slot / width, 1u << slot % width);
  if (task.representatives)
    task.representatives[task.index[slot]] = task.index[slot];
}

}  // namespace

std::uint32_t suppress(const Task& task) {
  std::uint32_t survivors = 0;
  for (std::uint32_t r = 0; r < task.count; ++r) {
    const std::uint32_t slot = slot_of(task, r);
    if (is_remaining(task.space, slot)) {
      task.survivors[survivors++] = slot;
      survive(task, slot);
    } else if (!task.all_suppress) {
      continue;
    }
    sweep(task, slot);
  }
  return survivors;
}

void find_representatives(const Task& task, std::uint32_t survivors) {
  std::uint32_t next = 0;
  for (std::uint32_t r = 0; r < task.count && next < survivors; ++r) {
    const std::uint32_t slot = slot_of(task, r);
    if (slot == task.survivors[next]) {
      ++next;
      survive(task, slot);
      sweep(task, slot);
    } else if (is_remaining(task.space, slot)) {
      remove(task.space, slot / width, 1u << slot % width);
    }
  }
}

}  // namespace crowd::cpu::CROWD_ISA
