// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Stage six: decides all candidates and writes the survivors in rank order. A thread per candidate, in rank order,
// looks at the decisions of the suppressors on its list. Blocks draw their numbers as they start, so a block that is
// waited for runs or has ended. What many looks leave undecided, or what is in crowds too dense for lists, waits for
// whole blocks: until all blocks before its own are decided, after which classic greedy decides within the block. That
// bounds what any input can cost.

#include "kernels/chain.cuh"
#include "kernels/staged/window.cuh"

namespace crowd::CROWD_STAGED {

namespace {

struct ResolveShared {
  std::uint32_t block;   ///< number, in rank order
  std::uint32_t waits;   ///< 1 if this block waits for blocks before it
  std::uint32_t before;  ///< survivors in the blocks before
  // For a block that waits: blocks before this one that have listed their survivors, and how many these are.
  std::uint32_t done;
  std::uint32_t survivors;
  std::uint32_t in_warp[warps];
  // Candidates of this block: all, by thread, or those that try_survivors() is for.
  float4 box[threads];
  std::uint64_t key[threads];
  std::int32_t label[threads];
  std::uint32_t hits[warps];  ///< of try_survivors(): a bit for each of these
  /// Of a thread's candidate: bits of threads before, a word for each warp up to its own.
  std::uint32_t suppressors[warps * (warps + 1) / 2][warp_size];
  std::uint32_t open[warps], kept[warps];  ///< bits of threads

  /// In the block's own warp `mine`, of warp `other`.
  __device__ std::uint32_t& suppressors_of(unsigned mine, unsigned other) {
    return suppressors[mine * (mine + 1) / 2 + other][threadIdx.x % warp_size];
  }
  __device__ void put(std::uint32_t at, const Subject& subject) {
    box[at] = subject.box;
    key[at] = subject.key;
    label[at] = subject.label;
  }
  __device__ Subject get(std::uint32_t at, float offset) const {
    return {box[at], area(as_box(box[at]), offset), label[at], key[at]};
  }
};

/// A thread's candidate.
struct Pending {
  std::uint32_t place;
  Decision decision;
  std::uint32_t suppressor[SuppressorList::room];
  std::uint32_t undecided_suppressors;  ///< a bit for each listed suppressor that is not known to be suppressed
  bool more;                            ///< there may be suppressors that are not listed
  std::uint32_t window;                 ///< places in its window, once measured; 0 before
  std::uint32_t places_left;            ///< as many may still be looked at to list suppressors anew

  __device__ Pending(std::uint32_t at, Decision known)
      : place(at),
        decision(known),
        suppressor{},
        undecided_suppressors(0),
        more(false),
        window(0),
        places_left(tuning::staged_refill) {}
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
  /// No listed suppressor is kept or undecided, but there may be others.
  __device__ bool is_used_up() const {
    return is_undecided() && more && !undecided_suppressors;
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

/// Whether the candidate's window may be looked through again. That is counted.
__device__ bool take_refill(const Stage& stage, Pending& pending) {
  if (!pending.is_used_up() || !pending.places_left)
    return false;
  if (!pending.window)
    pending.window = max(Walk(stage, stage.subject(pending.place).box).size_up_to(tuning::staged_refill + 1), 1u);
  const bool enough = pending.window <= pending.places_left;
  pending.places_left = enough ? pending.places_left - pending.window : 0;
  return enough;
}

/// Looks, and refills lists that are used up. For a whole warp.
__device__ void look_and_refill(const Stage& stage, Pending& pending) {
  if (pending.is_undecided())
    look(stage, pending);
  for (unsigned todo = __ballot_sync(all_lanes, take_refill(stage, pending)); todo; todo &= todo - 1)
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
  __syncwarp();
  if (lane == 0) {
    shared.done = done;
    shared.survivors = survivors;
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

/// Compares candidates whose lists are incomplete with survivors `first` to `end` - 1. For a whole block.
__device__ void try_survivors(const Stage& stage, const Subject& mine, Pending& pending, ResolveShared& shared,
                              std::uint32_t first, std::uint32_t end) {
  for (std::uint32_t base = first; base < end; base += threads) {
    const bool waits = pending.is_undecided() && pending.more;
    std::uint32_t total;
    const std::uint32_t at = count_before(shared, waits, total);
    if (!total)
      return;
    if (waits)
      shared.put(at, mine);
    if (threadIdx.x < warps)
      shared.hits[threadIdx.x] = 0;
    // A thread has one survivor, as many threads as there are left the same ones, and each of them its share of the
    // candidates.
    const std::uint32_t columns = min(1u << (32 - __clz(static_cast<int>(end - base - 1))), threads);
    const std::uint32_t survivor = base + (threadIdx.x & (columns - 1));
    const std::uint32_t place =
        survivor < end ? load_relaxed(stage.a.arrays.ranked + stage.slot + survivor) : pending.place;
    const std::uint64_t key = stage.a.arrays.key[stage.slot + place];
    const float4 box = stage.a.arrays.box[stage.slot + place];
    __syncthreads();
    for (std::uint32_t its = threadIdx.x / columns; survivor < end && its < total; its += threads / columns) {
      const Subject subject = shared.get(its, stage.a.rule.overlap.offset);
      if (stage.may_suppress(key, box, subject) && stage.suppresses(key, box, subject))
        atomicOr(&shared.hits[its / warp_size], 1u << its % warp_size);
    }
    __syncthreads();
    if (waits && shared.hits[at / warp_size] >> at % warp_size & 1) {
      pending.decision = Decision::suppressed();
      stage.decide(pending.place, pending.decision);
    }
  }
}

/// Finds which candidates of the block suppress each undecided one, before that is asked for. For a whole block.
__device__ void find_in_block(const Stage& stage, const Subject& mine, const Pending& pending, ResolveShared& shared) {
  shared.put(threadIdx.x, mine);
  const bool matters = !pending.decision.is_suppressed();
  const unsigned mask = __ballot_sync(all_lanes, matters);
  if (threadIdx.x % warp_size == 0)
    shared.open[threadIdx.x / warp_size] = mask;
  __syncthreads();
  for (unsigned warp = 0; warp <= threadIdx.x / warp_size; ++warp) {
    std::uint32_t suppressors = 0;
    if (pending.is_undecided())
      for (unsigned todo = shared.open[warp]; todo; todo &= todo - 1) {
        const unsigned lane = static_cast<unsigned>(__ffs(static_cast<int>(todo))) - 1;
        const unsigned other = warp * warp_size + lane;
        if (other < threadIdx.x && stage.may_suppress(shared.key[other], shared.box[other], mine) &&
            stage.suppresses(shared.key[other], shared.box[other], mine))
          suppressors |= 1u << lane;
      }
    shared.suppressors_of(threadIdx.x / warp_size, warp) = suppressors;
  }
  __syncthreads();
}

/// Greedy among the undecided candidates of the block, once all blocks before are decided and their survivors tried.
/// For a whole block, after find_in_block().
__device__ void settle_block(const Stage& stage, Pending& pending, ResolveShared& shared) {
  const unsigned lane = threadIdx.x % warp_size;
  const unsigned open = __ballot_sync(all_lanes, pending.is_undecided());
  const unsigned survivors = __ballot_sync(all_lanes, pending.decision.is_kept());
  if (lane == 0) {
    shared.open[threadIdx.x / warp_size] = open;
    shared.kept[threadIdx.x / warp_size] = survivors;
  }
  __syncthreads();
  if (threadIdx.x < warp_size) {
    std::uint32_t kept[warps];
#pragma unroll
    for (unsigned warp = 0; warp < warps; ++warp) {
      kept[warp] = shared.kept[warp];
      std::uint32_t suppressors = 0;
      bool falls = false;
#pragma unroll
      for (unsigned before = 0; before <= warp; ++before) {
        suppressors = shared.suppressors_of(warp, before);
        falls |= (suppressors & kept[before]) != 0;
      }
      const bool is_open = shared.open[warp] >> lane & 1;
      kept[warp] |= keep_lanes(__ballot_sync(all_lanes, is_open && !falls), suppressors);
    }
    __syncwarp();
#pragma unroll
    for (unsigned warp = 0; warp < warps; ++warp)
      if (lane == warp)
        shared.kept[warp] = kept[warp];
  }
  __syncthreads();
  if (!pending.is_undecided())
    return;
  const bool survives = shared.kept[threadIdx.x / warp_size] >> lane & 1;
  pending.decision = survives ? Decision::kept() : Decision::suppressed();
  stage.decide(pending.place, pending.decision);
}

/// Until all candidates of the block are decided, at the latest by the blocks before it being done. For a whole block.
__device__ void wait_for_blocks(const Stage& stage, Pending& pending, ResolveShared& shared) {
  const Subject mine = stage.subject(pending.place);
  bool prepared = false;
  for (std::uint32_t tried = 0;;) {
    if (threadIdx.x < warp_size)
      see_blocks_before(stage, shared);
    __syncthreads();
    const std::uint32_t to_come = shared.block - shared.done;
    const std::uint32_t survivors = shared.survivors;
    if (pending.is_undecided())
      look(stage, pending);
    try_survivors(stage, mine, pending, shared, tried, survivors);
    tried = survivors;
    if (!__syncthreads_or(pending.is_undecided()))
      return;
    if (!prepared && to_come <= tuning::staged_sleep_blocks)
      find_in_block(stage, mine, pending, shared);
    prepared |= to_come <= tuning::staged_sleep_blocks;
    if (!to_come)
      return settle_block(stage, pending, shared);
    // The fewer look, the sooner the first of them is done.
    if (to_come > 1)
      sleep_about(min(to_come, tuning::staged_sleep_blocks) * tuning::staged_sleep);
  }
}

__device__ void settle(const Stage& stage, Pending& pending, ResolveShared& shared) {
  unsigned waits = 0;
  for (unsigned looks = 0; __any_sync(all_lanes, pending.is_undecided()) && !waits; ++looks) {
    look_and_refill(stage, pending);
    const bool mine = looks >= tuning::staged_looks || __any_sync(all_lanes, pending.is_used_up());
    if (threadIdx.x % warp_size == 0)
      waits = atomicOr(&shared.waits, static_cast<unsigned>(mine)) | static_cast<unsigned>(mine);
    waits = __shfl_sync(all_lanes, waits, 0);
  }
  if (__syncthreads_or(pending.is_undecided()))
    wait_for_blocks(stage, pending, shared);
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
    shared.waits = shared.done = shared.survivors = 0;
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
