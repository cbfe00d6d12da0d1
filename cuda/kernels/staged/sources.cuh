// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sources of a large crowd: candidates without a suppressor, which therefore survive. The best candidate of each cell
// is noted there if it is one. What a source suppresses is dropped before suppressors are listed, as is what a peak
// suppresses (peaks.cuh), of which a crowd of more than a thousand clusters has too few.
#pragma once

#include "kernels/staged/crowd.cuh"
#include "kernels/staged/window.cuh"

namespace crowd::CROWD_STAGED {

/// By cell: the place of a source, plus 1; 0 if none is noted. In place of best_of(), which is not used after count()
/// in frames that are no crowd by note_crowd().
__device__ inline std::uint32_t* sources_of(const Stage& stage) {
  return reinterpret_cast<std::uint32_t*>(best_of(stage).box);
}

/// For a whole block, number `block` of `blocks`.
__device__ inline void clear_sources(const Stage& stage, std::uint32_t block, std::uint32_t blocks) {
  std::uint32_t* const sources = sources_of(stage);
  for (std::uint32_t k = block * threads + threadIdx.x; k < stage.a.shape.cells(); k += blocks * threads)
    sources[k] = 0;
}

/// The best candidates of a block's cells.
struct CellBests {
  std::uint32_t count;
  std::uint32_t cell[source_cells];
  std::uint32_t place[source_cells];
};

/// Lists the best of each of the block's cells; of crowded cells that of the first few candidates.
__device__ inline void list_cell_bests(const Stage& stage, CellBests& bests) {
  constexpr std::uint32_t max_places = 32;
  if (threadIdx.x == 0)
    bests.count = 0;
  __syncthreads();
  const std::uint32_t cell = blockIdx.x * source_cells + threadIdx.x;
  const std::uint32_t begin = stage.starts()[cell];
  const std::uint32_t end = min(stage.starts()[cell + 1], begin + max_places);
  std::uint64_t best = 0;
  std::uint32_t place = 0;
  for (std::uint32_t at = begin; at < end; ++at)
    if (const std::uint64_t key = stage.a.arrays.key[stage.slot + at]; key > best) {
      best = key;
      place = at;
    }
  if (begin < end) {
    const std::uint32_t number = atomicAdd(&bests.count, 1u);
    bests.cell[number] = cell;
    bests.place[number] = place;
  }
  __syncthreads();
}

/// Whether a source suppresses the candidate. Does not look through windows of many cells: not to drop a candidate is
/// never wrong.
__device__ inline bool has_source(const Stage& stage, const Subject& mine) {
  constexpr unsigned at_once = 4;
  constexpr std::uint32_t max_cells = 64;
  const Walk walk = walk_of(stage, mine);
  if (walk.cells() > max_cells)
    return false;
  const std::uint32_t* const sources = sources_of(stage);
  for (std::uint32_t s = 0; s < walk.segments(); ++s) {
    const CellRange cells = walk.cells_at(s);
    for (std::uint32_t cell = cells.first; cell < cells.end; cell += at_once) {
      std::uint32_t source[at_once];
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k)
        source[k] = cell + k < cells.end ? sources[cell + k] : 0;
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k)
        if (source[k] && stage.suppresses_at(source[k] - 1, mine))
          return true;
    }
  }
  return false;
}

}  // namespace crowd::CROWD_STAGED
