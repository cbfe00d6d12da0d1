// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which candidates a survivor represents, and which it overlaps: what boxes are merged of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "core/order.hpp"
#include "cpu/arrange.hpp"
#include "cpu/frame.hpp"

namespace crowd::cpu {

using Indices = std::span<const std::uint32_t>;

/// Space for as many indices as there are candidates, once nothing is sorted any more.
inline std::uint32_t* spare_indices(const Scratch& scratch) {
  return reinterpret_cast<std::uint32_t*>(scratch.spare);
}

/// To Scratch::of, by candidate: how many it represents.
inline void count_members(const Frame& frame, const Scratch& scratch, const std::uint32_t* representatives) {
  std::fill_n(scratch.of, frame.size(), 0u);
  for (std::uint32_t i = 0; i < frame.size(); ++i) {
    if (representatives[i] < frame.size())
      ++scratch.of[representatives[i]];
  }
}

/// The members of all survivors, in the order of their indices. In Scratch::of and Scratch::spare.
class MemberLists {
 public:
  MemberLists(const Frame& frame, const Scratch& scratch, const std::uint32_t* representatives)
      : ends_(scratch.of), members_(spare_indices(scratch)) {
    count_members(frame, scratch, representatives);
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < frame.size(); ++i)
      sum += std::exchange(ends_[i], sum);
    for (std::uint32_t i = 0; i < frame.size(); ++i) {
      if (representatives[i] < frame.size())
        members_[ends_[representatives[i]]++] = i;
    }
  }

  Indices of(std::uint32_t survivor) const {
    const std::uint32_t first = survivor ? ends_[survivor - 1] : 0;
    return {members_ + first, members_ + ends_[survivor]};
  }

 private:
  std::uint32_t* ends_;
  std::uint32_t* members_;
};

/// Finds the valid candidates that overlap a survivor, on a tree where there is one. Makes the workspace anew, but for
/// the survivors and representatives; Scratch::keys, spare and of are free then.
class Neighbours {
 public:
  explicit Neighbours(const Job& job) : frame_(job.frame) {
    Outcome counted_before;
    task_ = arrange(job, nullptr, Order::place, counted_before);
  }

  /// Calls take(candidate, whether it ranks better) for each but the survivor, in any order.
  template <typename Take>
  void of(std::uint32_t survivor, Take take) const {
    if (task_.space.levels)
      return descend(survivor, task_.space.levels - 1, 0, take);
    for (std::uint32_t leaf = 0; leaf < task_.space.leaf_count; ++leaf)
      examine(survivor, leaf, take);
  }

 private:
  // Rounding is monotone: a box inside the bounds has no more in common with the survivor than they have.
  template <typename Take>
  void descend(std::uint32_t survivor, std::uint32_t level, std::uint32_t n, Take& take) const {
    const CrowdNmsBox& box = frame_.boxes[survivor];
    const Node& node = task_.space.level[level].nodes[n];
    const std::uint32_t below = level ? task_.space.level[level - 1].count : task_.space.leaf_count;
    for (std::uint32_t c = 0; c < width && n * width + c < below; ++c) {
      const float w = smaller(box.x2, node.x2[c]) - larger(box.x1, node.x1[c]) + task_.rule.offset;
      const float h = smaller(box.y2, node.y2[c]) - larger(box.y1, node.y1[c]) + task_.rule.offset;
      if (!(w > 0 && h > 0))
        continue;
      if (level)
        descend(survivor, level - 1, n * width + c, take);
      else
        examine(survivor, n * width + c, take);
    }
  }

  template <typename Take>
  void examine(std::uint32_t survivor, std::uint32_t leaf, Take& take) const {
    const std::uint32_t end = std::min((leaf + 1) * width, task_.count);
    for (std::uint32_t slot = leaf * width; slot < end; ++slot) {
      const std::uint32_t i = task_.index[slot];
      if (i == survivor || (frame_.classes && frame_.classes[i] != frame_.classes[survivor]))
        continue;
      const bool better = rank_key(frame_.scores[i], i) > rank_key(frame_.scores[survivor], survivor);
      if (better ? are_overlapping(i, survivor) : are_overlapping(survivor, i))
        take(i, better);
    }
  }

  bool are_overlapping(std::uint32_t hi, std::uint32_t lo) const {
    return overlaps(frame_.boxes[hi], frame_.boxes[lo], task_.rule) &&
           (!task_.counts || task_.counts(task_.context, hi, lo));
  }

  const Frame& frame_;
  Task task_;
};

}  // namespace crowd::cpu
