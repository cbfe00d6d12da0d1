// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which boxes of a few may suppress a candidate, by bits: each axis of the plane has bins with a bit for every box.
#pragma once

#include "kernels/staged/staged.cuh"

namespace crowd::CROWD_STAGED {

/// Boxes of a frame by number, in bins of both axes that repeat over the plane. A bin has a bit for each box that may
/// suppress boxes with their centres in it.
struct NearBins {
  static constexpr std::uint32_t per_axis = tuning::staged_near_bins;

  Grid grid;
  std::uint32_t words;  ///< of a bin; a multiple of 4
  std::uint32_t* first;

  /// `room`: boxes that have bits, a multiple of 128; `of_frames`: near_words(room) for each frame of the call.
  __device__ NearBins(const Stage& stage, std::uint32_t* of_frames, std::uint32_t room)
      : grid(stage.scale().grid), words(room / 32), first(of_frame(stage, of_frames, room)) {
    grid.columns = grid.rows = per_axis;
  }
  /// A part of the bins, by block number `block` of `blocks`. For a whole block.
  __device__ static void clear(const Stage& stage, std::uint32_t* of_frames, std::uint32_t room,
                               std::uint32_t block = 0, std::uint32_t blocks = 1) {
    auto* const quads = reinterpret_cast<uint4*>(of_frame(stage, of_frames, room));
    for (std::uint32_t k = block * threads + threadIdx.x; k < near_words(room) / 4; k += blocks * threads)
      quads[k] = {0, 0, 0, 0};
  }
  /// The bins that boxes which it may suppress have their centres in.
  __device__ Window window_of(const Stage& stage, const float4& box) const {
    const FrameCounters& counters = stage.counters();
    return window(box, grid, stage.a.rule, {__uint_as_float(counters.width), __uint_as_float(counters.height)});
  }
  __device__ void add(const Window& w, std::uint32_t number) const {
    for (std::uint32_t k = 0; k < w.x.count; ++k)
      atomicOr(column(w.x.first + static_cast<int>(k)) + number / 32, 1u << number % 32);
    for (std::uint32_t k = 0; k < w.y.count; ++k)
      atomicOr(row(w.y.first + static_cast<int>(k)) + number / 32, 1u << number % 32);
  }
  /// The bins of a box's centre.
  __device__ const std::uint32_t* column_of(const float4& box) const {
    return column(Grid::along(Grid::centre(box.x, box.z), grid.per_x));
  }
  __device__ const std::uint32_t* row_of(const float4& box) const {
    return row(Grid::along(Grid::centre(box.y, box.w), grid.per_y));
  }

 private:
  __device__ static std::uint32_t* of_frame(const Stage& stage, std::uint32_t* of_frames, std::uint32_t room) {
    return of_frames + static_cast<std::size_t>(stage.frame) * near_words(room);
  }
  __device__ std::uint32_t* column(int number) const {
    return first + grid.column(number) * words;
  }
  __device__ std::uint32_t* row(int number) const {
    return first + (per_axis + grid.row(number)) * words;
  }
};

}  // namespace crowd::CROWD_STAGED
