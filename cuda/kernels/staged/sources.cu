// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Between stages four and five, for large frames alone: finds a crowd's sources, and drops what they suppress.

#include "kernels/launch.cuh"
#include "kernels/staged/sources.cuh"

namespace crowd::CROWD_STAGED {

namespace {

// A block takes source_cells cells.
__global__ void __launch_bounds__(threads, resident_blocks) find_sources(StagedArguments a) {
  if (!a.frames.takes(blockIdx.y))
    return;
  __shared__ CellBests bests;
  pdl_wait();
  const Stage stage(a, blockIdx.y);
  if (!is_large_crowd(stage))
    return;
  list_cell_bests(stage, bests);
  for (std::uint32_t begin = 0; begin < bests.count; begin += candidates_per_block) {
    const std::uint32_t number = begin + threadIdx.x / lanes;
    const std::uint32_t place = bests.place[min(number, bests.count - 1)];
    const Subject mine = stage.subject(place);
    bool suppressed = false;
    const bool cut = visit_suppressors<true>(stage, walk_of(stage, mine), mine, tuning::staged_visits,
                                             [&](std::uint32_t, std::uint64_t) { return suppressed = true; });
    if (!group_sum<lanes>(suppressed) && !cut && number < bests.count && threadIdx.x % lanes == 0)
      sources_of(stage)[bests.cell[number]] = place + 1;
  }
}

// A thread a candidate. A source's key stays, so that others may compare with it meanwhile.
__global__ void __launch_bounds__(threads) drop_by_sources(StagedArguments a) {
  if (!a.frames.takes(blockIdx.y))
    return;
  pdl_wait();
  const Stage stage(a, blockIdx.y);
  const std::uint32_t place = blockIdx.x * threads + threadIdx.x;
  if (place >= stage.size() || !is_large_crowd(stage))
    return;
  const Subject mine = stage.subject(place);
  if (has_source(stage, mine))
    a.arrays.key[stage.slot + place] = stripped(mine.key);
}

}  // namespace

void launch_sources(const Call& call, const StagedArguments& arguments) {
  launch_pdl(find_sources, call, {call.grid(arguments.shape.cells() / source_cells), threads}, arguments);
  launch_pdl(drop_by_sources, call, {call.grid(arguments.shape.blocks), threads}, arguments);
}

}  // namespace crowd::CROWD_STAGED
