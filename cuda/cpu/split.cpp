// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cpu/split.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/order.hpp"

namespace crowd::cpu {

namespace {

constexpr std::uint32_t of_none = 0xffff;

// The power of four below a width or height; equal for those within a factor of four that it begins.
std::uint32_t power_of_four(float extent) {
  std::uint32_t bits;
  std::memcpy(&bits, &extent, sizeof bits);
  return bits >> 24;
}

using Edge = float CrowdNmsBox::*;

class Splitter {
 public:
  Splitter(const Frame& frame, const Scratch& scratch, const OverlapRule& rule)
      : frame_(frame), scratch_(scratch), rule_(rule) {}

  // `size`, a power of two and at least end - begin, divides begin.
  void split(std::uint32_t begin, std::uint32_t end, std::uint32_t size) {
    const std::uint32_t half = size / 2;
    if (half < width)
      return;
    if (end - begin > half) {
      if (is_one_kind(begin, end))
        halve(begin, begin + half, end);
      split(begin + half, end, half);
      end = begin + half;
    }
    split(begin, end, half);
  }

 private:
  const CrowdNmsBox& box(std::uint32_t slot) const {
    return frame_.boxes[scratch_.index[slot]];
  }

  std::int32_t label(std::uint32_t slot) const {
    return frame_.classes ? frame_.classes[scratch_.index[slot]] : 0;
  }

  // In the order of kinds, those between two equal ones are equal, too.
  bool is_one_kind(std::uint32_t begin, std::uint32_t end) const {
    const std::uint32_t kind = size_class(box(begin), rule_);
    return kind != of_none && kind == size_class(box(end - 1), rule_) && label(begin) == label(end - 1);
  }

  double range(Edge edge, std::uint32_t begin, std::uint32_t end) const {
    float min = box(begin).*edge, max = min;
    for (std::uint32_t slot = begin + 1; slot < end; ++slot) {
      min = smaller(min, box(slot).*edge);
      max = larger(max, box(slot).*edge);
    }
    return static_cast<double>(max) - min;
  }

  Edge most_different(std::uint32_t begin, std::uint32_t end) const {
    const CrowdNmsBox& any = box(begin);  // of a kind: the others are at most four times as wide or high
    const double w = static_cast<double>(any.x2) - any.x1 + rule_.offset;
    const double h = static_cast<double>(any.y2) - any.y1 + rule_.offset;
    const std::pair<Edge, double> edges[] = {
        {&CrowdNmsBox::x1, w}, {&CrowdNmsBox::x2, w}, {&CrowdNmsBox::y1, h}, {&CrowdNmsBox::y2, h}};
    Edge most = edges[0].first;
    double largest = -1;
    for (const auto& [edge, extent] : edges) {
      const double part = range(edge, begin, end) / extent;
      if (part > largest) {
        largest = part;
        most = edge;
      }
    }
    return most;
  }

  void halve(std::uint32_t begin, std::uint32_t middle, std::uint32_t end) {
    const Edge edge = most_different(begin, end);
    for (std::uint32_t slot = begin; slot < end; ++slot)
      scratch_.keys[slot] = std::uint64_t{number_key(box(slot).*edge)} << 32 | scratch_.index[slot];
    std::nth_element(scratch_.keys + begin, scratch_.keys + middle, scratch_.keys + end);
    for (std::uint32_t slot = begin; slot < end; ++slot)
      scratch_.index[slot] = static_cast<std::uint32_t>(scratch_.keys[slot]);
  }

  const Frame& frame_;
  const Scratch& scratch_;
  const OverlapRule& rule_;
};

}  // namespace

std::uint32_t size_class(const CrowdNmsBox& box, const OverlapRule& rule) {
  if (overlaps_none(rule, area(box, rule.offset)))
    return of_none;
  return power_of_four(box.x2 - box.x1 + rule.offset) << 8 | power_of_four(box.y2 - box.y1 + rule.offset);
}

void split_by_edges(const Frame& frame, const Scratch& scratch, std::uint32_t count, const OverlapRule& rule) {
  Splitter(frame, scratch, rule).split(0, count, std::bit_ceil(count));
}

}  // namespace crowd::cpu
