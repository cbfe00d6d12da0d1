// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Stage six: decides all candidates and writes the survivors in rank order. A thread per candidate, in rank order,
// looks at the decisions of the suppressors on its list. Blocks draw their numbers as they start, so a block that is
// waited for runs or has ended. Only candidates in crowds too dense for lists wait for whole blocks: until all blocks
// before their own are decided, after which classic greedy decides within the block. That bounds what any input can
// cost.

#include "kernels/chain.cuh"
#include "kernels/staged/settle.cuh"
#include "kernels/staged/window.cuh"

namespace crowd::CROWD_STAGED {

namespace {

struct ResolveShared : SettledIndices<threads> {
  std::uint32_t block;    ///< number, in rank order
  std::uint32_t crowded;  ///< 1 if a candidate of this block waits for all blocks before it
  std::uint32_t before;   ///< survivors in the blocks before
  // For crowded blocks: blocks before this one that have listed their survivors, and how many these are.
  std::uint32_t done;
  std::uint32_t survivors;
  std::uint32_t in_warp[warps];
  // For settle_block(): candidates of this block that are not suppressed, in rank order.
  float4 box[threads];
  std::int32_t label[threads];
  std::uint8_t suppressed[threads];
  bool survives[threads];
  Chunk chunk;
};

/// A thread's candidate.
struct Pending {
  std::uint32_t place;
  Decision decision;
  std::uint32_t suppressor[SuppressorList::room];
  std::uint32_t undecided_suppressors;  ///< a bit for each listed suppressor that is not known to be suppressed
  bool more;                            ///< there are suppressors that are not listed
  bool measured;                        ///< whether `crowded` has been determined
  bool crowded;                         ///< its window is too large to be looked through again
  std::uint32_t seen;                   ///< if crowded: survivors it has been compared with

  __device__ Pending(std::uint32_t at, Decision known)
      : place(at),
        decision(known),
        suppressor{},
        undecided_suppressors(0),
        more(false),
        measured(false),
        crowded(false),
        seen(0) {}
  __device__ void take(const SuppressorList& list) {
    undecided_suppressors = (1u << list.count()) - 1;
    more = list.more();
#pragma unroll
    for (unsigned r = 0; r < SuppressorList::room; ++r)
      suppressor[r] = list.position(r);
  }
  __device__ bool is_undecided() const {
    return !decision.is_decided();
  }
};

/// Updates the candidate's decision from those of its listed suppressors, and publishes it if it has changed.
__device__ void look(const Stage& stage, Pending& pending) {
  const Decision before = pending.decision;
  if (pending.decision.is_alias()) {
    pending.decision = pending.decision.follow(stage.decision(pending.decision.position()));
  } else {
    // All loads precede the first test.
    std::uint32_t decision[SuppressorList::room];
#pragma unroll
    for (unsigned r = 0; r < SuppressorList::room; ++r)
      decision[r] =
          (pending.undecided_suppressors >> r & 1 ? stage.decision(pending.suppressor[r]) : Decision::suppressed())
              .word();
    std::uint32_t only = 0;
    std::uint32_t undecided = 0;
    bool suppressed = false;
#pragma unroll
    for (unsigned r = 0; r < SuppressorList::room; ++r) {
      const bool possible = !Decision::of_word(decision[r]).is_suppressed();
      suppressed |= Decision::of_word(decision[r]).is_kept();
      undecided |= static_cast<unsigned>(possible) << r;
      only = possible ? pending.suppressor[r] : only;
    }
    pending.undecided_suppressors = undecided;
    if (suppressed)
      pending.decision = Decision::suppressed();
    else if (!pending.undecided_suppressors && !pending.more)
      pending.decision = Decision::kept();
    else if (!pending.more && !(pending.undecided_suppressors & (pending.undecided_suppressors - 1)))
      pending.decision = Decision::alias(only, false);
  }
  if (pending.decision.word() != before.word())
    stage.decide(pending.place, pending.decision);
}

/// Decides candidates of the warp by each other, where their suppressors are among its own. For a whole warp.
__device__ void look_in_warp(const Stage& stage, Pending& pending) {
  const bool undecided = pending.is_undecided() && !pending.crowded;
  const bool is_alias = pending.decision.is_alias();
  std::uint32_t elsewhere = is_alias ? 1 : pending.undecided_suppressors;
  std::uint32_t suppressors = 0;
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    const std::uint32_t place = __shfl_sync(all_lanes, undecided ? pending.place : ~0u, static_cast<int>(lane));
    std::uint32_t same = 0;
#pragma unroll
    for (unsigned r = 0; r < SuppressorList::room; ++r)
      same |= static_cast<std::uint32_t>((r == 0 && is_alias ? pending.decision.position() : pending.suppressor[r]) ==
                                         place)
              << r;
    suppressors |= static_cast<std::uint32_t>((elsewhere & same) != 0) << lane;
    elsewhere &= ~same;
  }
  // An alias of the same as another has no suppressor that is known.
  const bool unknown = pending.more || elsewhere || (is_alias && pending.decision.same());
  const DecidedLanes decided = decide_lanes(undecided, false, unknown, unknown && is_alias ? 0 : suppressors);
  const unsigned lane = threadIdx.x % warp_size;
  if (decided.kept >> lane & 1)
    pending.decision = Decision::kept();
  else if (decided.suppressed >> lane & 1)
    pending.decision = Decision::suppressed();
  else
    return;
  stage.decide(pending.place, pending.decision);
}

__device__ std::uint64_t warp_max(std::uint64_t value) {
  const auto high = static_cast<std::uint32_t>(value >> 32);
  const std::uint32_t top = crowd::warp_max(high);
  const std::uint32_t low = crowd::warp_max(high == top ? static_cast<std::uint32_t>(value) : 0);
  return static_cast<std::uint64_t>(top) << 32 | low;
}

/// Lists the suppressors of the candidate of `lane` anew, leaving out those that are suppressed by now. For a whole
/// warp.
__device__ void refill(const Stage& stage, Pending& pending, int lane) {
  const Subject its = stage.subject(__shfl_sync(all_lanes, pending.place, lane));
  std::uint64_t best = 0;
  std::uint64_t second = 0;
  std::uint32_t found = 0;
  const bool suppressed = visit_suppressors_by_warp(
      stage, Walk(stage, its.box), its, [&](std::uint32_t suppressor) { return stage.decision(suppressor).word(); },
      [&](std::uint32_t suppressor, std::uint64_t key, std::uint32_t word) {
        const Decision decision = Decision::of_word(word);
        if (decision.is_suppressed())
          return false;
        const std::uint64_t entry = by_score(key, suppressor);
        second = max(second, min(best, entry));
        best = max(best, entry);
        ++found;
        return decision.is_kept();
      });
  found = warp_sum(found);
  const bool is_owner = static_cast<int>(threadIdx.x % warp_size) == lane;
  std::uint32_t count = 0;
#pragma unroll
  for (unsigned r = 0; r < SuppressorList::room; ++r) {
    const std::uint64_t top = warp_max(best);
    if (top && top == best) {
      best = second;
      second = 0;
    }
    if (is_owner)
      pending.suppressor[r] = static_cast<std::uint32_t>(top);
    count += top != 0;
  }
  if (!is_owner)
    return;
  pending.undecided_suppressors = (1u << count) - 1;
  pending.more = found > count;
  if (suppressed || !found) {
    pending.decision = suppressed ? Decision::suppressed() : Decision::kept();
    stage.decide(pending.place, pending.decision);
  }
}

/// Looks, and refills lists that are used up; `complete`: refills all that are incomplete. For a whole warp.
__device__ void look_and_refill(const Stage& stage, Pending& pending, bool complete) {
  if (pending.is_undecided() && !pending.crowded)
    look(stage, pending);
  const bool lacks =
      pending.is_undecided() && !pending.crowded && pending.more && (complete || !pending.undecided_suppressors);
  if (lacks && !pending.measured) {
    pending.measured = true;
    pending.crowded = Walk(stage, stage.subject(pending.place).box).is_longer_than(tuning::staged_refill);
  }
  for (unsigned todo = __ballot_sync(all_lanes, lacks && !pending.crowded); todo; todo &= todo - 1)
    refill(stage, pending, __ffs(static_cast<int>(todo)) - 1);
}

/// Updates shared.done and shared.survivors. For the first warp; after a barrier the block may read `ranked` so far.
__device__ void see_blocks_before(const Stage& stage, ResolveShared& shared) {
  const unsigned lane = threadIdx.x % warp_size;
  unsigned listing = all_lanes;
  std::uint32_t done = shared.done;
  std::uint32_t survivors = shared.survivors;
  while (listing == all_lanes) {
    const std::uint32_t word = done + lane < shared.block ? load_relaxed(&stage.look_back()[done + lane]) : 0;
    listing = __ballot_sync(all_lanes, (word & listed) == listed);
    const int first_not = __ffs(static_cast<int>(~listing)) - 1;
    const int more = first_not < 0 ? static_cast<int>(warp_size) : first_not;
    if (more)
      survivors = __shfl_sync(all_lanes, word >> look_back_bits, more - 1);
    done += static_cast<std::uint32_t>(more);
  }
  acquire_loaded();
  if (lane == 0) {
    shared.done = done;
    shared.survivors = survivors;
  }
}

/// Compares crowded candidates with the survivors that are new since the last call. For a whole warp.
__device__ void try_survivors(const Stage& stage, Pending& pending, std::uint32_t survivors) {
  const std::uint32_t* const list = stage.a.arrays.ranked + stage.slot;
  for (unsigned todo = __ballot_sync(all_lanes, pending.is_undecided() && pending.crowded && pending.seen < survivors);
       todo; todo &= todo - 1) {
    const int lane = __ffs(static_cast<int>(todo)) - 1;
    const bool is_owner = static_cast<int>(threadIdx.x % warp_size) == lane;
    const Subject its = stage.subject(__shfl_sync(all_lanes, pending.place, lane));
    bool suppressed = false;
    for (std::uint32_t s = __shfl_sync(all_lanes, pending.seen, lane); s < survivors && !suppressed; s += warp_size) {
      const std::uint32_t mine = s + threadIdx.x % warp_size;
      suppressed = __any_sync(all_lanes, mine < survivors && stage.suppresses_at(load_relaxed(list + mine), its));
    }
    if (!is_owner)
      continue;
    pending.seen = survivors;
    if (suppressed) {
      pending.decision = Decision::suppressed();
      stage.decide(pending.place, pending.decision);
    }
  }
}

/// Threads before this one that are `on`, and in `total` all of the block. For a whole block.
__device__ std::uint32_t count_before(ResolveShared& shared, bool on, std::uint32_t& total) {
  const unsigned lane = threadIdx.x % warp_size;
  const unsigned mask = __ballot_sync(all_lanes, on);
  __syncthreads();
  if (lane == 0)
    shared.in_warp[threadIdx.x / warp_size] = static_cast<std::uint32_t>(__popc(mask));
  __syncthreads();
  const std::uint32_t in_warp = lane < warps ? shared.in_warp[lane] : 0;
  total = warp_sum(in_warp);
  return warp_sum(lane < threadIdx.x / warp_size ? in_warp : 0) +
         static_cast<std::uint32_t>(__popc(mask & ((1u << lane) - 1)));
}

/// Classic greedy among the block's candidates that are not suppressed, once all blocks before are decided. For a whole
/// block.
__device__ void settle_block(const Stage& stage, Pending& pending, ResolveShared& shared) {
  const bool remaining = !pending.decision.is_suppressed();
  std::uint32_t total;
  const std::uint32_t at = count_before(shared, remaining, total);
  if (remaining) {
    const Subject mine = stage.subject(pending.place);
    shared.box[at] = mine.box;
    shared.label[at] = mine.label;
    shared.suppressed[at] = 0;
    shared.set(at, rank_index(mine.key));
  }
  __syncthreads();
  const auto overlaps_counted = [&](std::uint32_t hi, std::uint32_t lo, const CrowdNmsBox& hi_box,
                                    const CrowdNmsBox& lo_box) {
    return overlaps(hi_box, lo_box, stage.a.rule.overlap) &&
           stage.a.rules.count(stage.a.frames, stage.frame, shared.at(hi), shared.at(lo), hi_box, lo_box);
  };
  settle_residue(shared.chunk, {shared.box, shared.label, shared.suppressed, total}, stage.a.rule.by_class,
                 overlaps_counted, [&](std::uint32_t p, bool survives) { shared.survives[p] = survives; });
  __syncthreads();
  if (!pending.is_undecided())
    return;
  pending.decision = shared.survives[at] ? Decision::kept() : Decision::suppressed();
  stage.decide(pending.place, pending.decision);
}

__device__ void settle_crowd(const Stage& stage, Pending& pending, ResolveShared& shared) {
  while (true) {
    if (threadIdx.x < warp_size)
      see_blocks_before(stage, shared);
    __syncthreads();
    const bool all_before = shared.done == shared.block;
    look_and_refill(stage, pending, all_before);
    try_survivors(stage, pending, shared.survivors);
    if (!__syncthreads_or(pending.is_undecided()))
      return;
    if (all_before)
      return settle_block(stage, pending, shared);
  }
}

__device__ void settle(const Stage& stage, Pending& pending, ResolveShared& shared) {
  unsigned crowded = 0;
  for (unsigned looks = 0; __any_sync(all_lanes, pending.is_undecided()) && !crowded; ++looks) {
    look_and_refill(stage, pending, false);
    if (unlikely(looks >= tuning::staged_looks))
      look_in_warp(stage, pending);
    const bool mine = __any_sync(all_lanes, pending.is_undecided() && pending.crowded);
    if (threadIdx.x % warp_size == 0)
      crowded = atomicOr(&shared.crowded, static_cast<unsigned>(mine)) | static_cast<unsigned>(mine);
    crowded = __shfl_sync(all_lanes, crowded, 0);
  }
  if (__syncthreads_or(pending.is_undecided()))
    settle_crowd(stage, pending, shared);
}

/// Survivors in the blocks before this one, by decoupled look-back. For the first warp.
__device__ std::uint32_t look_back(const Stage& stage, std::uint32_t block) {
  std::uint32_t before = 0;
  for (std::uint32_t end = block; end;) {
    const unsigned lane = threadIdx.x % warp_size;
    std::uint32_t word;
    do
      word = lane < end ? load_relaxed(&stage.look_back()[end - 1 - lane]) : static_cast<std::uint32_t>(up_to_end);
    while (__any_sync(all_lanes, (word & listed) == nothing));
    const unsigned sums = __ballot_sync(all_lanes, (word & up_to_end) != 0);
    const unsigned last = sums ? static_cast<unsigned>(__ffs(static_cast<int>(sums))) - 1 : warp_size - 1;
    before += warp_sum(lane <= last ? word >> look_back_bits : 0);
    if (sums)
      break;
    end -= warp_size;
  }
  return before;
}

__device__ void write(const Stage& stage, ResolveShared& shared, const Pending& pending, bool last) {
  const StagedArguments& a = stage.a;
  const bool survives = pending.decision.is_kept();
  std::uint32_t total;
  const std::uint32_t at = count_before(shared, survives, total);
  if (threadIdx.x < warp_size) {
    std::uint32_t* const word = &stage.look_back()[shared.block];
    if (threadIdx.x == 0)
      store_relaxed(word, total << look_back_bits | in_block);
    const std::uint32_t before = look_back(stage, shared.block);
    if (threadIdx.x == 0) {
      store_relaxed(word, (before + total) << look_back_bits | up_to_end);
      shared.before = before;
    }
  }
  __syncthreads();
  const std::uint32_t rank = shared.before + at;
  if (survives) {
    a.arrays.ranked[stage.slot + rank] = pending.place;
    if (rank < a.out.max_survivors)
      a.out.survivors[static_cast<std::size_t>(stage.frame) * a.out.max_survivors + rank] =
          rank_index(a.arrays.key[stage.slot + pending.place]);
  }
  // The barrier comes before the release, which is then one of all that the block has written.
  __syncthreads();
  if (threadIdx.x)
    return;
  const std::uint32_t survivors = shared.before + total;
  store_release(&stage.look_back()[shared.block], survivors << look_back_bits | listed);
  if (last) {
    const std::uint32_t all = a.frames.count(stage.frame);
    a.out.reports[stage.frame] = {all,
                                  all - a.frames.size(stage.frame),
                                  stage.counters().invalid,
                                  stage.counters().below_threshold,
                                  survivors,
                                  survivors > a.out.max_survivors ? survivors - a.out.max_survivors : 0};
  }
}

}  // namespace

__global__ void __launch_bounds__(threads) resolve(StagedArguments a) {
  __shared__ ResolveShared shared;
  const Stage stage(a, blockIdx.y);
  if (threadIdx.x == 0) {
    shared.block = atomicAdd(&stage.counters().tickets, 1u);
    shared.crowded = shared.done = shared.survivors = 0;
  }
  pdl_wait();
  __syncthreads();
  const std::uint32_t size = stage.size();
  if (shared.block >= stage.blocks())
    return;
  const std::uint32_t rank = shared.block * threads + threadIdx.x;
  const std::uint32_t place = rank < size ? a.arrays.ranked[stage.slot + rank] : 0;
  const Decision known = rank < size ? stage.decision(place) : Decision::suppressed();
  Pending pending(place, known);
  if (pending.is_undecided())
    pending.take(stage.list_of(place));
  settle(stage, pending, shared);
  if (a.out.members && rank < size)
    stage.members()[place] = 0;
  write(stage, shared, pending, shared.block == stage.blocks() - 1);
}

}  // namespace crowd::CROWD_STAGED
