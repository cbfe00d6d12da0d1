// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Second half of the fused kernel, by the first block of a frame's group: settle what is undecided, and write.
#pragma once

#include "fused.cuh"

namespace crowd::fused {

constexpr std::uint32_t word_bits = 32;

/// Sets of candidates, a bit each, in the block's shared memory used anew.
struct Finish {
  std::uint32_t* undecided;
  std::uint32_t* kept;
  std::uint32_t* killed;   ///< this round: a surviving better rival
  std::uint32_t* blocked;  ///< this round: an undecided better rival
  std::uint32_t* by_rank;  ///< a set, in rank order
  std::uint32_t* before;   ///< members of by_rank in the words before
  std::uint32_t* edge;
  std::uint16_t* rank;
  std::uint32_t words;
};

__device__ inline Finish carve_finish(void* memory, std::uint32_t n, std::uint32_t capacity) {
  Finish f;
  f.words = n / word_bits + 1;
  f.undecided = static_cast<std::uint32_t*>(memory);
  f.kept = f.undecided + f.words;
  f.killed = f.kept + f.words;
  f.blocked = f.killed + f.words;
  f.by_rank = f.blocked + f.words;
  f.before = f.by_rank + f.words;
  f.edge = f.before + f.words;
  f.rank = reinterpret_cast<std::uint16_t*>(f.edge + edges_per_candidate * capacity);
  return f;
}

__device__ inline bool has(const std::uint32_t* set, std::uint32_t i) {
  return set[i / word_bits] >> i % word_bits & 1;
}

__device__ inline void add(std::uint32_t* set, std::uint32_t i) {
  atomicOr(&set[i / word_bits], 1u << i % word_bits);
}

/// Reads the verdicts and ranks of all blocks. Leaves the numbers of malformed and of low-scored candidates in
/// control.count.
template <bool greedy>
__device__ void load_verdicts(const Finish& f, const Frame& frame, const Arguments& a, Control& control) {
  const std::uint32_t* verdicts = (greedy ? a.verdicts() : a.scratch.state) + frame.slot;
  if (threadIdx.x < 2)
    control.count[threadIdx.x] = 0;
  __syncthreads();
  for (std::uint32_t base = 0; base < f.words * word_bits; base += threads) {
    const std::uint32_t i = base + threadIdx.x;
    const std::uint32_t verdict = i < frame.n ? __ldcg(&verdicts[i]) : dead;
    const bool stays = verdict == (greedy ? kept : undecided);
    const unsigned survivors = __ballot_sync(all_lanes, stays);
    const unsigned open = __ballot_sync(all_lanes, greedy && verdict == undecided);
    const unsigned malformed = __ballot_sync(all_lanes, verdict == invalid);
    const unsigned low = __ballot_sync(all_lanes, verdict == below_threshold);
    if (verdict <= dominated || verdict == kept)
      f.rank[i] = static_cast<std::uint16_t>(__ldcg(&a.ranks()[frame.slot + i]));
    if (threadIdx.x % warp_size || i / word_bits >= f.words)
      continue;
    f.kept[i / word_bits] = survivors;
    f.undecided[i / word_bits] = open;
    f.killed[i / word_bits] = f.blocked[i / word_bits] = 0;
    if (malformed)
      atomicAdd(&control.count[0], static_cast<std::uint32_t>(__popc(malformed)));
    if (low)
      atomicAdd(&control.count[1], static_cast<std::uint32_t>(__popc(low)));
  }
  __syncthreads();
}

/// Rounds over the edges: an undecided candidate with a surviving better rival dies, one with no undecided better rival
/// survives. True if that settled everything.
__device__ inline bool run_rounds(const Finish& f, const Frame& frame, const Arguments& a, std::uint32_t edge_count) {
  for (std::uint32_t e = threadIdx.x; e < edge_count; e += threads)
    f.edge[e] = __ldcg(&a.edges()[edges_per_candidate * frame.slot + e]);
  for (unsigned round = 0; round < tuning::fused_rounds; ++round) {
    for (std::uint32_t e = threadIdx.x; e < edge_count; e += threads) {
      const std::uint32_t edge = f.edge[e];
      const std::uint32_t hi = edge >> 16;
      const std::uint32_t lo = edge & 0xffff;
      if (!has(f.undecided, lo))
        continue;
      if (has(f.kept, hi))
        add(f.killed, lo);
      else if (has(f.undecided, hi))
        add(f.blocked, lo);
    }
    __syncthreads();
    bool open = false;
    for (std::uint32_t w = threadIdx.x; w < f.words; w += threads) {
      const std::uint32_t undecided_now = f.undecided[w];
      f.kept[w] |= undecided_now & ~f.killed[w] & ~f.blocked[w];
      f.undecided[w] = undecided_now & f.blocked[w] & ~f.killed[w];
      f.killed[w] = f.blocked[w] = 0;
      open |= f.undecided[w] != 0;
    }
    if (!__syncthreads_or(open))
      return true;
  }
  return false;
}

/// Puts a set in rank order; position_of() then tells the place of a member. Returns its size.
__device__ inline std::uint32_t order(const Finish& f, const std::uint32_t* set, std::uint32_t n, Control& control) {
  __syncthreads();
  for (std::uint32_t w = threadIdx.x; w < f.words; w += threads)
    f.by_rank[w] = 0;
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < n; i += threads)
    if (has(set, i))
      add(f.by_rank, f.rank[i]);
  __syncthreads();
  if (threadIdx.x < warp_size) {
    std::uint32_t sum = 0;
    for (std::uint32_t base = 0; base < f.words; base += warp_size) {
      const std::uint32_t w = base + threadIdx.x;
      const std::uint32_t mine = w < f.words ? static_cast<std::uint32_t>(__popc(f.by_rank[w])) : 0;
      std::uint32_t upto = mine;
      for (unsigned step = 1; step < warp_size; step *= 2) {
        const std::uint32_t other = __shfl_up_sync(all_lanes, upto, step);
        upto += threadIdx.x >= step ? other : 0;
      }
      if (w < f.words)
        f.before[w] = sum + upto - mine;
      sum += __shfl_sync(all_lanes, upto, warp_size - 1);
    }
    if (threadIdx.x == 0)
      control.total = sum;
  }
  __syncthreads();
  return control.total;
}

__device__ inline std::uint32_t position_of(const Finish& f, std::uint32_t i) {
  const std::uint32_t rank = f.rank[i];
  const std::uint32_t better = f.by_rank[rank / word_bits] & ((1u << rank % word_bits) - 1);
  return f.before[rank / word_bits] + static_cast<std::uint32_t>(__popc(better));
}

__device__ inline void write_ranked(const Frame& frame, const Arguments& a, std::uint32_t position, std::uint32_t i) {
  const std::size_t at = frame.slot + position;
  const std::size_t from = a.frames.input(frame.index) + i;
  a.scratch.ranked_index[at] = i;
  a.scratch.ranked_key[at] = a.scratch.key[frame.slot + i];
  a.scratch.ranked_box[at] = a.frames.boxes[from];
  a.scratch.ranked_class[at] = a.frames.classes ? a.frames.classes[from] : 0;
  a.scratch.members[at] = 0;
  a.scratch.gone[at] = 0;
}

/// What the rounds leave, by classic greedy: bounded whatever the boxes are.
__device__ inline void settle_rest(const Finish& f, const Frame& frame, const Arguments& a, Control& control,
                                   Chunk& chunk) {
  const std::uint32_t length = order(f, f.undecided, frame.n, control);
  for (std::uint32_t i = threadIdx.x; i < frame.n; i += threads)
    if (has(f.undecided, i))
      write_ranked(frame, a, position_of(f, i), i);
  __syncthreads();
  const Residue residue{a.scratch.ranked_box + frame.slot, a.scratch.ranked_class + frame.slot,
                        a.scratch.gone + frame.slot, length};
  settle_residue(chunk, residue, a.rule, a.by_class, [&](std::uint32_t position, bool survives) {
    if (survives)
      add(f.kept, a.scratch.ranked_index[frame.slot + position]);
  });
}

__device__ inline void write_report(const Frame& frame, const Arguments& a, const Control& control) {
  const std::uint32_t count = a.frames.count(frame.index);
  const std::uint32_t survivors = control.total;
  const std::uint32_t room = a.out.max_survivors;
  a.scratch.leaders.size[frame.index] = survivors;
  a.out.reports[frame.index] = {
      count, count - frame.n, control.count[0], control.count[1], survivors, survivors > room ? survivors - room : 0};
}

/// Survivors in rank order; for the stages behind also the final states and the ranked arrays.
template <bool greedy>
__device__ void write_survivors(const Finish& f, const Frame& frame, const Arguments& a) {
  const std::uint32_t* verdicts = (greedy ? a.verdicts() : a.scratch.state) + frame.slot;
  const std::size_t out = static_cast<std::size_t>(frame.index) * a.out.max_survivors;
  for (std::uint32_t i = threadIdx.x; i < frame.n; i += threads) {
    const bool survives = has(f.kept, i);
    if (a.ranked_too) {
      const std::uint32_t verdict = __ldcg(&verdicts[i]);
      a.scratch.state[frame.slot + i] = survives ? kept : verdict <= dead ? dead : verdict;
    }
    if (!survives)
      continue;
    const std::uint32_t position = position_of(f, i);
    if (position < a.out.max_survivors)
      a.out.survivors[out + position] = i;
    if (a.ranked_too)
      write_ranked(frame, a, position, i);
  }
}

template <bool greedy>
__device__ void finish(void* memory, const Frame& frame, const Arguments& a, Control& control, Chunk& chunk) {
  const Finish f = carve_finish(memory, frame.n, a.frames.capacity);
  load_verdicts<greedy>(f, frame, a, control);
  if (greedy) {
    const std::uint32_t edge_count = __ldcg(&a.edge_count()[frame.index]);
    const bool fits = edge_count <= edges_per_candidate * a.frames.capacity;
    if (!fits || !run_rounds(f, frame, a, edge_count))
      settle_rest(f, frame, a, control, chunk);
  }
  order(f, f.kept, frame.n, control);
  if (threadIdx.x == 0)
    write_report(frame, a, control);
  write_survivors<greedy>(f, frame, a);
}

}  // namespace crowd::fused
