// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Stages one to four: a counting sort of the valid candidates by cell, and by bin of scores; and peaks.cuh. The order
// within a cell or bin differs from run to run; no result depends on it.

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "kernels/staged/large.cuh"
#include "kernels/staged/left.cuh"
#include "kernels/staged/peaks.cuh"
#include "kernels/staged/sources.cuh"

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
  std::int32_t label;
};

/// A candidate of the block with that number among those of candidates.
__device__ Loaded load(const Stage& stage, std::uint32_t block) {
  const Frames& frames = stage.a.frames;
  const std::uint32_t i = block * threads + threadIdx.x;
  if (i >= frames.size(stage.frame))
    return {i, false, {}, 0.0f, 0.0f, 0};
  const std::size_t at = frames.input(stage.frame) + i;
  const float given = frames.scores[at];
  return {i, true, frames.boxes[at], given, stage.a.rules.ranked_score(at, given), stage.label_of(i)};
}

/// Measures the grid by one warp, the bins of scores by another, and what the best scores are by others. Between
/// barriers.
__device__ void measure(const Stage& stage, Scale& scale, BestKeys (&best)[best_warps]) {
  const StagedArguments& a = stage.a;
  const std::uint32_t n = a.frames.size(stage.frame);
  const unsigned warp = threadIdx.x / warp_size;
  const bool is_first_lane = threadIdx.x % warp_size == 0;
  if (warp == 0) {
    Grid grid = measure_grid(a.frames, stage.frame, n, a.rule, a.shape.columns, a.shape.rows);
    grid.per_x *= tuning::staged_narrow;
    if (is_first_lane)
      scale.grid = grid;
  } else if (warp == 1) {
    float scores[lane_scores];
#pragma unroll
    for (unsigned s = 0; s < lane_scores; ++s)
      scores[s] = n ? stage.ranked_score(sample(n, s)) : NAN;
    const ScoreBins bins = measure_scores(scores, n, a.shape.bins);
    if (is_first_lane)
      scale.scores = bins;
  } else if (warp < 2 + best_warps) {
    static_assert(2 + best_warps <= warps);
    const BestKeys keys = a.shape.peak_blocks ? estimate_best(stage, n, warp - 2) : BestKeys::none();
    if (is_first_lane)
      best[warp - 2] = keys;
  }
}

__device__ SortSlots* slots_of(const Stage& stage) {
  return reinterpret_cast<SortSlots*>(stage.a.arrays.suppressors + stage.slot);
}

/// Stores the key of a crowd's candidate, and lists what is left. For a whole warp.
__device__ void place_in_crowd(const Stage& stage, bool valid, const float4& b, std::uint64_t key,
                               std::uint32_t place) {
  const bool is_suppressed = valid && has_peak(stage, stage.subject_of(key, b));
  if (valid)
    stage.a.arrays.key[stage.slot + place] = is_suppressed && !stage.a.all_suppress ? stripped(key) : key;
  if (stage.counters().crowd != dense_crowd)
    return;
  if (valid)
    stage.decide(place, is_suppressed ? Decision::suppressed() : Decision::undecided());
  list_left(stage, valid && !is_suppressed, b, key, place);
}

// Where peaks are looked for, the first block samples whether the frame is a crowd. `large`: StagedArguments::is_large;
// in kernels of their own, since others are slower for as little as a condition more.
template <bool large>
__device__ void count_candidates(const StagedArguments& a) {
  if (!a.frames.takes(blockIdx.y))
    return;
  __shared__ Scale scale;
  __shared__ BlockCounters total;
  // Counted in shared memory first: chunks are few, and atomics on them would serialise.
  extern __shared__ std::uint32_t in_chunk[];
  __shared__ BestKeys estimates[best_warps];
  __shared__ CrowdShared crowd;
  const Stage stage(a, blockIdx.y);
  const std::uint32_t first = (a.shape.peak_blocks != 0) + (large ? large_crowd_blocks : 0);
  if (blockIdx.x < first)
    return large && blockIdx.x ? note_large_crowd(stage, crowd, blockIdx.x - 1) : note_crowd(stage, crowd);
  const auto [i, here, b, given, score, label] = load(stage, blockIdx.x - first);
  measure(stage, scale, estimates);
  if (threadIdx.x == 0)
    total = {0, 0, 0, 0};
  for (std::uint32_t c = threadIdx.x; c < a.shape.chunks; c += threads)
    in_chunk[c] = 0;
  pdl_wait();
  __syncthreads();
  if (blockIdx.x == first && threadIdx.x == 0)
    a.arrays.scale[stage.frame] = scale;
  const Validity state =
      here ? a.rules.admit(a.frames.input(stage.frame) + i, b, given, score, a.rule, a.score_threshold)
           : Validity::absent;
  const bool valid = state == Validity::valid;
  const float offset = a.rule.overlap.offset;
  add_up(total, width(b, offset), height(b, offset), state);
  const std::uint32_t cell = scale.grid.cell(b, CellShift::of(label));
  const std::uint32_t bin = a.shape.cells() + scale.scores.bin(score, i);
  if (valid)
    note_size(stage, cell, size_in_cells(scale.grid, width(b, offset), height(b, offset)));
  // The atomics of all three follow each other before the first is waited for.
  const AddOne in_cell(stage.starts(), cell, valid);
  const AddOne in_bin(stage.starts(), bin, valid);
  const BestKeys best = mean_of(estimates);
  const bool is_best = valid && score_key(score) >= best.all;
  const bool is_upper = score_key(score) >= best.upper;
  const AddOne in_best(stage.counters().best, is_upper ? 0 : 1, is_best);
  if (valid) {
    atomicAdd(&in_chunk[cell / chunk], 1u);
    atomicAdd(&in_chunk[bin / chunk], 1u);
  }
  const SortSlots slots{in_cell.before(), in_bin.before()};
  const std::uint32_t number = in_best.before();
  if (is_best)
    best_of(stage).add(is_upper ? number : best_of(stage).from_the_back(number), b, rank_key(score, i));
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

// The first blocks find peaks. Then a block per chunk of counters: each sums up the counts of all chunks before its
// own.
template <bool large>
__device__ void scan_counters(const StagedArguments& a) {
  if (!a.frames.takes(blockIdx.y))
    return;
  using Reduce = cub::BlockReduce<std::uint32_t, threads>;
  using Scan = cub::BlockScan<std::uint32_t, threads>;
  constexpr unsigned items = chunk / threads;
  __shared__ typename Reduce::TempStorage reduction;
  __shared__ typename Scan::TempStorage temporary;
  __shared__ std::uint32_t before;
  __shared__ NumberQueue queues[warps];
  pdl_wait();
  const Stage stage(a, blockIdx.y);
  if (blockIdx.x < a.shape.peak_blocks)
    return large && stage.counters().crowd == no_crowd ? clear_sources(stage, blockIdx.x, a.shape.peak_blocks)
                                                       : find_peaks(stage, queues, blockIdx.x, a.shape.peak_blocks);
  const std::uint32_t number = blockIdx.x - a.shape.peak_blocks;
  std::uint32_t* counters = stage.starts() + number * chunk;
  std::uint32_t start[items];
  for (unsigned k = 0; k < items; ++k)
    start[k] = counters[threadIdx.x * items + k];
  std::uint32_t sum = 0;
  for (std::uint32_t c = threadIdx.x; c < number; c += threads)
    sum += stage.chunk_counts()[c];
  sum = Reduce(reduction).Sum(sum);
  if (threadIdx.x == 0)
    before = sum;
  __syncthreads();
  std::uint32_t total;
  Scan(temporary).ExclusiveSum(start, start, total);
  for (unsigned k = 0; k < items; ++k)
    counters[threadIdx.x * items + k] = before + start[k];
  if (number == a.shape.chunks - 1 && threadIdx.x == 0)
    counters[chunk] = before + total;
}

}  // namespace

__global__ void __launch_bounds__(threads) clear(StagedArguments a) {
  pdl_wait();
  const ClearedWords words{reinterpret_cast<uint4*>(a.arrays.cleared), a.shape.words / 4};
  words.clear(blockIdx.y, blockIdx.x * threads + threadIdx.x, gridDim.x * threads);
}

__global__ void __launch_bounds__(threads) count(StagedArguments a) {
  count_candidates<false>(a);
}
__global__ void __launch_bounds__(threads) count_large(StagedArguments a) {
  count_candidates<true>(a);
}
__global__ void __launch_bounds__(threads, resident_blocks) scan(StagedArguments a) {
  scan_counters<false>(a);
}
__global__ void __launch_bounds__(threads, resident_blocks) scan_large(StagedArguments a) {
  scan_counters<true>(a);
}

__global__ void __launch_bounds__(threads) scatter(StagedArguments a) {
  if (!a.frames.takes(blockIdx.y))
    return;
  const Stage stage(a, blockIdx.y);
  const auto [i, here, b, given, score, label] = load(stage, blockIdx.x);
  const SortSlots slots = here ? slots_of(stage)[i] : SortSlots{no_slot, no_slot};
  const std::uint32_t cell = stage.scale().grid.cell(b, CellShift::of(label));
  const std::uint32_t bin = a.shape.cells() + stage.scale().scores.bin(score, i);
  pdl_wait();
  const bool valid = slots.place != no_slot;
  // Loaded before it is known whether there are peaks.
  const std::uint32_t cell_begins = stage.starts()[cell];
  const std::uint32_t bin_begins = stage.starts()[bin] - stage.size();
  const std::uint64_t key = rank_key(score, i);
  const bool any_peaks = stage.counters().peaks != 0;
  if (!valid && !unlikely(any_peaks))
    return;
  const std::uint32_t place = cell_begins + slots.place;
  if (valid) {
    a.arrays.box[stage.slot + place] = b;
    a.arrays.score[stage.slot + bin_begins + slots.score] = key;
  }
  if (unlikely(any_peaks))
    return place_in_crowd(stage, valid, b, key, place);
  a.arrays.key[stage.slot + place] = key;
}

}  // namespace crowd::CROWD_STAGED
