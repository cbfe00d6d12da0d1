// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cpu/arrange.hpp"
#include "core/carver.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "core/order.hpp"
#include "cpu/sort.hpp"
#include "cpu/tuning.hpp"

namespace crowd::cpu {

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

constexpr std::uint32_t up(std::uint32_t n) {
  return n / width + (n % width != 0);
}

// Indices of the valid candidates, stored in Scratch::by_rank for the time being.
std::uint32_t filter(const CrowdNmsParams& params, const Frame& frame, const Scratch& scratch, Outcome& outcome) {
  const float offset = overlap_rule(params).offset;
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < frame.size(); ++i) {
    const float score = frame.scores[i];
    const bool valid = is_well_formed(frame.boxes[i], offset) && score == score;
    const bool enough = score >= params.score_threshold;
    scratch.by_rank[count] = i;
    count += valid && enough;
    outcome.invalid += !valid;
    outcome.below_threshold += valid && !enough;
  }
  return count;
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

// A range that most centres lie in, cut into 2^bits parts.
class Axis {
 public:
  Axis(std::span<float> samples, std::uint32_t bits) : last_(static_cast<float>((1u << bits) - 1)) {
    std::sort(samples.begin(), samples.end());
    const float low = samples[samples.size() / 16];
    const float high = samples[samples.size() - 1 - samples.size() / 16];
    const float margin = 0.125f * (high - low);
    low_ = low - margin;
    const float range = high - low + 2 * margin;
    scale_ = range > 0 ? (last_ + 1) / range : 0;
  }

  // Coordinates outside the range go to an end; so does NaN, from infinity times 0.
  std::uint32_t part(float centre) const {
    const float part = (centre - low_) * scale_;
    return part > 0 ? static_cast<std::uint32_t>(part < last_ ? part : last_) : 0;
  }

 private:
  float low_;
  float scale_;
  float last_;
};

float centre_x(const CrowdNmsBox& box) {
  return 0.5f * box.x1 + 0.5f * box.x2;
}

float centre_y(const CrowdNmsBox& box) {
  return 0.5f * box.y1 + 0.5f * box.y2;
}

// abc... becomes a0b0c0...
std::uint32_t spread(std::uint32_t bits) {
  bits = (bits | bits << 8) & 0x00ff00ff;
  bits = (bits | bits << 4) & 0x0f0f0f0f;
  bits = (bits | bits << 2) & 0x33333333;
  return (bits | bits << 1) & 0x55555555;
}

// Orders candidates along a Z-curve, so that neighbours share leaves: slots in Scratch::index, and their inverse in
// Scratch::of.
void order_by_place(const Frame& frame, const Scratch& scratch, std::uint32_t count) {
  const std::uint32_t* const valid = scratch.by_rank;
  const std::uint32_t bits = std::clamp<std::uint32_t>(std::bit_width(count) / 2, 2, 11);
  std::array<float, tuning::centre_samples> xs;
  std::array<float, tuning::centre_samples> ys;
  const std::size_t samples = std::min<std::size_t>(xs.size(), count);
  for (std::size_t s = 0; s < samples; ++s) {
    const CrowdNmsBox& box = frame.boxes[valid[s * count / samples]];
    xs[s] = centre_x(box);
    ys[s] = centre_y(box);
  }
  const Axis across({xs.data(), samples}, bits);
  const Axis down({ys.data(), samples}, bits);
  for (std::uint32_t k = 0; k < count; ++k) {
    const CrowdNmsBox& box = frame.boxes[valid[k]];
    const std::uint32_t cell = spread(across.part(centre_x(box))) | spread(down.part(centre_y(box))) << 1;
    scratch.keys[k] = std::uint64_t{cell} << 32 | valid[k];
  }
  const std::uint64_t* const sorted = sort(scratch.keys, scratch.spare, count, 2 * bits);
  for (std::uint32_t slot = 0; slot < count; ++slot) {
    const auto i = static_cast<std::uint32_t>(sorted[slot]);
    scratch.index[slot] = i;
    scratch.of[i] = slot;
  }
}

// Bounds that intersect no box.
void clear(Node& node, std::uint32_t child) {
  node.x1[child] = node.y1[child] = inf;
  node.x2[child] = node.y2[child] = -inf;
}

void fill_leaves(const Frame& frame, const Scratch& scratch, std::uint32_t count, float offset) {
  for (std::uint32_t slot = 0; slot < count; ++slot) {
    const std::uint32_t i = scratch.index[slot];
    const CrowdNmsBox box = frame.boxes[i];
    Leaf& leaf = scratch.space.leaves[slot / width];
    const std::uint32_t lane = slot % width;
    leaf.x1[lane] = box.x1;
    leaf.y1[lane] = box.y1;
    leaf.x2[lane] = box.x2;
    leaf.y2[lane] = box.y2;
    leaf.area[lane] = area(box, offset);
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
void fill_level(const Level& level, const Boxes* below, std::uint32_t count, std::uint32_t last) {
  for (std::uint32_t c = 0; c < count; ++c)
    bound(level.nodes[c / width], c % width, below[c], c + 1 < count ? width : last);
  for (std::uint32_t c = count; c % width; ++c)
    clear(level.nodes[c / width], c % width);
}

void fill_tree(Space& space, std::uint32_t count) {
  std::uint32_t below = space.leaf_count;
  std::uint32_t last = (count - 1) % width + 1;
  for (space.levels = 0; below > 1 || !space.levels; ++space.levels) {
    Level& level = space.level[space.levels];
    level.count = up(below);
    if (space.levels)
      fill_level(level, space.level[space.levels - 1].nodes, below, last);
    else
      fill_level(level, space.leaves, below, last);
    last = (below - 1) % width + 1;
    below = level.count;
  }
}

void set_remaining(Bits* remaining, std::uint32_t children) {
  std::fill_n(remaining, children / width, static_cast<Bits>(-1));
  if (children % width)
    remaining[children / width] = static_cast<Bits>((1u << children % width) - 1);
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
  return s;
}

Task arrange(const CrowdNmsParams& params, const Frame& frame, const Scratch& scratch, std::uint32_t* representatives,
             Outcome& outcome) {
  if (representatives)
    std::fill_n(representatives, frame.size(), CROWD_NMS_REJECTED);
  const OverlapRule rule = overlap_rule(params);
  const std::uint32_t count = filter(params, frame, scratch, outcome);
  // Under this rule disjoint boxes overlap, and a tree of bounds excludes nothing.
  const bool reaches_all = rule.or_equal && rule.threshold <= 0;
  const bool tree = count > tuning::flat_max && !reaches_all;
  if (tree) {
    order_by_place(frame, scratch, count);
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
      .all_suppress = false,
      .survivors = scratch.survivors,
      .representatives = representatives,
  };
  task.space.leaf_count = up(count);
  task.space.levels = 0;
  fill_leaves(frame, scratch, count, rule.offset);
  if (tree)
    fill_tree(task.space, count);
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
    return {avx2::suppress, avx2::find_representatives};
#endif
  return {baseline::suppress, baseline::find_representatives};
}

}  // namespace crowd::cpu
