// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What soft methods leave behind.

#include "kernels/soft/soft.cuh"

namespace crowd::ruled {

namespace {

/// The place of a candidate's representative, or no_place.
__device__ std::uint32_t representative(const SoftStage& soft, std::uint32_t place) {
  if (soft.own_word(place).is_kept())
    return place;
  const std::uint32_t by = soft.state(place).by;
  return by != no_place && soft.own_word(by).is_kept() ? by : no_place;
}

/// Calls take(word, place) for all places, a lane for every 32nd. For a whole warp.
template <typename Take>
__device__ void for_each_word(const SoftStage& soft, Take take) {
  constexpr unsigned step = 8;
  const std::uint32_t size = soft.size();
  for (std::uint32_t first = threadIdx.x % warp_size; first < size; first += step * warp_size) {
    ScoreWord word[step];
#pragma unroll
    for (unsigned s = 0; s < step; ++s)
      word[s] = first + s * warp_size < size ? soft.own_word(first + s * warp_size) : ScoreWord::suppressed();
#pragma unroll
    for (unsigned s = 0; s < step; ++s)
      take(word[s], first + s * warp_size);
  }
}

__device__ std::uint32_t count_survivors(const SoftStage& soft) {
  std::uint32_t survivors = 0;
  for_each_word(soft, [&](ScoreWord word, std::uint32_t) { survivors += word.is_kept(); });
  return warp_sum(survivors);
}

/// How many survivors are better than the one at `place`.
__device__ std::uint32_t rank_of(const SoftStage& soft, std::uint32_t place) {
  // Words of survivors order as their scores do, and are above all others.
  const std::uint32_t mine = soft.own_word(place).word();
  std::uint32_t better = 0, equal = 0;
  for_each_word(soft, [&](ScoreWord word, std::uint32_t) {
    better += word.word() > mine;
    equal += word.word() == mine;
  });
  if (warp_sum(equal) == 1)
    return warp_sum(better);
  const std::uint32_t index = soft.index(place);
  for_each_word(soft, [&](ScoreWord word, std::uint32_t its) {
    if (word.word() == mine)
      better += soft.index(its) < index;
  });
  return warp_sum(better);
}

__device__ void write_survivor(const SoftStage& soft, std::uint32_t place, std::uint32_t rank) {
  const CrowdNmsSurvivors& out = soft.stage.a.out;
  const std::size_t at = static_cast<std::size_t>(soft.stage.frame) * out.max_survivors + rank;
  const std::uint32_t index = soft.index(place);
  out.survivors[at] = index;
  if (out.members)
    out.members[at] = soft.state(place).count;
  if (out.scores)
    out.scores[at] = soft.state(place).score;
  if (out.boxes)
    out.boxes[at] = as_box(soft.stage.a.rules.whole[soft.stage.a.frames.input(soft.stage.frame) + index]);
}

__device__ void write_report(const SoftStage& soft, std::uint32_t survivors) {
  const StagedArguments& a = soft.stage.a;
  const std::uint32_t all = a.frames.count(soft.stage.frame);
  a.out.reports[soft.stage.frame] = {all,
                                     all - a.frames.size(soft.stage.frame),
                                     soft.stage.counters().invalid,
                                     soft.stage.counters().below_threshold,
                                     survivors,
                                     survivors > a.out.max_survivors ? survivors - a.out.max_survivors : 0};
}

}  // namespace

__global__ void __launch_bounds__(threads) write_soft_representatives(SoftArguments a) {
  pdl_wait();
  const SoftStage soft(a, blockIdx.y);
  const std::uint32_t place = blockIdx.x * threads + threadIdx.x;
  if (place >= soft.size())
    return;
  const std::uint32_t by = representative(soft, place);
  if (by != no_place && a.staged.out.members)
    atomicAdd(&soft.state(by).count, 1u);
  if (a.staged.out.representatives)
    a.staged.out.representatives[soft.stage.slot + soft.index(place)] =
        by == no_place ? CROWD_NMS_NONE : soft.index(by);
}

__global__ void __launch_bounds__(soft_threads) write_soft_survivors(SoftArguments a) {
  pdl_wait();
  const SoftStage soft(a, blockIdx.y);
  const std::uint32_t place = blockIdx.x * soft_warps + threadIdx.x / warp_size;
  if (place == 0) {
    const std::uint32_t survivors = count_survivors(soft);
    if (threadIdx.x % warp_size == 0)
      write_report(soft, survivors);
  }
  if (place >= soft.size() || !soft.own_word(place).is_kept())
    return;
  const std::uint32_t rank = rank_of(soft, place);
  if (threadIdx.x % warp_size == 0 && rank < a.staged.out.max_survivors)
    write_survivor(soft, place, rank);
}

}  // namespace crowd::ruled
