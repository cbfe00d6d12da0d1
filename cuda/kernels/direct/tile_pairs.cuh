// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Whether a column suppresses a row of a tile.
#pragma once

#include "kernels/direct/tile.cuh"

namespace crowd::CROWD_DIRECT {

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
