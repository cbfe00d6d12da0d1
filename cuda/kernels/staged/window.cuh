// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How lanes look through the places of a candidate's window.
#pragma once

#include <type_traits>

#include "kernels/staged/large.cuh"

namespace crowd::CROWD_STAGED {

struct Segment {
  std::uint32_t first, count;
};

/// A window as segments of consecutive places: a row of cells each, or two where the row wraps around the grid.
/// Segments without a box that can overlap may be empty.
class Walk {
 public:
  /// For boxes of that class. `rule`: another one than the stage's, if an overlap by it implies one by the stage's.
  __device__ Walk(const Stage& stage, const float4& box, std::int32_t label, const PairRule& rule)
      : grid_(stage.scale().grid), starts_(stage.starts()) {
    const CellShift shift = CellShift::of(label);
    const FrameCounters& counters = stage.counters();
    const Window w = window(box, grid_, rule, {__uint_as_float(counters.width), __uint_as_float(counters.height)});
    const bool whole = w.x.count >= grid_.columns;
    from_ = whole ? 0 : grid_.column(w.x.first, shift.x);
    to_ = from_ + w.x.count;
    split_ = to_ > grid_.columns;
    first_row_ = static_cast<int>(grid_.row(w.y.first, shift.y));
    segments_ = w.y.count << split_;
    min_size_ = min_size_of_overlapping(stage, box, rule);
  }

  __device__ Walk(const Stage& stage, const Subject& mine) : Walk(stage, mine.box, mine.label, stage.a.rule) {}

  __device__ std::uint32_t segments() const {
    return segments_;
  }
  /// A segment costs a warp that looks through the window as much as so many places.
  static constexpr std::uint32_t row_cost = 32;
  /// Places in the window, and `row_cost` a segment; what is beyond `limit` may be left out. For one thread.
  __device__ std::uint32_t cost(std::uint32_t limit) const {
    std::uint32_t sum = segments_ * row_cost;
    for (std::uint32_t s = 0; s < segments_ && sum < limit; ++s)
      sum += at(s).count;
    return sum;
  }
  /// Makes the window empty.
  __device__ void close() {
    segments_ = 0;
  }
  /// Cells of all segments.
  __device__ std::uint32_t cells() const {
    return (segments_ >> split_) * (to_ - from_);
  }
  __device__ CellRange cells_at(std::uint32_t number) const {
    const bool second = split_ && (number & 1);
    const std::uint32_t base = grid_.row(first_row_, number >> split_) * grid_.columns;
    return {base + (second ? 0 : from_), base + (second ? to_ - grid_.columns : split_ ? grid_.columns : to_)};
  }
  __device__ Segment at(std::uint32_t number) const {
    CellRange cells = cells_at(number);
    if (unlikely(min_size_ > 0))
      cells = narrowed(cells, starts_ - grid_.columns * grid_.rows / size_cells, min_size_);
    const std::uint32_t first = starts_[cells.first];
    return {first, starts_[cells.end] - first};
  }

 private:
  Grid grid_;
  const std::uint32_t* starts_;
  std::uint32_t from_, to_, segments_;
  int first_row_;
  bool split_;
  float min_size_;  ///< of boxes that can overlap, if all are large; else 0
};

/// The window of a candidate; empty if it overlaps none, or if it is dropped.
__device__ inline Walk walk_of(const Stage& stage, const Subject& mine) {
  Walk walk(stage, mine);
  if (is_stripped(mine.key) || (!stage.a.rule.disjoint_too && overlaps_none(stage.a.rule.overlap, mine.area)))
    walk.close();
  return walk;
}

/// Segments of a candidate, end to end: place k of the group is at(k) in the arrays.
struct Group {
  std::uint32_t end[lanes];
  std::uint32_t shift[lanes];

  __device__ std::uint32_t size() const {
    return end[lanes - 1];
  }
  __device__ std::uint32_t at(std::uint32_t k) const {
    std::uint32_t by = shift[lanes - 1];
#pragma unroll
    for (unsigned lane = lanes - 1; lane-- > 0;)
      by = k < end[lane] ? shift[lane] : by;
    return k + by;
  }
};

/// Joins the segments that `lanes` lanes in a row hold. `slot`: the frame's first entry in the arrays. For a whole
/// warp.
__device__ inline Group join(const Segment& segment, std::uint32_t slot) {
  Group group;
  std::uint32_t end = 0;
#pragma unroll
  for (unsigned lane = 0; lane < lanes; ++lane) {
    group.shift[lane] = __shfl_sync(all_lanes, segment.first, static_cast<int>(lane), lanes) + slot - end;
    end += __shfl_sync(all_lanes, segment.count, static_cast<int>(lane), lanes);
    group.end[lane] = end;
  }
  return group;
}

/// A floor is the score (upper half of a key) below which a lane need not look at suppressors any more. Window walks
/// take it as a function, since it rises. This one leaves none out, and costs nothing.
struct NoFloor {
  __device__ NoFloor operator()() const {
    return {};
  }
  __device__ bool leaves_out(std::uint64_t) const {
    return false;
  }
};

struct ScoreFloor {
  std::uint32_t score;

  __device__ bool leaves_out(std::uint64_t key) const {
    return static_cast<std::uint32_t>(key >> 32) < score;
  }
};

/// Of places that a lane has examined, a bit each: those that may suppress the candidate.
struct Examined {
  std::uint32_t found = 0;     ///< not below the floor
  std::uint32_t left_out = 0;  ///< below it
};

/// Looks at `step` places of a group, `stride` apart, before `end`. All loads precede the first test.
template <unsigned step, typename Floor = NoFloor>
__device__ Examined examine(const Stage& stage, const Group& group, std::uint32_t first, std::uint32_t stride,
                            std::uint32_t end, const Subject& mine, const Floor& floor = {}) {
  std::uint64_t key[step];
  float4 box[step];
#pragma unroll
  for (unsigned s = 0; s < step; ++s) {
    const std::uint32_t at = group.at(min(first + s * stride, end - 1));
    key[s] = stage.a.arrays.key[at];
    box[s] = stage.a.arrays.box[at];
  }
  Examined examined;
#pragma unroll
  for (unsigned s = 0; s < step; ++s) {
    const bool within = first + s * stride < end;
    const bool may = stage.may_suppress(key[s], box[s], mine);
    const int hit = static_cast<int>(within) & static_cast<int>(may);
    const bool below = floor.leaves_out(key[s]);
    examined.found |= static_cast<std::uint32_t>(hit & static_cast<int>(!below)) << s;
    examined.left_out |= static_cast<std::uint32_t>(hit & static_cast<int>(below)) << s;
  }
  return examined;
}

/// Examines up to 32 places of a group from `k` on, which is moved behind them. `eager`: ends with what may suppress.
template <bool eager, unsigned shared_by, typename Floor>
__device__ Examined examine_many(const Stage& stage, const Group& group, std::uint32_t& k, std::uint32_t end,
                                 const Subject& mine, const Floor& floor) {
  constexpr unsigned step = tuning::staged_step;
  Examined all;
  for (unsigned bit = 0; bit < 32 && k < end && !(eager && all.found); bit += step, k += step * shared_by) {
    const Examined some = examine<step>(stage, group, k, shared_by, end, mine, floor);
    all.found |= some.found << bit;
    all.left_out |= some.left_out;
  }
  return all;
}

/// The same. Lanes of usual frames have no floor yet: a loop of their own, which compares with none.
template <bool eager, unsigned shared_by, typename Floor>
__device__ Examined examine_above(const Stage& stage, const Group& group, std::uint32_t& k, std::uint32_t end,
                                  const Subject& mine, const Floor& floor) {
  if constexpr (!std::is_same_v<Floor, NoFloor>)
    if (unlikely(any_running(floor.score != 0)))
      return examine_many<eager, shared_by>(stage, group, k, end, mine, floor);
  return examine_many<eager, shared_by>(stage, group, k, end, mine, NoFloor());
}

/// The lanes of each candidate look through its window and call visit(place, key) for its suppressors; true stops the
/// lane. `eager`: calls visit() as soon as there is a suppressor. Looks at `limit` places at most, and leaves out those
/// that are below floor(); returns whether there may be suppressors that it did not call visit() for. For a whole
/// warp.
template <bool eager, unsigned shared_by = lanes, typename Visit, typename Floor = NoFloor>
__device__ bool visit_suppressors(const Stage& stage, const Walk& walk, const Subject& mine, std::uint32_t limit,
                                  Visit visit, Floor floor = {}) {
  const unsigned lane = threadIdx.x % shared_by;
  std::uint32_t visited = 0;
  std::uint32_t number = 0;
  std::uint32_t left_out = 0;
  bool stopped = false;
  bool open = walk.segments() != 0;
  while (__any_sync(all_lanes, open && !stopped)) {
    const Segment segment =
        open && number + lane % lanes < walk.segments() ? walk.at(number + lane % lanes) : Segment{0, 0};
    const Group group = join(segment, static_cast<std::uint32_t>(stage.slot));
    const std::uint32_t end = min(group.size(), limit - visited);
    for (std::uint32_t k = lane; k < end && !stopped;) {
      // Hits are collected, a bit each, and tested afterwards, so that the lanes of a warp load together.
      const std::uint32_t first = k;
      const Examined examined = examine_above<eager, shared_by>(stage, group, k, end, mine, floor());
      left_out |= examined.left_out;
      for (std::uint32_t found = examined.found; found && !stopped; found &= found - 1) {
        const std::uint32_t at =
            group.at(first + (static_cast<std::uint32_t>(__ffs(static_cast<int>(found))) - 1) * shared_by);
        const std::uint64_t key = stage.a.arrays.key[at];
        if (stage.suppresses(key, stage.a.arrays.box[at], mine))
          stopped = visit(at - static_cast<std::uint32_t>(stage.slot), key);
      }
    }
    // Loops of other candidates of the warp may not be over; collectives need all lanes.
    if (!open)
      continue;
    visited += group.size();
    number += lanes;
    open = number < walk.segments() && visited < limit;
  }
  const bool cut = number < walk.segments() || visited > limit;
  if constexpr (std::is_same_v<Floor, NoFloor>)
    return cut;
  // All lanes take part, those of cut windows, too.
  return group_sum<shared_by>(left_out != 0) != 0 || cut;
}

/// A whole warp looks through one window and calls visit(place, key, glance(place)) for suppressors; true from any lane
/// stops all. glance(place) is a word that the caller wants of each place, loaded at the same time as the boxes.
/// Returns whether it was stopped.
template <typename Glance, typename Visit>
__device__ bool visit_suppressors_by_warp(const Stage& stage, const Walk& walk, const Subject& mine, Glance glance,
                                          Visit visit) {
  constexpr unsigned step = 4;
  const unsigned lane = threadIdx.x % warp_size;
  const auto slot = static_cast<std::uint32_t>(stage.slot);
  for (std::uint32_t number = 0; number < walk.segments(); number += lanes) {
    const std::uint32_t its = number + lane % lanes;
    const Group group = join(its < walk.segments() ? walk.at(its) : Segment{0, 0}, slot);
    for (std::uint32_t k = lane; k - lane < group.size(); k += step * warp_size) {
      std::uint32_t glances[step];
#pragma unroll
      for (unsigned s = 0; s < step; ++s)
        glances[s] = glance(group.at(min(k + s * warp_size, group.size() - 1)) - slot);
      const std::uint32_t found = examine<step>(stage, group, k, warp_size, group.size(), mine).found;
      bool stop = false;
#pragma unroll
      for (unsigned s = 0; s < step; ++s) {
        const std::uint32_t at = group.at(min(k + s * warp_size, group.size() - 1));
        if (found >> s & 1 && stage.suppresses(stage.a.arrays.key[at], stage.a.arrays.box[at], mine))
          stop |= visit(at - slot, stage.a.arrays.key[at], glances[s]);
      }
      if (__any_sync(all_lanes, stop))
        return true;
    }
  }
  return false;
}

}  // namespace crowd::CROWD_STAGED
