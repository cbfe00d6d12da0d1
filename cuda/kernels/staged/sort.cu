// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Stages one to four: a counting sort of the valid candidates by cell, and by bin of scores. The order within a cell or
// bin differs from run to run; no result depends on it.

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "kernels/staged/large.cuh"

namespace crowd::CROWD_STAGED {

namespace {

constexpr std::uint32_t no_slot = ~0u;

/// A block's contribution to FrameCounters.
struct BlockCounters {
  std::uint32_t width, height, invalid, below_threshold;
};

__device__ void add_up(BlockCounters& counters, float w, float h, Validity state) {
  const bool valid = state == Validity::valid;
  const std::uint32_t width = warp_max(valid ? __float_as_uint(w) : 0);
  const std::uint32_t height = warp_max(valid ? __float_as_uint(h) : 0);
  const auto invalids = static_cast<std::uint32_t>(__popc(__ballot_sync(all_lanes, state == Validity::invalid)));
  const auto belows = static_cast<std::uint32_t>(__popc(__ballot_sync(all_lanes, state == Validity::below_threshold)));
  if (threadIdx.x % warp_size)
    return;
  atomicMax(&counters.width, width);
  atomicMax(&counters.height, height);
  atomicAdd(&counters.invalid, invalids);
  atomicAdd(&counters.below_threshold, belows);
}

struct Loaded {
  std::uint32_t index;
  bool here;
  float4 box;
  float given;  ///< score
  float score;  ///< by which it ranks
};

__device__ float ranked_score(const Stage& stage, std::uint32_t i) {
  const std::size_t at = stage.a.frames.input(stage.frame) + i;
  return stage.a.rules.ranked_score(at, stage.a.frames.scores[at]);
}

__device__ Loaded load(const Stage& stage) {
  const Frames& frames = stage.a.frames;
  const std::uint32_t i = blockIdx.x * threads + threadIdx.x;
  if (i >= frames.size(stage.frame))
    return {i, false, {}, 0.0f, 0.0f};
  const std::size_t at = frames.input(stage.frame) + i;
  const float given = frames.scores[at];
  return {i, true, frames.boxes[at], given, stage.a.rules.ranked_score(at, given)};
}

/// Measures the grid by one warp, and the bins of scores by another. Between barriers.
__device__ void measure(const Stage& stage, Scale& scale) {
  const StagedArguments& a = stage.a;
  const std::uint32_t n = a.frames.size(stage.frame);
  if (threadIdx.x / warp_size == 0) {
    Grid grid = measure_grid(a.frames, stage.frame, n, a.rule, a.shape.columns, a.shape.rows);
    grid.per_x *= tuning::staged_narrow;
    if (threadIdx.x == 0)
      scale.grid = grid;
  } else if (threadIdx.x / warp_size == 1) {
    float scores[lane_scores];
#pragma unroll
    for (unsigned s = 0; s < lane_scores; ++s)
      scores[s] = n ? ranked_score(stage, sample(n, s)) : NAN;
    const ScoreBins bins = measure_scores(scores, n, a.shape.bins);
    if (threadIdx.x == warp_size)
      scale.scores = bins;
  }
}

__device__ SortSlots* slots_of(const Stage& stage) {
  return reinterpret_cast<SortSlots*>(stage.a.arrays.suppressors + stage.slot);
}

}  // namespace

__global__ void __launch_bounds__(threads) clear(StagedArguments a) {
  pdl_wait();
  const ClearedWords words{reinterpret_cast<uint4*>(a.arrays.cleared), a.shape.words / 4};
  words.clear(blockIdx.y, blockIdx.x * threads + threadIdx.x, gridDim.x * threads);
}

__global__ void __launch_bounds__(threads) count(StagedArguments a) {
  if (!a.frames.takes(blockIdx.y))
    return pdl_wait();
  __shared__ Scale scale;
  __shared__ BlockCounters total;
  // Counted in shared memory first: chunks are few, and atomics on them would serialise.
  extern __shared__ std::uint32_t in_chunk[];
  const Stage stage(a, blockIdx.y);
  const auto [i, here, b, given, score] = load(stage);
  measure(stage, scale);
  if (threadIdx.x == 0)
    total = {0, 0, 0, 0};
  for (std::uint32_t c = threadIdx.x; c < a.shape.chunks; c += threads)
    in_chunk[c] = 0;
  pdl_wait();
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0)
    a.arrays.scale[stage.frame] = scale;
  const Validity state =
      here ? a.rules.admit(a.frames.input(stage.frame) + i, b, given, score, a.rule, a.score_threshold)
           : Validity::absent;
  const bool valid = state == Validity::valid;
  const float offset = a.rule.overlap.offset;
  add_up(total, width(b, offset), height(b, offset), state);
  const std::uint32_t cell = scale.grid.cell(b);
  const std::uint32_t bin = a.shape.cells() + scale.scores.bin(score, i);
  if (valid)
    note_size(stage, cell, size_in_cells(scale.grid, width(b, offset), height(b, offset)));
  const SortSlots slots{add_one(stage.starts(), cell, valid), add_one(stage.starts(), bin, valid)};
  if (valid) {
    atomicAdd(&in_chunk[cell / chunk], 1u);
    atomicAdd(&in_chunk[bin / chunk], 1u);
  }
  if (here)
    slots_of(stage)[i] = valid ? slots : SortSlots{no_slot, no_slot};
  if (here && !valid && a.out.representatives)
    a.out.representatives[stage.slot + i] = CROWD_NMS_REJECTED;
  __syncthreads();
  for (std::uint32_t c = threadIdx.x; c < a.shape.chunks; c += threads)
    if (in_chunk[c])
      atomicAdd(&stage.chunk_counts()[c], in_chunk[c]);
  if (threadIdx.x)
    return;
  FrameCounters& counters = stage.counters();
  atomicMax(&counters.width, total.width);
  atomicMax(&counters.height, total.height);
  if (total.invalid)
    atomicAdd(&counters.invalid, total.invalid);
  if (total.below_threshold)
    atomicAdd(&counters.below_threshold, total.below_threshold);
}

// A block per chunk of counters. Each sums up the counts of all chunks before its own.
__global__ void __launch_bounds__(threads) scan(StagedArguments a) {
  if (!a.frames.takes(blockIdx.y))
    return pdl_wait();
  using Reduce = cub::BlockReduce<std::uint32_t, threads>;
  using Scan = cub::BlockScan<std::uint32_t, threads>;
  constexpr unsigned items = chunk / threads;
  __shared__ typename Reduce::TempStorage reduction;
  __shared__ typename Scan::TempStorage temporary;
  __shared__ std::uint32_t before;
  pdl_wait();
  const Stage stage(a, blockIdx.y);
  std::uint32_t* counters = stage.starts() + blockIdx.x * chunk;
  std::uint32_t start[items];
  for (unsigned k = 0; k < items; ++k)
    start[k] = counters[threadIdx.x * items + k];
  std::uint32_t sum = 0;
  for (std::uint32_t c = threadIdx.x; c < blockIdx.x; c += threads)
    sum += stage.chunk_counts()[c];
  sum = Reduce(reduction).Sum(sum);
  if (threadIdx.x == 0)
    before = sum;
  __syncthreads();
  std::uint32_t total;
  Scan(temporary).ExclusiveSum(start, start, total);
  for (unsigned k = 0; k < items; ++k)
    counters[threadIdx.x * items + k] = before + start[k];
  if (blockIdx.x == a.shape.chunks - 1 && threadIdx.x == 0)
    counters[chunk] = before + total;
}

__global__ void __launch_bounds__(threads) scatter(StagedArguments a) {
  if (!a.frames.takes(blockIdx.y))
    return pdl_wait();
  const Stage stage(a, blockIdx.y);
  const auto [i, here, b, given, score] = load(stage);
  const SortSlots slots = here ? slots_of(stage)[i] : SortSlots{no_slot, no_slot};
  const std::uint32_t cell = stage.scale().grid.cell(b);
  const std::uint32_t bin = a.shape.cells() + stage.scale().scores.bin(score, i);
  pdl_wait();
  if (slots.place == no_slot)
    return;
  const std::size_t place = stage.slot + stage.starts()[cell] + slots.place;
  a.arrays.box[place] = b;
  a.arrays.key[place] = rank_key(score, i);
  a.arrays.score[stage.slot + stage.starts()[bin] - stage.size() + slots.score] = rank_key(score, i);
}

}  // namespace crowd::CROWD_STAGED
