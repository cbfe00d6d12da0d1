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

/// What a box that the probe overlaps has at least in common with it (PROOFS.md, section 9).
struct Reach {
  Lanes width, height;                ///< of the probe
  Lanes common_width, common_height;  ///< above 0
  Lanes ratio;                        ///< of the smaller of two widths or heights to the larger
  Lanes areas;                        ///< of the sum of two areas to what they have in common, at most
  unsigned bounds_areas;              ///< a bit for each lane: whether `areas` is known
};

CROWD_INLINE Reach reach(const Leaf& leaf, std::uint32_t lane, const Task& task) {
  constexpr float tiny = 0x1p-149f, exact_area = 1e-28f, exact_iou = 0.01f;
  const bool exact = leaf.area[lane] >= exact_area && task.min_iou >= exact_iou;
  const float ratio = (exact ? 0.9999f : 0.25f) * task.min_iou;
  const float w = leaf.x2[lane] - leaf.x1[lane] + task.rule.offset;
  const float h = leaf.y2[lane] - leaf.y1[lane] + task.rule.offset;
  const float common_w = ratio * w, common_h = ratio * h;
  return {.width = all(w),
          .height = all(h),
          .common_width = all(common_w > tiny ? common_w : tiny),
          .common_height = all(common_h > tiny ? common_h : tiny),
          .ratio = all(ratio),
          .areas = all(1.0001f * (1 + task.min_iou) / task.min_iou),
          .bounds_areas = exact ? ~0u : 0u};
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

/// The children that may hold a box that `hi` overlaps. Rounding is monotone: a box inside has no more in common with
/// `hi` than the bounds have.
CROWD_INLINE unsigned reached(const Probe& hi, const Reach& min, const Node& node, Lanes offset) {
  return at_least(common_width(hi, node, offset), min.common_width) &
         at_least(common_height(hi, node, offset), min.common_height);
}

/// The same of children whose kinds are known. Areas: what the bounds have in common is at least what a box inside has.
CROWD_INLINE unsigned alike(const Probe& hi, const Reach& min, const Node& node, const Kinds& kinds, Lanes offset) {
  const Lanes common = smaller(common_width(hi, node, offset), lanes(kinds.width_max)) *
                       smaller(common_height(hi, node, offset), lanes(kinds.height_max));
  const unsigned areas =
      at_least(min.areas * smaller(common, lanes(kinds.area_max)), hi.area + lanes(kinds.area_min)) | ~min.bounds_areas;
  return at_least(lanes(kinds.width_max), min.common_width) & at_least(lanes(kinds.height_max), min.common_height) &
         at_least(min.width, min.ratio * lanes(kinds.width_min)) &
         at_least(min.height, min.ratio * lanes(kinds.height_min)) & areas &
         enclosing(kinds.label_min, kinds.label_max, hi.label);
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

/// Those of a leaf's slots that count as overlapped by candidate `by`.
unsigned counted(const Task& task, std::uint32_t by, std::uint32_t leaf, unsigned slots) {
  for (unsigned rest = slots; rest; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    if (!task.counts(task.context, by, task.index[leaf * width + lane]))
      slots &= ~(1u << lane);
  }
  return slots;
}

/// Removes the candidates of the leaf that `hi` suppresses; their representative is `by`.
CROWD_INLINE void sweep_leaf(const Task& task, const Probe& hi, std::uint32_t by, std::uint32_t leaf) {
  unsigned hit = overlapped(hi, task.space.leaves[leaf], task.rule) & task.space.remaining[leaf];
  if (task.counts)
    hit = counted(task, by, leaf, hit);
  if (!hit)
    return;
  remove(task.space, leaf, hit);
  if (!task.representatives)
    return;
  for (unsigned rest = hit; rest; rest &= rest - 1)
    task.representatives[task.index[leaf * width + static_cast<unsigned>(__builtin_ctz(rest))]] = by;
}

/// For slots in rank order: those before `slot` cannot be suppressed by it if it is taken in that order.
std::uint64_t sweep_flat(const Task& task, const Probe& hi, std::uint32_t by, std::uint32_t slot) {
  for (std::uint32_t leaf = task.in_any_order ? 0 : slot / width; leaf < task.space.leaf_count; ++leaf) {
    if (task.space.remaining[leaf])
      sweep_leaf(task, hi, by, leaf);
  }
  return task.space.leaf_count - slot / width;
}

/// Returns how many nodes and leaves it looked at.
std::uint64_t sweep_tree(const Task& task, const Probe& hi, const Reach& min, std::uint32_t by) {
  std::uint64_t steps = 0;
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
    ++steps;
    rest &= reached(hi, min, level.nodes[visit.node], offset);
    if (level.kinds)
      rest &= alike(hi, min, level.nodes[visit.node], level.kinds[visit.node], offset);
    if (!visit.level)
      steps += static_cast<unsigned>(__builtin_popcount(rest));
    for (; rest; rest &= rest - 1) {
      const std::uint32_t child = visit.node * width + static_cast<std::uint32_t>(__builtin_ctz(rest));
      if (visit.level)
        pending[count++] = {visit.level - 1, child};
      else
        sweep_leaf(task, hi, by, child);
    }
  }
  return steps;
}

std::uint32_t slot_of(const Task& task, std::uint32_t rank) {
  return task.by_rank ? task.by_rank[rank] : rank;
}

/// Removes the remaining candidates that the one in `slot` suppresses. Returns how many nodes and leaves it looked at.
std::uint64_t sweep(const Task& task, std::uint32_t slot) {
  const std::uint32_t by = task.index[slot];
  const Leaf& leaf = task.space.leaves[slot / width];
  const Probe hi = probe(leaf, slot % width);
  if (task.space.levels)
    return sweep_tree(task, hi, reach(leaf, slot % width, task), by);
  return sweep_flat(task, hi, by, slot);
}

void survive(const Task& task, std::uint32_t slot) {
  remove(task.space, slot / width, 1u << slot % width);
  if (task.representatives)
    task.representatives[task.index[slot]] = task.index[slot];
}

}  // namespace

Pass suppress(const Task& task) {
  Pass pass = {true, 0, 0};
  for (std::uint32_t r = 0; r < task.count && pass.whole; ++r) {
    const std::uint32_t slot = slot_of(task, r);
    if (is_remaining(task.space, slot)) {
      task.survivors[pass.survivors++] = slot;
      survive(task, slot);
    } else if (!task.all_suppress) {
      continue;
    }
    pass.steps += sweep(task, slot);
    pass.whole = pass.steps <= task.max_steps;
  }
  return pass;
}

Pass find_representatives(const Task& task, std::uint32_t survivors) {
  Pass pass = {true, 0, 0};
  for (std::uint32_t r = 0; r < task.count && pass.survivors < survivors && pass.whole; ++r) {
    const std::uint32_t slot = slot_of(task, r);
    if (slot == task.survivors[pass.survivors]) {
      ++pass.survivors;
      survive(task, slot);
      pass.steps += sweep(task, slot);
      pass.whole = pass.steps <= task.max_steps;
    } else if (is_remaining(task.space, slot)) {
      remove(task.space, slot / width, 1u << slot % width);
    }
  }
  return pass;
}

void take(const Task& task, std::uint32_t slot) {
  survive(task, slot);
  sweep(task, slot);
}

}  // namespace crowd::cpu::CROWD_ISA
