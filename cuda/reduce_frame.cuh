// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The reduce of a frame by one block: from the rows of the map to survivors in rank order. A candidate without rivals
// survives, the paper's result. The others wait for the fates of theirs (resolve.cuh).
#pragma once

#include "direct.cuh"
#include "rank_block.cuh"

namespace crowd::direct {

/// What the threads of a block share.
struct Verdicts {
  std::uint32_t warp_total[32];
  std::uint32_t malformed, low, waiting;
};

/// Dynamic shared memory for a block, and what it is used for in turn.
struct Memory {
  std::uint32_t* fate;     ///< by index, and one dead for `nobody`; before that the bins' starts
  std::uint16_t* waiting;  ///< indices; before that the keys in order of bins
  std::uint32_t* members;  ///< by index; takes the place of those who wait
  Ranking ranking;
};

CROWD_HD constexpr std::size_t memory_bytes(unsigned size) {
  return (capacity_max + 4) * sizeof(std::uint32_t) +
         rank_items * size * (sizeof(std::uint64_t) + 2 * sizeof(std::uint16_t));
}

__device__ inline Memory carve(uint4* memory) {
  Memory m;
  m.fate = m.ranking.start = reinterpret_cast<std::uint32_t*>(memory);
  m.ranking.rank_key = reinterpret_cast<std::uint64_t*>(m.fate + capacity_max + 4);
  m.ranking.by_rank = reinterpret_cast<std::uint16_t*>(m.ranking.rank_key + rank_items * blockDim.x);
  m.ranking.rank_of = m.ranking.by_rank + rank_items * blockDim.x;
  m.waiting = reinterpret_cast<std::uint16_t*>(m.ranking.rank_key);
  m.members = reinterpret_cast<std::uint32_t*>(m.ranking.rank_key);
  return m;
}

struct View {
  const Arguments& a;
  Verdicts& shared;
  Memory memory;
  std::uint32_t frame, n;
  std::size_t slot, input;
  const Row* rows;
  const std::uint16_t* lists;  ///< of tile after tile
  std::uint32_t tile, tile_room;

  __device__ const std::uint16_t* list(std::uint32_t index, std::uint32_t begin) const {
    return lists + index / tile * tile_room + begin;
  }
  /// A word that is less the better the candidate's rank, and ends in its index.
  __device__ std::uint32_t by_rank(std::uint32_t index) const {
    return static_cast<std::uint32_t>(memory.ranking.rank_of[index]) << 16 | index;
  }

  __device__ Fate fate(std::uint32_t index) const {
    return Fate::of_word(memory.fate[index]);
  }
  __device__ void publish(std::uint32_t index, Fate fate) const {
    memory.fate[index] = fate.word();
  }
};

/// Ranks all candidates, without waiting for the map, and counts those that do not count.
__device__ inline void rank(const View& view) {
  float score[rank_items];
  std::uint32_t counting = 0;
  std::uint32_t malformed = 0;
  std::uint32_t low = 0;
#pragma unroll
  for (unsigned k = 0; k < rank_items; ++k) {
    const std::uint32_t i = k * blockDim.x + threadIdx.x;
    score[k] = i < view.n ? view.a.frames.scores[view.input + i] : 0.0f;
    if (i >= view.n)
      continue;
    const State stands = standing(view.a, view.a.frames.boxes[view.input + i], score[k]);
    counting |= static_cast<unsigned>(stands == undecided) << k;
    malformed += stands == invalid;
    low += stands == below_threshold;
  }
  malformed = warp_sum(malformed);
  low = warp_sum(low);
  if (threadIdx.x % 32 == 0 && malformed)
    atomicAdd(&view.shared.malformed, malformed);
  if (threadIdx.x % 32 == 0 && low)
    atomicAdd(&view.shared.low, low);
  if (view.n)
    rank_block(view.a.frames, view.input, view.n, counting, score, view.memory.ranking, view.shared.warp_total);
}

/// The paper's result: who has no rivals survives. In method greedy the others are open.
template <bool greedy>
__device__ void begin(const View& view, Row (&row)[rank_items]) {
#pragma unroll
  for (unsigned k = 0; k < rank_items; ++k)
    if (const std::uint32_t i = k * blockDim.x + threadIdx.x; i < view.n) {
      row[k] = view.rows[i];
      view.publish(i, row[k].rivals == 0 ? Fate::kept() : greedy ? Fate::open() : Fate::dead());
    }
  if (threadIdx.x == 0)
    view.publish(nobody, Fate::dead());
}

/// Most candidates lose to their best rival right away. The rest is listed, so that every lane has one.
__device__ inline void list_waiting(const View& view, const Row (&row)[rank_items]) {
  const unsigned lane = threadIdx.x % 32;
  unsigned dies = 0;
#pragma unroll
  for (unsigned k = 0; k < rank_items; ++k) {
    const std::uint32_t i = k * blockDim.x + threadIdx.x;
    const bool open = i < view.n && row[k].rivals;
    const bool beaten = open && view.fate(row[k].best).is_kept();
    dies |= static_cast<unsigned>(beaten) << k;
    const unsigned waiting = __ballot_sync(all_lanes, open && !beaten);
    std::uint32_t place = 0;
    if (lane == 0 && waiting)
      place = atomicAdd(&view.shared.waiting, static_cast<std::uint32_t>(__popc(waiting)));
    place = __shfl_sync(all_lanes, place, 0) + __popc(waiting & ((1u << lane) - 1));
    if (open && !beaten)
      view.memory.waiting[place] = static_cast<std::uint16_t>(i);
  }
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < rank_items; ++k)
    if (dies >> k & 1)
      view.publish(k * blockDim.x + threadIdx.x, Fate::dead());
}

/// A candidate that waits.
struct Waiting {
  std::uint32_t index = 0;
  Fate fate = Fate::dead();
  std::uint16_t rivals = 0;
  std::uint16_t blocker = 0;  ///< a rival not known dead
  std::uint16_t list = not_listed;
  bool alone = false;     ///< the blocker is the only one
  bool searches = false;  ///< its blocker is dead, and there is no list to find another in
};

__device__ inline Waiting take(const View& view, std::uint32_t number) {
  Waiting it;
  if (number >= view.shared.waiting)
    return it;
  it.index = view.memory.waiting[number];
  const Row row = view.rows[it.index];
  it.fate = Fate::open();
  it.rivals = row.rivals;
  it.blocker = row.best;
  it.list = row.list;
  it.alone = row.rivals == 1;
  return it;
}

/// Its blocker being dead, looks through the list for the best-ranked other, which may live longest.
__device__ inline void look_further(const View& view, Waiting& it) {
  const auto* list = reinterpret_cast<const uint2*>(view.list(it.index, it.list));
  std::uint32_t open = 0;
  std::uint32_t best = ~0u;
  bool beaten = false;
  for (std::uint32_t k = 0; k < ceil_div(it.rivals, list_step); ++k) {
    const uint2 some = list[k];
    const std::uint32_t pair[] = {some.x, some.y};
#pragma unroll
    for (unsigned p = 0; p < list_step; ++p) {
      const std::uint32_t rival = p % 2 ? pair[p / 2] >> 16 : pair[p / 2] & 0xffff;
      const Fate fate = view.fate(rival);
      beaten |= fate.is_kept();
      if (fate.is_decided())
        continue;
      ++open;
      best = min(best, view.by_rank(rival));
    }
  }
  it.alone = open == 1;
  it.blocker = static_cast<std::uint16_t>(best);
  if (beaten || !open)
    it.fate = beaten ? Fate::dead() : Fate::kept();
}

/// One look at the rival it waits for.
__device__ inline void look(const View& view, Waiting& it) {
  if (it.fate.is_tied()) {
    it.fate = it.fate.follow(view.fate(it.fate.position()));
  } else {
    const Fate rival = view.fate(it.blocker);
    if (rival.is_kept())
      it.fate = Fate::dead();
    else if (it.alone)
      it.fate = rival.is_dead() ? Fate::kept() : Fate::tied(it.blocker, false).follow(rival);
    else if (rival.is_dead() && it.list == not_listed)
      it.searches = true;
    else if (rival.is_dead())
      look_further(view, it);
  }
}

/// A warp goes through all candidates for one that has rivals beyond any list: what it is now, and who blocks it.
__device__ inline Fate search(const View& view, std::uint32_t index, std::uint32_t& blocker) {
  const Candidate mine = fetch(view.a, view.input, index);
  for (std::uint32_t base = 0; base < view.n; base += 32) {
    const std::uint32_t i = base + threadIdx.x % 32;
    const Fate fate = i < view.n ? view.fate(i) : Fate::dead();
    // Those that do not count have no rivals, hence look kept.
    const bool hit =
        !fate.is_dead() && counts(view.a, view.input, i) && beats(fetch(view.a, view.input, i), mine, view.a.rule);
    if (__any_sync(all_lanes, hit && fate.is_kept()))
      return Fate::dead();
    if (const unsigned hits = __ballot_sync(all_lanes, hit)) {
      blocker = base + static_cast<std::uint32_t>(__ffs(static_cast<int>(hits))) - 1;
      return Fate::open();
    }
  }
  return Fate::kept();
}

__device__ inline void search_all(const View& view, Waiting& it) {
  for (unsigned todo = __ballot_sync(all_lanes, it.searches); todo; todo &= todo - 1) {
    const int whose = __ffs(static_cast<int>(todo)) - 1;
    std::uint32_t blocker = 0;
    const Fate fate = search(view, __shfl_sync(all_lanes, it.index, whose), blocker);
    if (static_cast<int>(threadIdx.x % 32) == whose) {
      it.searches = false;
      it.blocker = static_cast<std::uint16_t>(blocker);
      it.fate = fate;
    }
    __syncwarp();
  }
}

/// All look, then all say what they have seen, until every fate is decided. Ends: the best-ranked candidate that is
/// open has no open rival.
__device__ inline void decide(const View& view) {
  Waiting it[rank_items];
#pragma unroll
  for (unsigned k = 0; k < rank_items; ++k)
    it[k] = take(view, k * blockDim.x + threadIdx.x);
  const unsigned rounds = ceil_div(view.shared.waiting, blockDim.x);
  bool open = !it[0].fate.is_decided();
  while (__syncthreads_or(open)) {
    unsigned news = 0;
#pragma unroll
    for (unsigned k = 0; k < rank_items; ++k) {
      if (k >= rounds)
        break;
      const Fate before = it[k].fate;
      if (!before.is_decided())
        look(view, it[k]);
      if (__any_sync(all_lanes, it[k].searches))
        search_all(view, it[k]);
      news |= static_cast<unsigned>(it[k].fate.word() != before.word()) << k;
    }
    __syncthreads();
    open = false;
#pragma unroll
    for (unsigned k = 0; k < rank_items; ++k) {
      if (news >> k & 1)
        view.publish(it[k].index, it[k].fate);
      open |= !it[k].fate.is_decided();
    }
  }
}

/// The best-ranked survivor on its list.
__device__ inline std::uint32_t stand_in_on_list(const View& view, const Row& row, std::uint32_t index) {
  const std::uint16_t* list = view.list(index, row.list);
  std::uint32_t best = ~0u;
  for (std::uint32_t k = 0; k < row.rivals; ++k) {
    const std::uint32_t rival = list[k];
    if (view.fate(rival).is_kept())
      best = min(best, view.by_rank(rival));
  }
  return best == ~0u ? CROWD_NMS_NONE : best & 0xffff;
}

/// The best-ranked survivor of all that overlaps it, by a warp.
__device__ inline std::uint32_t stand_in_of_all(const View& view, std::uint32_t index) {
  const Candidate mine = fetch(view.a, view.input, index);
  std::uint32_t best = ~0u;
  for (std::uint32_t i = threadIdx.x % 32; i < view.n; i += 32)
    if (view.fate(i).is_kept() && counts(view.a, view.input, i) &&
        beats(fetch(view.a, view.input, i), mine, view.a.rule))
      best = min(best, view.by_rank(i));
  best = warp_min(best);
  return best == ~0u ? CROWD_NMS_NONE : best & 0xffff;
}

/// Writes who stands for whom, and counts whom each survivor stands for.
__device__ inline void write_stand_ins(const View& view) {
  for (std::uint32_t i = threadIdx.x; i < view.n; i += blockDim.x)
    view.memory.members[i] = 0;
  __syncthreads();
  for (std::uint32_t base = 0; base < view.n; base += blockDim.x) {
    const std::uint32_t i = base + threadIdx.x;
    const bool there = i < view.n && counts(view.a, view.input, i);
    const Row row = there ? view.rows[i] : Row{};
    const bool survives = there && view.fate(i).is_kept();
    const bool searches = there && !survives && row.list == not_listed;
    std::uint32_t stand_in = survives ? i : CROWD_NMS_NONE;
    if (there && !survives && !searches)
      stand_in = stand_in_on_list(view, row, i);
    for (unsigned todo = __ballot_sync(all_lanes, searches); todo; todo &= todo - 1) {
      const int whose = __ffs(static_cast<int>(todo)) - 1;
      const std::uint32_t found = stand_in_of_all(view, __shfl_sync(all_lanes, i, whose));
      stand_in = static_cast<int>(threadIdx.x % 32) == whose ? found : stand_in;
    }
    if (stand_in != CROWD_NMS_NONE)
      atomicAdd(&view.memory.members[stand_in], 1u);
    if (i < view.n && view.a.out.stand_ins)
      view.a.out.stand_ins[view.slot + i] = stand_in;
  }
  __syncthreads();
}

__device__ inline void write_report(const View& view, std::uint32_t survivors) {
  const Arguments& a = view.a;
  const std::uint32_t count = a.frames.count(view.frame);
  const std::uint32_t room = a.out.max_survivors;
  a.out.reports[view.frame] = {count,           count - view.n, view.shared.malformed,
                               view.shared.low, survivors,      survivors > room ? survivors - room : 0};
}

/// A warp takes 128 consecutive ranks of the `ranked` candidates that count.
__device__ inline void write_survivors(const View& view, std::uint32_t ranked) {
  const Arguments& a = view.a;
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  std::uint32_t index[rank_items];
  unsigned surviving[rank_items];
  std::uint32_t count = 0;
#pragma unroll
  for (unsigned k = 0; k < rank_items; ++k) {
    const std::uint32_t rank = (warp * rank_items + k) * 32 + lane;
    index[k] = rank < ranked ? view.memory.ranking.by_rank[rank] : 0;
    surviving[k] = __ballot_sync(all_lanes, rank < ranked && view.fate(index[k]).is_kept());
    count += __popc(surviving[k]);
  }
  if (lane == 0)
    view.shared.warp_total[warp] = count;
  __syncthreads();
  const std::uint32_t total = lane < blockDim.x / 32 ? view.shared.warp_total[lane] : 0;
  std::uint32_t before = warp_sum(lane < warp ? total : 0);
  const std::size_t out = static_cast<std::size_t>(view.frame) * a.out.max_survivors;
#pragma unroll
  for (unsigned k = 0; k < rank_items; ++k) {
    const std::uint32_t position = before + __popc(surviving[k] & ((1u << lane) - 1));
    if ((surviving[k] >> lane & 1) && position < a.out.max_survivors) {
      a.out.survivors[out + position] = index[k];
      if (a.out.members)
        a.out.members[out + position] = view.memory.members[index[k]];
    }
    before += __popc(surviving[k]);
  }
  const std::uint32_t survivors = warp_sum(total);
  if (threadIdx.x == 0)
    write_report(view, survivors);
}

/// From rows to results, `view` being complete and all candidates ranked.
template <bool greedy>
__device__ void reduce_frame(const View& view) {
  Row row[rank_items];
  begin<greedy>(view, row);
  __syncthreads();
  if (greedy) {
    list_waiting(view, row);
    decide(view);
  }
  if (view.a.out.stand_ins || view.a.out.members)
    write_stand_ins(view);
  write_survivors(view, view.n - view.shared.malformed - view.shared.low);
}

}  // namespace crowd::direct
