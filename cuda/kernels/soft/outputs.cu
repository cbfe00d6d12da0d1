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

/// Words of a frame that a block looks at together: a chunk.
constexpr unsigned held_max = 4096;

/// Survivors' words of a chunk, in no order.
struct HeldWords {
  uint4 words[held_max / 4];
  std::uint32_t count;
};

/// Reads a chunk from place `first` on, and adds words of no survivors up to whole vectors. By all threads, between
/// barriers; `held.count` is 0.
__device__ void hold(const SoftStage& soft, std::uint32_t first, HeldWords& held) {
  constexpr unsigned each = held_max / soft_threads;
  auto* const words = reinterpret_cast<std::uint32_t*>(held.words);
  ScoreWord mine[each];
#pragma unroll
  for (unsigned i = 0; i < each; ++i) {
    const std::uint32_t place = first + i * soft_threads + threadIdx.x;
    mine[i] = place < soft.size() ? soft.own_word(place) : ScoreWord::suppressed();
  }
  std::uint32_t kept = 0;
#pragma unroll
  for (unsigned i = 0; i < each; ++i)
    kept += mine[i].is_kept();
  std::uint32_t at = take_places(held.count, kept);
#pragma unroll
  for (unsigned i = 0; i < each; ++i)
    if (mine[i].is_kept())
      words[at++] = mine[i].word();
  __syncthreads();
  if (threadIdx.x < 3 && held.count + threadIdx.x < ceil_div(held.count, 4) * 4)
    words[held.count + threadIdx.x] = ScoreWord::suppressed().word();
}

/// A warp's candidates, and how many words it has found that are above, and equal to, theirs.
struct Ranks {
  std::uint32_t mine[survivors_per_warp];  ///< of those that do not survive, a word that none is above
  std::uint32_t better[survivors_per_warp];
  std::uint32_t equal[survivors_per_warp];

  __device__ void look_at(std::uint32_t word) {
    // Words of survivors order as their scores do, and are above all others.
#pragma unroll
    for (unsigned p = 0; p < survivors_per_warp; ++p) {
      better[p] += word > mine[p];
      equal[p] += word == mine[p];
    }
  }
};

/// For a whole warp.
__device__ void look_through(const HeldWords& held, Ranks& ranks) {
#pragma unroll 2
  for (std::uint32_t i = threadIdx.x % warp_size; i * 4 < held.count; i += warp_size) {
    const uint4 four = held.words[i];
    ranks.look_at(four.x);
    ranks.look_at(four.y);
    ranks.look_at(four.z);
    ranks.look_at(four.w);
  }
}

/// Survivors with the word `mine` and a lower index. For a whole warp.
__device__ std::uint32_t count_before_equal(const SoftStage& soft, std::uint32_t mine, std::uint32_t index) {
  constexpr unsigned step = 8;
  const std::uint32_t size = soft.size();
  std::uint32_t before = 0;
  for (std::uint32_t first = threadIdx.x % warp_size; first < size; first += step * warp_size) {
    std::uint32_t word[step];
#pragma unroll
    for (unsigned s = 0; s < step; ++s)
      word[s] = soft.own_word(min(first + s * warp_size, size - 1)).word();
#pragma unroll
    for (unsigned s = 0; s < step; ++s)
      if (first + s * warp_size < size && word[s] == mine)
        before += soft.index(first + s * warp_size) < index;
  }
  return warp_sum(before);
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
  __shared__ HeldWords held;
  pdl_wait();
  const SoftStage soft(a, blockIdx.y);
  const unsigned lane = threadIdx.x % warp_size;
  const std::uint32_t size = soft.size();
  const std::uint32_t first = (blockIdx.x * soft_warps + threadIdx.x / warp_size) * survivors_per_warp;
  Ranks ranks{};
  bool any = blockIdx.x == 0;  // which writes the report
#pragma unroll
  for (unsigned p = 0; p < survivors_per_warp; ++p) {
    const ScoreWord word = first + p < size ? soft.own_word(first + p) : ScoreWord::suppressed();
    ranks.mine[p] = word.is_kept() ? word.word() : ~0u;
    any |= word.is_kept();
  }
  if (!__syncthreads_or(any))
    return;
  std::uint32_t survivors = 0;
  for (std::uint32_t base = 0; base < size; base += held_max) {
    __syncthreads();
    if (threadIdx.x == 0)
      held.count = 0;
    __syncthreads();
    hold(soft, base, held);
    __syncthreads();
    look_through(held, ranks);
    survivors += held.count;
  }
  std::uint32_t place = no_place, rank = 0;
#pragma unroll
  for (unsigned p = 0; p < survivors_per_warp; ++p) {
    if (ranks.mine[p] == ~0u)
      continue;
    std::uint32_t better = warp_sum(ranks.better[p]);
    if (warp_sum(ranks.equal[p]) > 1)
      better += count_before_equal(soft, ranks.mine[p], soft.index(first + p));
    if (lane == p) {
      place = first + p;
      rank = better;
    }
  }
  if (place != no_place && rank < a.staged.out.max_survivors)
    write_survivor(soft, place, rank);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    write_report(soft, survivors);
}

}  // namespace crowd::ruled
