// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cpu/arrange.hpp"
#include "core/carver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/order.hpp"
#include "cpu/place.hpp"
#include "cpu/sort.hpp"
#include "cpu/tuning.hpp"

namespace crowd::cpu {

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

constexpr std::uint32_t up(std::uint32_t n) {
  return n / width + (n % width != 0);
}

// Indices of the valid candidates, stored in Scratch::by_rank for the time being.
std::uint32_t filter(const Admission& admission, const Frame& frame, const Scratch& scratch, Outcome& outcome) {
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < frame.size(); ++i) {
    const std::int32_t label = frame.arrays.classes ? frame.arrays.classes[i] : 0;
    const float score = std::isnan(frame.scores[i]) ? frame.scores[i] : frame.given_scores[i];
    const Validity validity = admission.of(frame.whole[i], frame.boxes[i], score, label);
    scratch.by_rank[count] = i;
    count += validity == Validity::valid;
    outcome.invalid += validity == Validity::invalid;
    outcome.below_threshold += validity == Validity::below_threshold;
  }
  return count;
}

bool pair_counts(const void* job, std::uint32_t hi, std::uint32_t lo) {
  const Job& of = *static_cast<const Job*>(job);
  return of.rule.pair_test.counts(hi, lo, of.frame.boxes[hi], of.frame.boxes[lo], of.frame.arrays);
}

// The valid candidates in rank order.
void rank(const Frame& frame, const Scratch& scratch, std::uint32_t count, std::uint32_t* ranked) {
  for (std::uint32_t k = 0; k < count; ++k) {
    const std::uint32_t i = scratch.by_rank[k];
    scratch.keys[k] = std::uint64_t{~score_key(frame.scores[i])} << 32 | i;
  }
  const std::uint64_t* const sorted = sort(scratch.keys, scratch.spare, count, 32);
  for (std::uint32_t r = 0; r < count; ++r)
    ranked[r] = static_cast<std::uint32_t>(sorted[r]);
}

float min_iou_of(const OverlapRule& rule) {
  constexpr float min = 1e-30f;  // smaller ones are not exact enough
  const float iou = min_iou(Ratios{}, rule.metric, rule.threshold);
  return iou >= min ? iou : 0;
}

// Bounds that intersect no box.
void clear(Node& node, std::uint32_t child) {
  node.x1[child] = node.y1[child] = inf;
  node.x2[child] = node.y2[child] = -inf;
}

// In a tree a box that overlaps none becomes one that reaches none and widens no bounds.
void fill_leaves(const Frame& frame, const Scratch& scratch, std::uint32_t count, const OverlapRule& rule, bool tree) {
  constexpr CrowdNmsBox nowhere = {inf, inf, -inf, -inf};
  for (std::uint32_t slot = 0; slot < count; ++slot) {
    const std::uint32_t i = scratch.index[slot];
    const float size = area(frame.boxes[i], rule.offset);
    const CrowdNmsBox box = tree && overlaps_none(rule, size) ? nowhere : frame.boxes[i];
    Leaf& leaf = scratch.space.leaves[slot / width];
    const std::uint32_t lane = slot % width;
    leaf.x1[lane] = box.x1;
    leaf.y1[lane] = box.y1;
    leaf.x2[lane] = box.x2;
    leaf.y2[lane] = box.y2;
    leaf.area[lane] = size;
    leaf.label[lane] = frame.classes ? frame.classes[i] : 0;
  }
  for (std::uint32_t slot = count; slot % width; ++slot) {
    Leaf& leaf = scratch.space.leaves[slot / width];
    const std::uint32_t lane = slot % width;
    leaf.x1[lane] = leaf.y1[lane] = leaf.x2[lane] = leaf.y2[lane] = leaf.area[lane] = 0;
    leaf.label[lane] = 0;
  }
}

float min_of(const float* of, std::uint32_t count) {
  float result = of[0];
  for (std::uint32_t i = 1; i < count; ++i)
    result = smaller(result, of[i]);
  return result;
}

float max_of(const float* of, std::uint32_t count) {
  float result = of[0];
  for (std::uint32_t i = 1; i < count; ++i)
    result = larger(result, of[i]);
  return result;
}

template <typename Boxes>
void bound(Node& node, std::uint32_t child, const Boxes& of, std::uint32_t count) {
  node.x1[child] = min_of(of.x1, count);
  node.y1[child] = min_of(of.y1, count);
  node.x2[child] = max_of(of.x2, count);
  node.y2[child] = max_of(of.y2, count);
}

// Bounds of `count` leaves or nodes, of which the last has `last` children.
template <typename Boxes>
void fill_bounds(const Level& level, const Boxes* below, std::uint32_t count, std::uint32_t last) {
  for (std::uint32_t c = 0; c < count; ++c)
    bound(level.nodes[c / width], c % width, below[c], c + 1 < count ? width : last);
  for (std::uint32_t c = count; c % width; ++c)
    clear(level.nodes[c / width], c % width);
}

// Widths, heights and areas of a leaf, as finite numbers; an area that is NaN counts as 0.
struct Extents {
  float widths[width], heights[width], areas[width];
};

Extents extents(const Leaf& leaf, std::uint32_t count, float offset) {
  constexpr float max_float = std::numeric_limits<float>::max();
  Extents result;
  for (std::uint32_t i = 0; i < count; ++i) {
    result.widths[i] = std::clamp(leaf.x2[i] - leaf.x1[i] + offset, -max_float, max_float);
    result.heights[i] = std::clamp(leaf.y2[i] - leaf.y1[i] + offset, -max_float, max_float);
    result.areas[i] = leaf.area[i] > 0 ? smaller(leaf.area[i], max_float) : 0;
  }
  return result;
}

void set_kind(Kinds& kinds, std::uint32_t child, const Leaf& leaf, std::uint32_t count, float offset) {
  const auto [widths, heights, areas] = extents(leaf, count, offset);
  kinds.width_min[child] = min_of(widths, count);
  kinds.width_max[child] = max_of(widths, count);
  kinds.height_min[child] = min_of(heights, count);
  kinds.height_max[child] = max_of(heights, count);
  kinds.area_min[child] = min_of(areas, count);
  kinds.area_max[child] = max_of(areas, count);
  kinds.label_min[child] = *std::min_element(leaf.label, leaf.label + count);
  kinds.label_max[child] = *std::max_element(leaf.label, leaf.label + count);
}

void set_kind(Kinds& kinds, std::uint32_t child, const Kinds& below, std::uint32_t count, float) {
  kinds.width_min[child] = min_of(below.width_min, count);
  kinds.width_max[child] = max_of(below.width_max, count);
  kinds.height_min[child] = min_of(below.height_min, count);
  kinds.height_max[child] = max_of(below.height_max, count);
  kinds.area_min[child] = min_of(below.area_min, count);
  kinds.area_max[child] = max_of(below.area_max, count);
  kinds.label_min[child] = *std::min_element(below.label_min, below.label_min + count);
  kinds.label_max[child] = *std::max_element(below.label_max, below.label_max + count);
}

template <typename Below>
void fill_kinds(const Level& level, const Below* below, std::uint32_t count, std::uint32_t last, float offset) {
  for (std::uint32_t c = 0; c < count; ++c)
    set_kind(level.kinds[c / width], c % width, below[c], c + 1 < count ? width : last, offset);
}

// Bounds of what is below a level, and what it is like where that is asked for.
template <typename Boxes, typename Alike>
void fill_level(const Level& level, const Boxes* boxes, const Alike* alike, std::uint32_t count, std::uint32_t last,
                float offset) {
  fill_bounds(level, boxes, count, last);
  if (level.kinds)
    fill_kinds(level, alike, count, last, offset);
}

void fill_tree(Space& space, std::uint32_t count, Order order, float offset) {
  std::uint32_t below = space.leaf_count;
  std::uint32_t last = (count - 1) % width + 1;
  for (space.levels = 0; below > 1 || !space.levels; ++space.levels) {
    Level& level = space.level[space.levels];
    level.count = up(below);
    if (order != Order::kind)
      level.kinds = nullptr;
    if (space.levels)
      fill_level(level, space.level[space.levels - 1].nodes, space.level[space.levels - 1].kinds, below, last, offset);
    else
      fill_level(level, space.leaves, space.leaves, below, last, offset);
    last = (below - 1) % width + 1;
    below = level.count;
  }
}

void set_remaining(Bits* remaining, std::uint32_t children) {
  std::fill_n(remaining, children / width, static_cast<Bits>(-1));
  if (children % width)
    remaining[children / width] = static_cast<Bits>((1u << children % width) - 1);
}

// In the memory of the keys: when a tree is filled, there is nothing left to sort. An eighth of the nodes of a level
// are in the next, and frames with a tree have enough keys for the first levels.
void carve_kinds(Scratch& scratch, std::uint32_t capacity) {
  static_assert(2 * sizeof(Kinds) <= sizeof(std::uint64_t) * width * width);
  static_assert(alignof(Kinds) <= workspace_alignment && tuning::flat_max >= 2 * width * width);
  auto* kinds = reinterpret_cast<Kinds*>(scratch.keys);
  std::uint32_t below = up(capacity);
  for (std::uint32_t l = 0; below > 1; ++l) {
    below = up(below);
    scratch.space.level[l].kinds = kinds;
    kinds += below;
  }
}

}  // namespace

Scratch carve(void* workspace, std::uint32_t capacity, std::size_t& bytes) {
  Carver carver(workspace, workspace_alignment);
  Scratch s{};
  s.keys = carver.take<std::uint64_t>(capacity);
  s.spare = carver.take<std::uint64_t>(capacity);
  s.survivors = carver.take<std::uint32_t>(capacity);
  s.representatives = carver.take<std::uint32_t>(capacity);
  s.index = carver.take<std::uint32_t>(capacity);
  // filter() writes one entry beyond the last candidate.
  s.by_rank = carver.take<std::uint32_t>(std::size_t{capacity} + 1);
  s.of = carver.take<std::uint32_t>(capacity);
  std::uint32_t below = up(capacity);
  s.space.leaves = carver.take<Leaf>(below);
  s.space.remaining = carver.take<Bits>(below);
  for (std::uint32_t l = 0; below > 1; ++l) {
    below = up(below);
    s.space.level[l].nodes = carver.take<Node>(below);
    s.space.level[l].remaining = carver.take<Bits>(below);
  }
  bytes = carver.bytes();
  if (workspace && capacity > tuning::flat_max)
    carve_kinds(s, capacity);
  return s;
}

Task arrange(const Job& job, std::uint32_t* representatives, Order order, Outcome& outcome) {
  const Frame& frame = job.frame;
  const Scratch& scratch = job.scratch;
  if (representatives)
    std::fill_n(representatives, frame.size(), CROWD_NMS_REJECTED);
  const OverlapRule& rule = job.rule.pair_test.overlap;
  const std::uint32_t count = filter(job.rule.admission, frame, scratch, outcome);
  // Under this rule disjoint boxes overlap, and a tree of bounds excludes nothing.
  const bool reaches_all = rule.or_equal && rule.threshold <= 0;
  const bool tree = count > tuning::flat_max && !reaches_all;
  if (tree) {
    if (order == Order::place)
      order_by_place(frame, scratch, count);
    else
      order_by_kind(frame, scratch, count, rule);
    rank(frame, scratch, count, scratch.by_rank);
    for (std::uint32_t r = 0; r < count; ++r)
      scratch.by_rank[r] = scratch.of[scratch.by_rank[r]];
  } else {
    rank(frame, scratch, count, scratch.index);
  }
  Task task{
      .space = scratch.space,
      .by_rank = tree ? scratch.by_rank : nullptr,
      .index = scratch.index,
      .count = count,
      .rule = rule,
      .counts = job.rule.tests_pairs ? pair_counts : nullptr,
      .context = &job,
      .min_iou = min_iou_of(rule),
      .max_steps =
          tree && order == Order::place ? tuning::max_steps * count : std::numeric_limits<std::uint64_t>::max(),
      .all_suppress = false,
      .in_any_order = false,
      .survivors = scratch.survivors,
      .representatives = representatives,
  };
  task.space.leaf_count = up(count);
  task.space.levels = 0;
  fill_leaves(frame, scratch, count, rule, tree);
  if (tree)
    fill_tree(task.space, count, order, rule.offset);
  restore_all(task);
  return task;
}

void restore_all(const Task& task) {
  const Space& space = task.space;
  set_remaining(space.remaining, task.count);
  std::uint32_t children = space.leaf_count;
  for (std::uint32_t l = 0; l < space.levels; ++l) {
    set_remaining(space.level[l].remaining, children);
    children = space.level[l].count;
  }
}

void slots_to_indices(const Task& task, std::uint32_t survivors) {
  std::transform(task.survivors, task.survivors + survivors, task.survivors,
                 [&](std::uint32_t slot) { return task.index[slot]; });
}

Kernels kernels() {
#if defined(CROWD_HAVE_AVX2)
  if (__builtin_cpu_supports("avx2"))
    return {avx2::suppress, avx2::find_representatives, avx2::take};
#endif
  return {baseline::suppress, baseline::find_representatives, baseline::take};
}

}  // namespace crowd::cpu
