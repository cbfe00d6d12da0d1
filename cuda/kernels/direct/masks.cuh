// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The map: masks of rows that have more suppressors than a list has room for. A block compares such rows of its tile
// with all columns once more, 32 columns a warp at a time, which leave a word of each row's mask.
#pragma once

#include "kernels/direct/tile_lists.cuh"
#include "kernels/direct/tile_pairs.cuh"

namespace crowd::CROWD_DIRECT {

/// A box as it is first compared with others: with a part of its area. Two boxes whose intersection is smaller than
/// their parts in all do not overlap (PairRule::min_part, cuda/PROOFS.md, 7).
struct Bounded {
  float4 box;
  float part;
  bool is_usual;  ///< the sum of two such areas is finite

  /// `least`: of the part. If that is positive of one of two boxes, they have to intersect.
  __device__ static Bounded of(const float4& b, const PairRule& rule, float least) {
    const float its_area = area(as_box(b), rule.overlap.offset);
    const bool is_usual = its_area <= 1.7e38f;
    return {b, fmaxf(is_usual ? __fmaf_rn(rule.min_part, its_area, -1.1e-37f) : 0, least), is_usual};
  }
};

/// A warp's 32 columns as rows are compared with them, in place of queued pairs.
struct StagedColumns {
  float4 box[32];
  float part[32];         ///< Bounded::part
  std::uint32_t key[32];  ///< Columns::key

  template <typename Tile>
  __device__ static StagedColumns& of_warp(Tile& tile) {
    static_assert(sizeof(StagedColumns) <= queued_a_warp * sizeof(Pair) &&
                  queued_a_warp * sizeof(Pair) % alignof(StagedColumns) == 0);
    return *reinterpret_cast<StagedColumns*>(tile.queue + threadIdx.x / 32 * queued_a_warp);
  }
};

/// Columns::key, with the full test of validity.
__device__ inline std::uint32_t column_key(const DirectArguments& a, const BlockRows& block, std::uint32_t i) {
  if (i >= block.n)
    return 0;
  const Raw raw = load(a, block.input + i);
  const bool valid = validity(a, block.input + i, raw) == Validity::valid;
  return valid ? number_key(raw.score) + (i < block.first + block.rows) : 0;
}

/// Stages the warp's columns, a column a lane. Returns a bit for each of which the area is usual.
__device__ inline std::uint32_t stage_column(const DirectArguments& a, const BlockRows& block, std::uint32_t i,
                                             StagedColumns& columns) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t key = column_key(a, block, i);
  const Bounded it = Bounded::of(key ? a.frames.boxes[block.input + i] : float4{}, a.rule, 0);
  __syncwarp();
  columns.box[lane] = it.box;
  columns.part[lane] = it.part;
  columns.key[lane] = key;
  __syncwarp();
  return __ballot_sync(all_lanes, it.is_usual);
}

/// Of 32 columns, those that suppress a row, and one of them: as_best().
struct ColumnsFound {
  std::uint32_t bits = 0, best = 0;
};

/// Of 32 staged columns, a bit for each.
struct Glance {
  std::uint32_t better;  ///< outranks the row, as far as keys tell
  std::uint32_t far;     ///< does not overlap it
  std::uint32_t sure;    ///< overlaps it, by IoU, if both areas are usual

  /// Compares them with a row. Signs of differences, not comparisons, which take twice as long.
  __device__ static Glance of(const StagedColumns& columns, const Bounded& row, std::uint32_t row_key, float offset) {
    const auto with_sign = [](std::uint32_t signs, float value) {
      return __funnelshift_lc(__float_as_uint(value), signs, 1);
    };
    constexpr unsigned batch = 8;
    Glance glance{};
#pragma unroll 1
    for (unsigned first = 32; first;) {
      first -= batch;
      std::uint32_t better = 0;
#pragma unroll
      for (unsigned k = batch; k-- > 0;) {
        const float4 box = columns.box[first + k];
        const float w = fmaxf(fminf(box.z, row.box.z) - fmaxf(box.x, row.box.x) + offset, 0);
        const float h = fmaxf(fminf(box.w, row.box.w) - fmaxf(box.y, row.box.y) + offset, 0);
        const float inter = w * h;
        const float bound = columns.part[first + k] + row.part;
        glance.far = with_sign(glance.far, inter - bound);
        glance.sure = with_sign(glance.sure, __fmaf_rn(bound, 1 + 16 * guard, 1e-36f) - inter);
        better |= columns.key[first + k] > row_key ? 1u << k : 0;
      }
      glance.better = glance.better << batch | better;
    }
    return glance;
  }
};

/// Compares columns `first` to `first` + 31, which are staged, with the row at `place`. `usual`: stage_column(). A
/// thread a row.
template <typename Tile>
__device__ ColumnsFound compare_columns(const DirectArguments& a, const Tile& tile, const BlockRows& block,
                                        const StagedColumns& columns, std::uint32_t usual, std::uint32_t first,
                                        std::uint32_t place) {
  constexpr float least_float = 1.4013e-45f;
  const Bounded row = Bounded::of(tile.box[tile.row_at[place]], a.rule, least_float);
  const Glance glance = Glance::of(columns, row, tile.sorted[place], a.rule.overlap.offset);
  std::uint32_t found = glance.better & (a.rule.disjoint_too ? ~0u : ~glance.far);
  // What suppresses_row() asks besides.
  const bool can_be_sure = !has_rules && a.rule.overlap.metric == CROWD_NMS_IOU && !a.rule.by_class &&
                           !a.rule.disjoint_too && row.is_usual &&
                           (first >= block.first + block.rows || first + 32 <= block.first);
  for (std::uint32_t unsure = can_be_sure ? found & ~(glance.sure & usual) : found; unsure; unsure &= unsure - 1) {
    const std::uint32_t c = lowest_bit(unsure);
    found ^= suppresses_row(a, tile, block, place, first + c) ? 0 : 1u << c;
  }
  // Of few, the best; of many, any. The best of a dense tile's row need not be named (Tile::tied).
  constexpr int few = 8;
  std::uint32_t best = 0;
  for (std::uint32_t left = __popc(found) > few ? found & (0 - found) : found; left; left &= left - 1) {
    const std::uint32_t c = lowest_bit(left);
    best = max(best, as_best(columns.key[c], first + c));
  }
  return {found, best};
}

/// Writes masks of the rows that get no list. Of a dense tile, counts their suppressors anew, and names one of the
/// better ones; if it matters only whether they have any: that alone. `to`: masks of the frame. For a whole block,
/// between barriers. Not inlined: most frames have no such rows.
template <typename Tile>
static __noinline__ __device__ void write_masks(const DirectArguments& a, Tile& tile, BlockRows block,
                                                Begins<Tile> begins, std::uint32_t* to) {
#if defined(__CUDA_ARCH__) && CUDART_VERSION >= 12000
  __builtin_assume(__isGridConstant(&a));
#endif
  const std::uint32_t words = mask_words(a.capacity);
  const bool dense = tile.crowded == Tile::dense;
  StagedColumns& columns = StagedColumns::of_warp(tile);
  // Counts are about to change.
  bool masked[Tile::words];
#pragma unroll
  for (unsigned w = 0; w < Tile::words; ++w)
    masked[w] =
        dense ? is_valid_row(tile, place_of(w)) : tile.suppressors[place_of(w)] > 1 && begins.own(w) == not_listed;
  __syncthreads();
#pragma unroll
  for (unsigned w = 0; w < Tile::words; ++w) {
    const std::uint32_t place = place_of(w);
    const bool mine = masked[w];
    std::uint32_t* const mask = to + static_cast<std::size_t>(block.first + (mine ? tile.row_at[place] : 0)) * words;
    std::uint32_t suppressors = 0, best = 0;
    // Up to the end of the last vector, where there are no columns perhaps.
#pragma unroll 1
    for (std::uint32_t i = threadIdx.x; i / 32 < words; i += blockDim.x) {
      const bool open = mine && !(a.existence_only && load_relaxed(&tile.suppressors[place]));
      if (!__any_sync(all_lanes, open))
        continue;
      const std::uint32_t usual = stage_column(a, block, i, columns);
      if (!open)
        continue;
      const ColumnsFound found = compare_columns(a, tile, block, columns, usual, i / 32 * 32, place);
      suppressors += static_cast<std::uint32_t>(__popc(found.bits));
      best = max(best, found.best);
      if (!a.existence_only)
        mask[i / 32] = found.bits;
      else if (found.bits)
        atomicAdd(&tile.suppressors[place], 1u);
    }
    if (dense && !a.existence_only && suppressors) {
      atomicAdd(&tile.suppressors[place], suppressors);
      atomicMax(&tile.best[place], best);
    }
  }
  __syncthreads();
}

}  // namespace crowd::CROWD_DIRECT
