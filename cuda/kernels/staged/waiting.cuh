// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How a block of stage six compares its candidates with others, which may be most of the frame: 128 at a time, of which
// measure_bins.cuh finds those near each candidate. In greedy, where it waits, those whose lists are incomplete, with
// the survivors of the blocks before it. In map-reduce, those that are open yet, with all candidates, since each
// suppresses others there, whether it survives or not: read "survivor" as "candidate".
#pragma once

#include "kernels/staged/measure_bins.cuh"
#include "kernels/staged/pending.cuh"

namespace crowd::CROWD_STAGED {

struct Survivor {
  static constexpr std::uint32_t none = ~0u;  ///< place of one that suppresses none of the block

  float4 box;
  std::int32_t label;
  std::uint32_t place;
};

/// Those that a block compares at a time.
struct Survivors {
  static constexpr unsigned room = MeasureBins::words * 32;

  float4 box[room];
  float area[room];
  std::int32_t label[room];
  std::uint32_t place[room];

  __device__ void put(std::uint32_t at, const Survivor& survivor, float offset) {
    box[at] = survivor.box;
    area[at] = crowd::area(as_box(survivor.box), offset);
    label[at] = survivor.label;
    place[at] = survivor.place;
  }
};

/// Of a block, by thread.
struct Candidates {
  float4 box[threads];
  std::uint32_t key[threads];  ///< rank keys without scores, stripped()

  __device__ void put(std::uint32_t at, const Subject& subject) {
    box[at] = subject.box;
    key[at] = static_cast<std::uint32_t>(subject.key);
  }
};

struct WaitingShared {
  MeasureBins bins;
  union {
    struct {
      Survivors survivors;
      NearSurvivors near;
    } tried;
    alignas(16) std::uint32_t keys[measures][threads];  ///< in take_bins()
    Candidates candidates;                              ///< in find_in_block()
  };
};

/// Greedy: survivors in rank order, all of blocks before.
struct SurvivorsBefore {
  static constexpr bool all_rank_better = true;

  __device__ Survivor at(const Stage& stage, std::uint32_t number, std::uint32_t end) const {
    Survivor survivor{};
    if (number < end) {
      survivor.place = load_relaxed(stage.a.arrays.ranked + stage.slot + number);
      survivor.box = stage.a.arrays.box[stage.slot + survivor.place];
      survivor.label = stage.a.rule.by_class ? stage.label(stage.a.arrays.key[stage.slot + survivor.place]) : 0;
    }
    return survivor;
  }
};

/// Map-reduce: all candidates of the frame, by place, but for those that no candidate of the block ranks below.
struct AllCandidates {
  static constexpr bool all_rank_better = false;

  std::uint64_t worst;  ///< rank key of the block's

  __device__ Survivor at(const Stage& stage, std::uint32_t number, std::uint32_t end) const {
    Survivor survivor{};
    if (number < end) {
      const std::uint64_t key = stage.a.arrays.key[stage.slot + number];
      survivor.place = key > worst ? number : Survivor::none;
      survivor.box = stage.a.arrays.box[stage.slot + number];
      survivor.label = stage.label(key);
    }
    return survivor;
  }
};

/// A bit for each survivor, in the order of Survivors.
struct SurvivorBits {
  std::uint32_t word[MeasureBins::words];

  __device__ explicit SurvivorBits(const uint4& words) : word{words.x, words.y, words.z, words.w} {}
  __device__ std::uint32_t count() const {
    return static_cast<std::uint32_t>(__popc(word[0]) + __popc(word[1]) + __popc(word[2]) + __popc(word[3]));
  }
};

/// Whether survivor number `at` may suppress the candidate, if it ranks better, which hits() sees to. Without branches.
__device__ inline bool may_hit(const Stage& stage, const Survivors& survivors, std::uint32_t at, const Subject& its) {
  return static_cast<int>(survivors.label[at] == its.label) &
         static_cast<int>(stage.better_may_suppress(survivors.box[at], survivors.area[at], its));
}
/// Completes may_hit(), which has to hold.
__device__ inline bool hits(const Stage& stage, const Survivors& survivors, std::uint32_t at, const Subject& its) {
  const std::uint64_t key = stage.a.arrays.key[stage.slot + survivors.place[at]];
  return key > its.key && stage.suppresses(key, survivors.box[at], its);
}

/// Whether one of the survivors that are near suppresses the lane's candidate: one after another.
__device__ inline bool is_hit_by_lane(const Stage& stage, const Survivors& survivors, SurvivorBits near,
                                      const Subject& mine) {
  for (std::uint32_t base = 0;;) {
    // The words move up, so that all lanes that have bits left go on together.
    if (!near.word[0]) {
      if (!(near.word[1] | near.word[2] | near.word[3]))
        return false;
      near.word[0] = near.word[1];
      near.word[1] = near.word[2];
      near.word[2] = near.word[3];
      near.word[3] = 0;
      base += 32;
      continue;
    }
    const std::uint32_t at = base + lowest_bit(near.word[0]);
    near.word[0] &= near.word[0] - 1;
    if (unlikely(may_hit(stage, survivors, at, mine)) && hits(stage, survivors, at, mine))
      return true;
  }
}

__device__ inline Subject from_lane(const Subject& its, int lane) {
  return {crowd::from_lane(its.box, lane), __shfl_sync(all_lanes, its.area, lane),
          __shfl_sync(all_lanes, its.label, lane), __shfl_sync(all_lanes, its.key, lane)};
}

/// The same for the candidates of all lanes, one after another, with all survivors, four a lane. For a whole warp.
__device__ inline bool is_hit_by_warp(const Stage& stage, const Survivors& survivors, const SurvivorBits& near,
                                      const Subject& mine) {
  const std::uint32_t lane = threadIdx.x % warp_size;
  bool hit = false;
  for (unsigned todo = __ballot_sync(all_lanes, near.count() != 0); todo; todo &= todo - 1) {
    const int owner = __ffs(static_cast<int>(todo)) - 1;
    const Subject its = from_lane(mine, owner);
    unsigned may = 0;
#pragma unroll
    for (unsigned k = 0; k < MeasureBins::words; ++k)
      may |= (__shfl_sync(all_lanes, near.word[k], owner) >> lane & 1 &
              static_cast<unsigned>(may_hit(stage, survivors, k * warp_size + lane, its)))
             << k;
    bool hit_by_lane = false;
    for (; may && !hit_by_lane; may &= may - 1)
      hit_by_lane = hits(stage, survivors, lowest_bit(may) * warp_size + lane, its);
    hit |= __any_sync(all_lanes, hit_by_lane) && static_cast<int>(lane) == owner;
  }
  return hit;
}

/// The same in whichever of the two ways takes fewer steps: survivors of a lane, or candidates. For a whole warp.
__device__ inline bool is_hit(const Stage& stage, const Survivors& survivors, const SurvivorBits& near,
                              const Subject& mine) {
  const std::uint32_t count = near.count();
  const int candidates = __popc(__ballot_sync(all_lanes, count != 0));
  if (warp_max(count) > static_cast<std::uint32_t>(candidates))
    return is_hit_by_warp(stage, survivors, near, mine);
  return is_hit_by_lane(stage, survivors, near, mine);
}

/// Finds which of `count` survivors are near which bins, and meets at a barrier. For a whole block.
template <typename Source>
__device__ void find_near(const Stage& stage, WaitingShared& shared, std::uint32_t count) {
  static_assert(warps == 2 * MeasureBins::words, "two measures of 32 survivors for each warp");
  const unsigned warp = threadIdx.x / warp_size;
  const unsigned word = warp % MeasureBins::words;
  const bool second = warp >= MeasureBins::words;
  const std::uint32_t at = word * 32 + threadIdx.x % warp_size;
  const Survivors& survivors = shared.tried.survivors;
  NearSurvivors& near = shared.tried.near;
  const bool on = at < count && (Source::all_rank_better || survivors.place[at] != Survivor::none);
  const MeasureIntervals intervals(stage.a.rule, shared.bins, survivors.box[at], survivors.label[at]);
  near.set(shared.bins, second ? centre_y : centre_x, intervals.of_centre(second), word, on);
  if (!second)
    near.set(shared.bins, box_width, intervals.of_width(), word, on);
  else if (is_used(box_class, stage.a.rule))
    near.set(shared.bins, box_class, intervals.of_class(), word, on);
  __syncthreads();
}

/// Suppresses candidates that wait and that one of the survivors `first` to `end` - 1 of `source` suppresses. All that
/// wait have bins: none comes to wait after take_bins(). For a whole block.
template <typename Source>
__device__ void try_survivors(const Stage& stage, const Source& source, const Subject& mine, Pending& pending,
                              WaitingShared& shared, const BinsOfCandidate& bins, std::uint32_t first,
                              std::uint32_t end) {
  // So many or fewer are compared without find_near(), which takes 0.9 us.
  constexpr std::uint32_t few = Source::all_rank_better ? 8 : 0;
  const bool waits = pending.is_undecided() && pending.more;
  if (first >= end || !__syncthreads_or(waits))
    return;
  const bool loads = threadIdx.x < Survivors::room;
  Survivor next = source.at(stage, first + threadIdx.x, loads ? end : 0);
  for (std::uint32_t base = first;;) {
    const std::uint32_t count = min(end - base, Survivors::room);
    if (loads)
      shared.tried.survivors.put(threadIdx.x, next, stage.a.rule.overlap.offset);
    if (!__syncthreads_or(waits && pending.is_undecided()))
      return;
    base += count;
    next = source.at(stage, base + threadIdx.x, loads ? end : 0);
    if (count > few)
      find_near<Source>(stage, shared, count);
    const bool open = waits && pending.is_undecided();
    const uint4 near = !open         ? uint4{}
                       : count > few ? shared.tried.near.near(bins, stage.a.rule)
                                     : uint4{low_bits(count), 0, 0, 0};
    if (is_hit(stage, shared.tried.survivors, SurvivorBits(near), mine)) {
      pending.decision = Decision::suppressed();
      stage.decide(pending.place, pending.decision);
    }
    if (base >= end)
      return;
    __syncthreads();
  }
}

}  // namespace crowd::CROWD_STAGED
