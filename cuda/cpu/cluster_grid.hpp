// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Boxes that move, by the cell of a grid that their centres lie in. The grid repeats over the plane. Which cells there
// are affects speed alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/overlap.hpp"

namespace crowd::cpu {

class ClusterGrid {
 public:
  static constexpr std::uint32_t none = ~0u;

  /// `heads`: memory of `room` entries, at least one. `width`, `height`: of usual boxes.
  ClusterGrid(std::uint32_t* heads, std::uint32_t room, double width, double height, const OverlapRule& rule)
      : heads_(heads),
        per_x_(per_unit(width)),
        per_y_(per_unit(height)),
        offset_(rule.offset),
        min_iou_(crowd::min_iou(Ratios{}, rule.metric, rule.threshold)) {
    while (std::uint64_t{columns_} * rows_ * 2 <= room)
      (columns_ <= rows_ ? columns_ : rows_) *= 2;
    std::fill_n(heads_, columns_ * rows_, none);
  }

  /// `next` are the links of boxes, by number.
  template <typename Next>
  void put(std::uint32_t number, const CrowdNmsBox& box, Next next) {
    half_width_ = std::max(half_width_, 0.5 * (double{box.x2} - box.x1));
    half_height_ = std::max(half_height_, 0.5 * (double{box.y2} - box.y1));
    std::uint32_t& head = heads_[cell(box)];
    next(number) = head;
    head = number;
  }
  template <typename Next>
  void move(std::uint32_t number, const CrowdNmsBox& from, const CrowdNmsBox& to, Next next) {
    if (cell(from) != cell(to)) {
      std::uint32_t* link = &heads_[cell(from)];
      while (*link != number)
        link = &next(*link);
      *link = next(number);
      put(number, to, next);
      return;
    }
    half_width_ = std::max(half_width_, 0.5 * (double{to.x2} - to.x1));
    half_height_ = std::max(half_height_, 0.5 * (double{to.y2} - to.y1));
  }

  /// Calls look(number) for all boxes that can overlap `box`, and returns true. False: there are more cells to look at
  /// than `boxes`.
  template <typename Next, typename Look>
  bool near(const CrowdNmsBox& box, std::uint32_t boxes, Next next, Look look) const {
    const bool bounded = min_iou_ >= 0.01F && area(box, offset_) >= 1e-28F;
    const double part = bounded ? 1.0001 / min_iou_ : INFINITY;
    const Cells x = range(box.x1, box.x2, half_width_, part, per_x_, columns_);
    const Cells y = range(box.y1, box.y2, half_height_, part, per_y_, rows_);
    if (std::uint64_t{x.count} * y.count > boxes)
      return false;
    for (std::uint32_t r = 0; r < y.count; ++r)
      for (std::uint32_t c = 0; c < x.count; ++c)
        for (std::uint32_t n = heads_[at(x.first + c, y.first + r)]; n != none; n = next(n))
          look(n);
    return true;
  }

 private:
  /// Of cells along an axis, before these wrap around.
  struct Cells {
    std::int64_t first;
    std::uint32_t count;
  };

  static double per_unit(double extent) {
    return extent > 1e-30 && extent < 1e30 ? 1 / extent : 1;
  }
  // Monotone.
  static std::int64_t along(double at, double per) {
    constexpr double max_cell = 1e15;
    return static_cast<std::int64_t>(std::floor(std::clamp(at * per, -max_cell, max_cell)));
  }
  static double centre(float from, float to) {
    return 0.5 * from + 0.5 * to;
  }
  std::uint32_t at(std::int64_t column, std::int64_t row) const {
    return static_cast<std::uint32_t>((row & (rows_ - 1)) * columns_ + (column & (columns_ - 1)));
  }
  std::uint32_t cell(const CrowdNmsBox& box) const {
    return at(along(centre(box.x1, box.x2), per_x_), along(centre(box.y1, box.y2), per_y_));
  }
  // A box that meets it has its centre at most half of its own extent beyond the ends; and an extent of at most `part`
  // of this one's (PROOFS.md, section 9).
  Cells range(float from, float to, double half, double part, double per, std::uint32_t cells) const {
    const double extent = double{to} - from + offset_;
    const double far = std::min(half, 0.5 * part * extent) + offset_;
    const double slack = 1e-12 * (std::fabs(double{from}) + std::fabs(double{to}) + far);
    const std::int64_t first = along(from - far - slack, per);
    const std::int64_t last = along(to + far + slack, per);
    return {first, static_cast<std::uint32_t>(std::min<std::int64_t>(last - first + 1, cells))};
  }

  std::uint32_t* const heads_;
  const double per_x_, per_y_;
  const float offset_;
  const float min_iou_;
  std::uint32_t columns_ = 1, rows_ = 1;
  double half_width_ = 0, half_height_ = 0;  ///< of the largest box so far
};

}  // namespace crowd::cpu
