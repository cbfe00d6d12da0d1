// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Whether a column suppresses a row of a tile.
#pragma once

#include "kernels/direct/tile.cuh"

namespace crowd::CROWD_DIRECT {

/// A box as pairs are first compared: with a part of its area. Two boxes of which the intersection is smaller than
/// their parts in all do not overlap (PairRule::min_part).
struct Bounded {
  float4 box;
  float part;

  __device__ static Bounded of(const float4& b, const PairRule& rule) {
    return {b, __fmaf_rn(rule.min_part, area(as_box(b), rule.overlap.offset), -0.5e-37f)};
  }
};

/// Two boxes overlap if that is `sure`, and do not if they may not (cuda/PROOFS.md, 7).
struct Glance {
  bool may, sure;

  __device__ static Glance of(const Bounded& a, const Bounded& b, const PairRule& rule) {
    const float w = fminf(a.box.z, b.box.z) - fmaxf(a.box.x, b.box.x) + rule.overlap.offset;
    const float h = fminf(a.box.w, b.box.w) - fmaxf(a.box.y, b.box.y) + rule.overlap.offset;
    const float inter = w * h;
    const float bound = a.part + b.part;
    const bool meets = (w > 0) & (h > 0);
    const bool may = (meets & !(inter < bound)) | rule.disjoint_too;
    const bool can = !has_rules && rule.overlap.metric == CROWD_NMS_IOU;
    // From that sum of parts on, the sum of areas may overflow, and the ratio is 0 then.
    const bool sure =
        can & meets & (inter > __fmaf_rn(bound, 1 + 16 * guard, 1e-36f)) & (bound < 3.4e38f * rule.min_part);
    return {may, sure};
  }
};

/// Whether column `i` outranks row `r`, at `place`. A greater key says so, but for the tile's own columns, of which
/// equal scores count as better: those are decided by index here, the row itself included.
template <typename Tile>
__device__ bool is_better(const Tile& tile, const BlockRows& block, std::uint32_t place, std::uint32_t r,
                          std::uint32_t i) {
  const std::uint32_t other = i - block.first;
  return other >= block.rows || other < r || tile.key[other] > tile.sorted[place];
}

/// Whether column `i`, of which the key is greater, suppresses the row at `place`.
template <typename Tile>
__device__ bool suppresses_row(const DirectArguments& a, const Tile& tile, const BlockRows& block, std::uint32_t place,
                               std::uint32_t i) {
  const std::uint32_t r = tile.row_at[place];
  const float4 column = a.frames.boxes[block.input + i];
  const float4 row = tile.box[r];
  PairRule rule = a.rule;
  if (Tile::bounded) {
    rule.overlap.metric = bounding(Ratios{}, rule.overlap.metric);
    rule.disjoint_too = false;
  }
  return crowd::suppresses(column, row, rule) && is_better(tile, block, place, r, i) &&
         (!rule.by_class || a.frames.classes[block.input + i] == tile.label[r]) &&
         (!has_rules || a.rules.count(block.input, i, block.first + r, as_box(column), as_box(row)));
}

/// As Tile::best records a column: the upper bits of its key, then its index, inverted.
__device__ inline std::uint32_t as_best(std::uint32_t key, std::uint32_t i) {
  return key / capacity_max * capacity_max + (capacity_max - 1 - i);
}

}  // namespace crowd::CROWD_DIRECT
