// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Best first: which candidates are decided together. Chosen candidates are copied in order of index, so that equal
// scores rank among them as they do in the frame.

#include <cub/block/block_scan.cuh>

#include "kernels/best_first/sample.cuh"

namespace crowd::CROWD_DIRECT {

namespace {

constexpr unsigned threads = tuning::best_first_block;

/// Chosen candidates of a frame by place: index in the frame.
using ChosenIndices = std::uint32_t[chosen_room];

/// Copies them. For a whole block, after a barrier: all loads are in flight at a time.
__device__ void copy_chosen(const BestFirstArguments& a, std::uint32_t frame, const ChosenIndices& indices,
                            std::uint32_t count) {
  const Chosen& to = a.arrays.chosen;
  for (std::uint32_t place = threadIdx.x; place < count; place += threads) {
    const std::uint32_t i = indices[place];
    const std::size_t at = std::size_t{frame} * chosen_room + place;
    const std::size_t from = a.frames.input(frame) + i;
    const float4 box = a.frames.boxes[from];
    const float score = a.frames.scores[from];
    to.boxes[at] = box;
    to.scores[at] = score;
    to.indices[at] = i;
    if (a.rule.by_class)
      to.classes[at] = a.frames.classes[from];
  }
}

/// The scores of a frame, a few a thread.
struct Scores {
  static constexpr unsigned items = ceil_div(tuning::best_first_capacity, threads);
  float score[items];

  /// All loads are in flight at a time.
  __device__ Scores(const BestFirstArguments& a, std::size_t input, std::uint32_t n) {
#pragma unroll
    for (unsigned k = 0; k < items; ++k)
      score[k] = k * threads < n ? a.frames.scores[input + min(k * threads + threadIdx.x, n - 1)] : 0;
  }
  /// Calls `what`(k, k * threads + threadIdx.x, rank key) for each; the key is 0 beyond the last candidate.
  template <typename Function>
  __device__ void for_each(std::uint32_t n, const Function& what) const {
#pragma unroll
    for (unsigned k = 0; k < items; ++k)
      if (k * threads < n) {
        const std::uint32_t i = k * threads + threadIdx.x;
        what(k, i, i < n ? rank_key(score[k], i) : 0);
      }
  }
};

struct BestShared {
  /// Of each number and warp, candidates that reach a rank key.
  std::uint32_t in_warp[Scores::items][32];
};

/// Counts the candidates that reach `least`. For a whole block.
__device__ std::uint32_t count_best(const Scores& scores, std::uint32_t n, std::uint64_t least, BestShared& shared) {
  static_assert(threads == 32 * 32, "a lane for each warp");
  __syncthreads();
  scores.for_each(n, [&](unsigned k, std::uint32_t, std::uint64_t key) {
    const std::uint32_t lanes = __ballot_sync(all_lanes, key && key >= least);
    if (threadIdx.x % 32 == 0)
      shared.in_warp[k][threadIdx.x / 32] = static_cast<std::uint32_t>(__popc(lanes));
  });
  __syncthreads();
  std::uint32_t all = 0;
  for (unsigned k = 0; k * threads < n; ++k)
    all += shared.in_warp[k][threadIdx.x % 32];
  return warp_sum(all);
}

/// Lists them by index, after count_best().
__device__ void list_best(const Scores& scores, std::uint32_t n, std::uint64_t least, const BestShared& shared,
                          ChosenIndices& to) {
  std::uint32_t before = 0;
  scores.for_each(n, [&](unsigned k, std::uint32_t i, std::uint64_t key) {
    const bool mine = key && key >= least;
    const std::uint32_t lanes = __ballot_sync(all_lanes, mine);
    const std::uint32_t counts = shared.in_warp[k][threadIdx.x % 32];
    const std::uint32_t in_warps_before = warp_sum(threadIdx.x % 32 < threadIdx.x / 32 ? counts : 0);
    if (mine)
      to[before + in_warps_before + lanes_before(lanes)] = i;
    before += warp_sum(counts);
  });
}

}  // namespace

__global__ void __launch_bounds__(threads) choose_best(BestFirstArguments a) {
  __shared__ SampleShared shared;
  __shared__ BestShared best;
  __shared__ ChosenIndices indices;
  const std::uint32_t frame = blockIdx.x;
  pdl_wait();
  const std::uint32_t n = a.frames.size(frame);
  const std::size_t input = a.frames.input(frame);
  const Scores scores(a, input, n);
  a.cleared.clear(frame, threadIdx.x, threads);
  std::uint64_t least = 0;
  std::uint32_t chosen = 0;
  bool is_taken = n > 0;
  if (n > chosen_room) {
    const std::uint32_t overlaps = count_overlaps(a, input, n, shared);
    is_taken = overlaps >= tuning::best_first_overlaps;
    if (is_taken) {
      const RankedSamples ranked(a, input, n, shared);
      // Few attempts: samples tell how many reach a score within a quarter or so.
      for (std::uint32_t sought = sought_of(overlaps); sought >= tuning::best_first_min / 2; sought -= sought / 4) {
        least = ranked.at(sought * RankedSamples::samples / n);
        chosen = count_best(scores, n, least, best);
        if (chosen <= chosen_room)
          break;
      }
      is_taken = chosen <= chosen_room;
    }
  } else {
    chosen = count_best(scores, n, least, best);
  }
  if (is_taken) {
    list_best(scores, n, least, best, indices);
    __syncthreads();
    copy_chosen(a, frame, indices, chosen);
  }
  if (threadIdx.x)
    return;
  a.settled[frame] = is_taken;
  a.arrays.sizes[frame] = is_taken ? chosen : 0;
  a.arrays.states[frame] = {least, 0, 0, 0};
}

__global__ void __launch_bounds__(threads) choose_left(BestFirstArguments a) {
  using Scan = cub::BlockScan<std::uint32_t, threads>;
  __shared__ typename Scan::TempStorage temporary;
  __shared__ std::uint32_t begins[left_words(tuning::best_first_capacity)];
  __shared__ ChosenIndices indices;
  const std::uint32_t frame = blockIdx.x;
  pdl_wait();
  if (!a.settled[frame])
    return;
  const std::uint32_t n = a.frames.size(frame);
  const ChosenSurvivors best(a.arrays, frame);
  write_survivors(a, best, frame, 0);
  const bool is_all = !a.arrays.states[frame].least;
  const std::uint32_t words = is_all ? 0 : left_words(n);
  const std::uint32_t* const left = a.arrays.left + std::size_t{frame} * left_words(a.frames.capacity);
  static_assert(left_words(tuning::best_first_capacity) <= threads);
  std::uint32_t begin[] = {static_cast<std::uint32_t>(threadIdx.x < words ? __popc(left[threadIdx.x]) : 0)};
  std::uint32_t total;
  Scan(temporary).ExclusiveSum(begin, begin, total);
  if (threadIdx.x < words)
    begins[threadIdx.x] = begin[0];
  __syncthreads();
  const bool fits = total <= chosen_room;
  for (std::uint32_t i = threadIdx.x; fits && i / 32 < words; i += threads)
    if (const std::uint32_t word = left[i / 32]; word >> i % 32 & 1)
      indices[begins[i / 32] + lanes_before(word)] = i;
  __syncthreads();
  if (fits)
    copy_chosen(a, frame, indices, total);
  if (threadIdx.x)
    return;
  const CrowdNmsReport& report = a.arrays.reports[frame];
  BestFirstFrame& state = a.arrays.states[frame];
  state.survivors = best.count;
  state.invalid += report.invalid;
  state.below_threshold += report.below_threshold;
  a.settled[frame] = fits;
  a.arrays.sizes[frame] = fits ? total : 0;
}

__global__ void __launch_bounds__(threads) write_settled(BestFirstArguments a) {
  const std::uint32_t frame = blockIdx.x;
  pdl_wait();
  if (!a.settled[frame])
    return;
  const ChosenSurvivors others(a.arrays, frame);
  const BestFirstFrame state = a.arrays.states[frame];
  write_survivors(a, others, frame, state.survivors);
  if (threadIdx.x)
    return;
  a.out.reports[frame] = frame_report(a.frames.count(frame), a.frames.size(frame), state.invalid, state.below_threshold,
                                      state.survivors + others.count, a.out.max_survivors);
}

}  // namespace crowd::CROWD_DIRECT
