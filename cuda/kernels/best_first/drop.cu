// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Best first: which candidates no survivor of the best suppresses. Each axis has bins with a bit for every survivor
// that may overlap boxes with their centres there, as in the map.

#include "kernels/best_first/best_first.cuh"

namespace crowd::CROWD_DIRECT {

namespace {

constexpr unsigned threads = tuning::best_first_block;

/// The bins of both axes, in rows of an odd number of words: those of a column are in different banks.
struct SurvivorBins {
  static constexpr std::uint32_t per_axis = tuning::best_first_bins;
  static constexpr std::uint32_t stride = chosen_room / 32 | 1;

  Grid grid;
  std::uint32_t x[per_axis][stride], y[per_axis][stride];

  __device__ std::uint32_t (&along_x(int number))[stride] {
    return x[grid.column(number)];
  }
  __device__ std::uint32_t (&along_y(int number))[stride] {
    return y[grid.row(number)];
  }
};

/// The survivors' bits. For a whole block.
__device__ void fill(SurvivorBins& bins, const BestFirstArguments& a, const ChosenSurvivors& survivors,
                     std::uint32_t frame) {
  constexpr std::uint32_t per_axis = SurvivorBins::per_axis;
  const std::uint32_t words = ceil_div(survivors.count, 32);
  if (threadIdx.x < 32) {
    Frames chosen{a.arrays.chosen.boxes, a.arrays.chosen.scores, nullptr, nullptr, nullptr, chosen_room, chosen_room};
    const Grid grid = measure_grid(chosen, frame, a.arrays.sizes[frame], a.rule, per_axis, per_axis);
    if (threadIdx.x == 0)
      bins.grid = grid;
  }
  for (std::uint32_t k = threadIdx.x; k < per_axis * words; k += threads)
    bins.x[k % per_axis][k / per_axis] = bins.y[k % per_axis][k / per_axis] = 0;
  __syncthreads();
  for (std::uint32_t rank = threadIdx.x; rank < survivors.count; rank += threads) {
    // Overlap bounds the distance by the survivor's own extents.
    const Window near = window(a.arrays.chosen.boxes[survivors.chosen(rank)], bins.grid, a.rule, {INFINITY, INFINITY});
    for (std::uint32_t k = 0; k < near.x.count; ++k)
      atomicOr(&bins.along_x(near.x.first + static_cast<int>(k))[rank / 32], 1u << rank % 32);
    for (std::uint32_t k = 0; k < near.y.count; ++k)
      atomicOr(&bins.along_y(near.y.first + static_cast<int>(k))[rank / 32], 1u << rank % 32);
  }
  __syncthreads();
}

/// Whether a survivor, which outranks it, suppresses the candidate at `at` in the arrays.
__device__ bool is_suppressed(SurvivorBins& bins, const BestFirstArguments& a, const ChosenSurvivors& survivors,
                              std::size_t at, const float4& b) {
  const auto& x = bins.along_x(Grid::along(Grid::centre(b.x, b.z), bins.grid.per_x));
  const auto& y = bins.along_y(Grid::along(Grid::centre(b.y, b.w), bins.grid.per_y));
  const std::uint32_t words = ceil_div(survivors.count, 32);
  for (std::uint32_t w = 0; w < words; ++w)
    for (std::uint32_t near = x[w] & y[w]; near; near &= near - 1) {
      const std::size_t by = survivors.chosen(32 * w + lowest_bit(near));
      if (suppresses(a.arrays.chosen.boxes[by], b, a.rule) &&
          (!a.rule.by_class || a.arrays.chosen.classes[by] == a.frames.classes[at]))
        return true;
    }
  return false;
}

}  // namespace

__global__ void __launch_bounds__(threads) drop_suppressed(BestFirstArguments a) {
  __shared__ SurvivorBins bins;
  const std::uint32_t frame = blockIdx.y;
  const std::uint32_t first = blockIdx.x * threads;
  const std::uint32_t i = first + threadIdx.x;
  pdl_wait();
  const std::uint32_t n = a.frames.size(frame);
  const std::uint64_t least = a.arrays.states[frame].least;
  if (first >= n || !least || !a.settled[frame])
    return;
  const ChosenSurvivors survivors(a.arrays, frame);
  fill(bins, a, survivors, frame);
  const std::size_t at = a.frames.input(frame) + min(i, n - 1);
  const float score = a.frames.scores[at];
  const float4 b = a.frames.boxes[at];
  const bool others = i < n && rank_key(score, i) < least;
  const Validity state = others ? validity(b, score, a.rule, a.score_threshold) : Validity::absent;
  const bool left = state == Validity::valid && !is_suppressed(bins, a, survivors, at, b);
  const std::uint32_t lanes = __ballot_sync(all_lanes, left);
  const std::uint32_t invalid = __ballot_sync(all_lanes, state == Validity::invalid);
  const std::uint32_t below = __ballot_sync(all_lanes, state == Validity::below_threshold);
  if (threadIdx.x % 32)
    return;
  if (i < n)
    a.arrays.left[std::size_t{frame} * left_words(a.frames.capacity) + i / 32] = lanes;
  if (invalid)
    atomicAdd(&a.arrays.states[frame].invalid, static_cast<std::uint32_t>(__popc(invalid)));
  if (below)
    atomicAdd(&a.arrays.states[frame].below_threshold, static_cast<std::uint32_t>(__popc(below)));
}

}  // namespace crowd::CROWD_DIRECT
