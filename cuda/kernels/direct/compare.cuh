// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares the candidates that the lanes of a warp have with those that they have of others.
#pragma once

#include "kernels/direct/reduce_view.cuh"
#include "kernels/hull.cuh"

namespace crowd::CROWD_DIRECT {

/// Bits of the words before number `end`. For a whole warp.
__device__ inline std::uint32_t bits_before(const std::uint32_t* words, std::uint32_t end) {
  std::uint32_t sum = 0;
  for (std::uint32_t k = threadIdx.x % 32; k < end; k += 32)
    sum += static_cast<std::uint32_t>(__popc(words[k]));
  return warp_sum(sum);
}

/// A box as pairs are first compared: with a part of its area. Two boxes of which the intersection is smaller than
/// their parts in all do not overlap (PairRule::min_part).
struct Bounded {
  float4 box;
  float part;

  __device__ static Bounded of(const float4& b, const PairRule& rule) {
    return {b, __fmaf_rn(rule.min_part, area(as_box(b), rule.overlap.offset), -0.5e-37f)};
  }
  /// The lane's. For a whole warp.
  __device__ Bounded at(int lane) const {
    return {{__shfl_sync(all_lanes, box.x, lane), __shfl_sync(all_lanes, box.y, lane),
             __shfl_sync(all_lanes, box.z, lane), __shfl_sync(all_lanes, box.w, lane)},
            __shfl_sync(all_lanes, part, lane)};
  }
};

/// Of a rule, what first comparisons need: held in registers, since the compiler loads all else anew after each vote.
struct Glancing {
  float offset;
  bool disjoint_too;
  float max_sure;  ///< from that sum of parts on nothing is sure: the sum of areas may overflow

  __device__ static Glancing of(const PairRule& rule) {
    const bool can = !has_rules && rule.overlap.metric == CROWD_NMS_IOU && rule.min_part > 0;
    return {__uint_as_float(materialize(__float_as_uint(rule.overlap.offset))), rule.disjoint_too,
            can ? 3.4e38f * rule.min_part : -1.0f};
  }
};

/// Two boxes overlap if that is `sure`, and do not if they may not (cuda/PROOFS.md, 7).
struct Glance {
  bool may, sure;

  __device__ static Glance of(const Bounded& a, const Bounded& b, const Glancing& rule) {
    const float w = fminf(a.box.z, b.box.z) - fmaxf(a.box.x, b.box.x) + rule.offset;
    const float h = fminf(a.box.w, b.box.w) - fmaxf(a.box.y, b.box.y) + rule.offset;
    const float inter = w * h;
    const float bound = a.part + b.part;
    const bool meets = (w > 0) & (h > 0);
    const bool may = (meets & !(inter < bound)) | rule.disjoint_too;
    const bool sure = meets & (inter > __fmaf_rn(bound, 1 + 16 * guard, 1e-36f)) & (bound < rule.max_sure);
    return {may, sure};
  }
};

/// overlapping(), one of the others after another.
__device__ inline std::uint32_t overlapping_by_others(const View& view, const Candidate& mine, bool open,
                                                      const Candidate& other, unsigned others) {
  const auto rule = Glancing::of(view.a.rule);
  const bool by_class = view.a.rule.by_class;
  const auto own = Bounded::of(mine.box, view.a.rule), all = Bounded::of(other.box, view.a.rule);
  std::uint32_t found = 0;
  for (unsigned todo = others; todo; todo &= todo - 1) {
    const int lane = __ffs(static_cast<int>(todo)) - 1;
    const Bounded its = all.at(lane);
    const Glance glance = Glance::of(its, own, rule);
    bool hit = open & glance.may;
    if (!__any_sync(all_lanes, hit))
      continue;
    if (by_class)
      hit &= __shfl_sync(all_lanes, other.label, lane) == mine.label;
    const std::uint32_t index = __shfl_sync(all_lanes, other.index, lane);
    if (hit & !glance.sure)
      hit = overlaps(view.a, view.input, {its.box, 0, index, 0}, mine);
    found |= hit ? 1u << lane : 0;
  }
  return found;
}

/// overlapping(), one of the lanes' own after another.
__device__ inline std::uint32_t overlapping_by_rows(const View& view, const Candidate& mine, unsigned rows,
                                                    const Candidate& other, bool asked) {
  const auto rule = Glancing::of(view.a.rule);
  const bool by_class = view.a.rule.by_class;
  const auto own = Bounded::of(other.box, view.a.rule), all = Bounded::of(mine.box, view.a.rule);
  std::uint32_t found = 0;
  for (unsigned todo = rows; todo; todo &= todo - 1) {
    const int lane = __ffs(static_cast<int>(todo)) - 1;
    const Bounded its = all.at(lane);
    const Glance glance = Glance::of(own, its, rule);
    bool hit = asked & glance.may;
    if (!__any_sync(all_lanes, hit))
      continue;
    if (by_class)
      hit &= __shfl_sync(all_lanes, mine.label, lane) == other.label;
    const std::uint32_t index = __shfl_sync(all_lanes, mine.index, lane);
    if (hit & !glance.sure)
      hit = overlaps(view.a, view.input, other, {its.box, 0, index, 0});
    const std::uint32_t hits = __ballot_sync(all_lanes, hit);
    found = static_cast<int>(threadIdx.x % 32) == lane ? hits : found;
  }
  return found;
}

/// For lanes that are `open`: bits of lanes whose candidate `other`, if it is `asked` for, overlaps the lane's own. For
/// a whole warp.
__device__ inline std::uint32_t overlapping(const View& view, const Candidate& mine, bool open, const Candidate& other,
                                            bool asked) {
  const unsigned rows = __ballot_sync(all_lanes, open);
  const unsigned others = __ballot_sync(all_lanes, asked);
  return __popc(others) <= __popc(rows) ? overlapping_by_others(view, mine, open, other, others)
                                        : overlapping_by_rows(view, mine, rows, other, asked);
}

/// False if the lane's `box` overlaps none of the boxes that lanes have `near`. True if these are few. For a whole
/// warp.
__device__ inline bool may_overlap_any(const float4& box, const float4& others, bool near, const PairRule& rule) {
  constexpr int few = 4;
  return __popc(__ballot_sync(all_lanes, near)) <= few ||
         may_overlap(box, hull_of_lanes(others, near, rule.overlap.offset), rule);
}

/// Compares the lanes' rows that are `open` with survivors `from` to `end` - 1 in Memory::members, of which the first
/// `better` rank better than the lane's row. Returns whether that is still open. For a whole warp.
__device__ inline bool try_survivors(const View& view, const Candidate& mine, bool open, std::uint32_t from,
                                     std::uint32_t end, std::uint32_t better) {
  const PairRule& rule = view.a.rule;
  const Hull hull = hull_of_lanes(mine.box, open, rule.overlap.offset);
  for (std::uint32_t base = from; base < end; base += 32) {
    // Other warps may have compared the row with others.
    open = open && !view.decision(mine.index).all_suppressed();
    if (!__any_sync(all_lanes, open))
      break;
    const std::uint32_t place = base + threadIdx.x % 32;
    Candidate survivor{};
    if (place < end)
      survivor = fetch(view.a, view.input, load_relaxed(view.memory.members + place));
    const bool near = place < end && may_overlap(survivor.box, hull, rule);
    const bool may = may_overlap_any(mine.box, survivor.box, near, rule);
    open &= !(overlapping(view, mine, open && may, survivor, near) & low_bits(better - min(base, better)));
  }
  return open;
}

}  // namespace crowd::CROWD_DIRECT
