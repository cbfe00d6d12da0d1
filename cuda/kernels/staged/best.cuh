// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A frame's candidates of the best scores: which they are, by samples, and the suppressors of one among them.
#pragma once

#include "kernels/staged/finds.cuh"
#include "kernels/staged/listed.cuh"

namespace crowd::CROWD_STAGED {

/// Score keys that a frame's best reach, and the upper half of these: `upper` is no lower.
struct BestKeys {
  std::uint32_t all, upper;

  /// Above all keys.
  __device__ static BestKeys none() {
    return {~0u, ~0u};
  }
};

/// Warps that estimate these, each by its own samples of scores.
constexpr unsigned best_warps = 4;
/// Samples of a lane. What these cost frames without a crowd differs without a reason that we know (cuda/LESSONS.md,
/// 30): measure 16384 uniform candidates after a change of any of the three numbers.
constexpr unsigned best_samples = 8;
static_assert((best_samples & (best_samples - 1)) == 0, "lanes_with_best() squares");
/// Lanes that sample candidates which follow one another.
constexpr unsigned best_run = 8;
static_assert(warp_size % best_run == 0);

/// Of the lanes of a warp so many have one of the frame's `sought` best of n among their samples, about.
__device__ inline std::uint32_t lanes_with_best(std::uint32_t sought, std::uint32_t n) {
  float without = fmaxf(1 - __fdividef(static_cast<float>(sought), static_cast<float>(n)), 0);
#pragma unroll
  for (unsigned power = 1; power < best_samples; power *= 2)
    without *= without;
  return static_cast<std::uint32_t>(warp_size * (1 - without) + 0.5f);
}

/// The keys that about as many of the frame's n candidates reach as are sought, by warp number `warp` of best_warps;
/// none() if its samples do not tell, as above 780 000 candidates. For a whole warp.
__device__ inline BestKeys estimate_best(const Stage& stage, std::uint32_t n, unsigned warp) {
  constexpr unsigned runs = warp_size / best_run * best_samples * best_warps;
  static_assert(std::uint64_t{runs} * tuning::staged_capacity <= ~0u);
  const std::uint32_t lane = threadIdx.x % warp_size;
  std::uint32_t key = 0;
#pragma unroll
  for (unsigned s = 0; s < best_samples; ++s) {
    const std::uint32_t run = (s * (warp_size / best_run) + lane / best_run) * best_warps + warp;
    const std::uint32_t index = min(run * n / runs + lane % best_run, n - 1);
    key = max(key, n ? score_key(stage.ranked_score(index)) : 0);
  }
  std::uint32_t better = 0;
#pragma unroll 4
  for (int other = 0; other < static_cast<int>(warp_size); ++other)
    better += __shfl_sync(all_lanes, key, other) > key;
  const auto reached_by = [&](std::uint32_t sought) {
    return warp_min(better < lanes_with_best(sought, n) ? key : ~0u);
  };
  const std::uint32_t sought = stage.a.shape.sought;
  // In map-reduce peaks are numbered as the best are: these are listed from the front alone.
  return {reached_by(sought), stage.a.all_suppress ? 0 : reached_by(sought / 2)};
}

/// Rounded down: a score that all estimates share reaches it.
__device__ inline BestKeys mean_of(const BestKeys (&keys)[best_warps]) {
  BestKeys mean{0, 0};
#pragma unroll
  for (const BestKeys& its : keys) {
    mean.all += its.all / best_warps;
    mean.upper += its.upper / best_warps;
  }
  return mean;
}

/// Behind the SortSlots: boxes of the best and of peaks, then their keys. The upper half is listed from the front, and
/// counted in count[0]; others are listed from the back, and counted in count[1]. If all do not fit, as where too many
/// share a score, the list is not used.
__device__ inline Listed best_of(const Stage& stage) {
  const std::uint32_t sought = max_sought(stage.a.frames.capacity);
  float4* const boxes =
      reinterpret_cast<float4*>(stage.a.arrays.suppressors + stage.slot) + ceil_div(stage.a.frames.capacity, 2);
  auto* const keys = reinterpret_cast<std::uint64_t*>(boxes + 3 * sought);
  return {boxes, keys, stage.counters().best, 2 * sought, nullptr};
}

/// The best in an order in which none is suppressed by a later half: the upper half, then the others.
struct Best {
  Listed listed;
  std::uint32_t upper, count;

  __device__ std::uint32_t number(std::uint32_t at) const {
    return at < upper ? at : listed.from_the_back(at - upper);
  }
  /// All that may suppress the one at `at` are before this.
  __device__ std::uint32_t end_of_half(std::uint32_t at) const {
    return at < upper ? upper : count;
  }
};

/// Some of the best, spread over the lanes of a warp.
struct SomeBest {
  static constexpr unsigned per_lane = 4;
  static constexpr std::uint32_t step = per_lane * warp_size;

  std::uint64_t key[per_lane];
  float4 box[per_lane];

  /// Of those from `begin` to `end`, which is not 0.
  __device__ SomeBest(const Best& best, std::uint32_t begin, std::uint32_t end) {
#pragma unroll
    for (unsigned k = 0; k < per_lane; ++k) {
      const std::uint32_t at = begin + k * warp_size + threadIdx.x % warp_size;
      const std::uint32_t number = best.number(min(at, end - 1));
      key[k] = at < end ? best.listed.key[number] : 0;
      box[k] = best.listed.box[number];
    }
  }
};

/// Calls look(begin) for each step through the first `end` of the best, until it returns true. Warps begin at different
/// ones, so that they do not all wait for the same lines. For a whole warp.
template <typename Look>
__device__ void step_through_best(std::uint32_t end, const Look& look) {
  const std::uint32_t steps = ceil_div(end, SomeBest::step);
  std::uint32_t step = threadIdx.x / warp_size;
  step = step < steps ? step : 0;
  for (std::uint32_t left = steps; left; --left) {
    if (look(step * SomeBest::step))
      return;
    step = step + 1 < steps ? step + 1 : 0;
  }
}

/// Whether any of the first `end` of the best suppresses a candidate. For a whole warp.
__device__ inline bool has_better(const Stage& stage, const Best& best, std::uint32_t end, const Subject& mine) {
  bool found = false;
  step_through_best(end, [&](std::uint32_t begin) {
    const SomeBest some(best, begin, end);
#pragma unroll
    for (unsigned k = 0; k < SomeBest::per_lane; ++k)
      found = found ||
              (stage.may_suppress(some.key[k], some.box[k], mine) && stage.suppresses(some.key[k], some.box[k], mine));
    found = __any_sync(all_lanes, found);
    return found;
  });
  return found;
}

/// Finds a candidate's suppressors among the first `end` of the best, by number. For a whole warp, which the queue is
/// for.
__device__ inline Finds find_among_best(const Stage& stage, const Best& best, std::uint32_t end, NumberQueue& queue,
                                        const Subject& mine) {
  static_assert(SomeBest::step <= NumberQueue::room);
  Finds finds;
  std::uint32_t queued = 0;
  const auto empty_queue = [&] {
    __syncwarp();
    visit_queued(stage, best.listed, queue, queued, mine,
                 [&](std::uint32_t number, std::uint64_t key) { finds.add(key, number); });
    __syncwarp();
    queued = 0;
  };
  step_through_best(end, [&](std::uint32_t begin) {
    const SomeBest some(best, begin, end);
    unsigned near[SomeBest::per_lane];
    std::uint32_t found = 0;
#pragma unroll
    for (unsigned k = 0; k < SomeBest::per_lane; ++k) {
      near[k] = __ballot_sync(all_lanes, stage.may_suppress(some.key[k], some.box[k], mine));
      found += static_cast<std::uint32_t>(__popc(near[k]));
    }
    if (queued + found > NumberQueue::room)
      empty_queue();
    const std::uint32_t lane = threadIdx.x % warp_size;
#pragma unroll
    for (unsigned k = 0; k < SomeBest::per_lane; ++k) {
      if (near[k] >> lane & 1)
        queue.number[queued + lanes_before(near[k])] =
            static_cast<std::uint16_t>(best.number(begin + k * warp_size + lane));
      queued += static_cast<std::uint32_t>(__popc(near[k]));
    }
    return false;
  });
  empty_queue();
  return finds;
}

}  // namespace crowd::CROWD_STAGED
