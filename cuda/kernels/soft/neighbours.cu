// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Soft-NMS: lists, for each candidate, of those that lower its score if they survive first. Better- or worse-ranked:
// ranks change.

#include "kernels/soft/soft.cuh"

namespace crowd::ruled {

namespace {

/// Looks through a window and writes what is found to `to`, as far as `room` goes. Returns how many there are. For a
/// whole warp.
__device__ std::uint32_t list(const SoftStage& soft, const Walk& walk, const Subject& mine, ListEntry* to,
                              std::uint32_t room) {
  const unsigned lane = threadIdx.x % warp_size;
  std::uint32_t count = 0;
  for (std::uint32_t number = 0; number < walk.segments(); ++number) {
    const Segment segment = walk.at(number);
    for (std::uint32_t k = lane; k - lane < segment.count; k += warp_size) {
      const std::uint32_t place = segment.first + k;
      const bool found = k < segment.count && soft.lowers(place, mine);
      const unsigned all = __ballot_sync(all_lanes, found);
      const std::uint32_t at = count + static_cast<std::uint32_t>(__popc(all & ((1u << lane) - 1)));
      if (found && at < room)
        to[at] = {place, soft.factor(soft.ratio(soft.box(place), mine.box))};
      count += static_cast<std::uint32_t>(__popc(all));
    }
  }
  return count;
}

}  // namespace

__global__ void __launch_bounds__(soft_threads) list_neighbours(SoftArguments a) {
  __shared__ ListEntry found[soft_warps][tuning::soft_held];
  pdl_wait();
  const SoftStage soft(a, blockIdx.y);
  const unsigned warp = threadIdx.x / warp_size;
  const unsigned lane = threadIdx.x % warp_size;
  const std::uint32_t place = blockIdx.x * soft_warps + warp;
  if (place >= soft.size())
    return;
  const Subject mine = soft.stage.subject(place);
  const Walk walk(soft.stage, mine);
  const std::uint32_t count = list(soft, walk, mine, found[warp], tuning::soft_held);
  std::uint32_t first = 0;
  if (lane == 0 && count)
    first = atomicAdd(&soft.stage.counters().list_entries, count);
  first = __shfl_sync(all_lanes, first, 0);
  const bool fits = first <= a.entries_per_frame && count <= a.entries_per_frame - first;
  if (fits && count > tuning::soft_held) {
    list(soft, walk, mine, soft.lists() + first, count);
  } else if (fits) {
    __syncwarp();
    for (std::uint32_t e = lane; e < count; e += warp_size)
      soft.lists()[first + e] = found[warp][e];
  }
  if (lane)
    return;
  if (!fits)
    soft.find_in_turn();
  const float score = a.staged.frames.scores[a.staged.frames.input(soft.stage.frame) + rank_index(mine.key)];
  soft.state(place) = {first, fits ? count : unlisted, score, no_place};
  soft.lowered_by(place) = ~0ull;
  soft.set_own_word(place, ScoreWord::at_most(score));
  soft.publish(place, ScoreWord::at_most(score));
}

}  // namespace crowd::ruled
