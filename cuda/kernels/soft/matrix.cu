// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Matrix NMS: each candidate looks at the better-ranked ones in its window, twice; or at those on its list, of a frame
// that is not sorted.

#include "kernels/launch.cuh"
#include "kernels/soft/soft.cuh"

namespace crowd::ruled {

namespace {

/// The candidate of `shared_by` lanes. Lanes beyond the last one repeat that, and do not write.
struct Assigned {
  std::uint32_t place;
  bool writes;
};

template <unsigned shared_by>
__device__ std::uint32_t first_of_block() {
  return blockIdx.x * (threads / shared_by);
}

template <unsigned shared_by>
__device__ Assigned assigned(std::uint32_t size) {
  const std::uint32_t place = first_of_block<shared_by>() + threadIdx.x / shared_by;
  return {min(place, size - 1), place < size && threadIdx.x % shared_by == 0};
}

struct Factor {
  float value;
  std::uint64_t key;  ///< rank_key() of whose it is
  std::uint32_t place;
};

/// The lesser one; of equals that of the better-ranked candidate.
__device__ Factor lesser(const Factor& a, const Factor& b) {
  return b.value < a.value || (b.value == a.value && b.key > a.key) ? b : a;
}

template <unsigned shared_by>
__global__ void __launch_bounds__(threads) find_covered(SoftArguments a) {
  pdl_wait();
  const SoftStage soft(a, blockIdx.y);
  if (first_of_block<shared_by>() >= soft.size())
    return;
  const auto [place, writes] = assigned<shared_by>(soft.size());
  const Subject mine = soft.stage.subject(place);
  float largest = 0;
  visit_suppressors<false, shared_by>(soft.stage, Walk(soft.stage, mine), mine, ~0u,
                                      [&](std::uint32_t hi, std::uint64_t) {
                                        largest = larger(largest, soft.ratio(soft.box(hi), mine.box));
                                        return false;
                                      });
#pragma unroll
  for (unsigned step = shared_by / 2; step; step /= 2)
    largest = larger(largest, __shfl_xor_sync(all_lanes, largest, step));
  if (writes)
    soft.covered(place) = largest;
}

/// The least one of the lanes of a candidate.
template <unsigned shared_by>
__device__ Factor least_of_lanes(Factor factor) {
#pragma unroll
  for (unsigned step = shared_by / 2; step; step /= 2)
    factor =
        lesser(factor, {__shfl_xor_sync(all_lanes, factor.value, step), __shfl_xor_sync(all_lanes, factor.key, step),
                        __shfl_xor_sync(all_lanes, factor.place, step)});
  return factor;
}

/// Multiplies a candidate's score by the least factor, which decides it.
__device__ void lower(const SoftStage& soft, std::uint32_t place, float given, const Factor& least) {
  const std::uint32_t index = soft.index(place);
  const float score = given * least.value;
  const bool below = soft.is_below(index, score);
  soft.state(place) = {0, 0, score, below ? least.place : no_place};
  soft.set_own_word(place, below ? ScoreWord::suppressed() : ScoreWord::kept(score));
}

template <unsigned shared_by>
__global__ void __launch_bounds__(threads) lower_by_matrix(SoftArguments a) {
  pdl_wait();
  const SoftStage soft(a, blockIdx.y);
  if (first_of_block<shared_by>() >= soft.size())
    return;
  const auto [place, writes] = assigned<shared_by>(soft.size());
  const Subject mine = soft.stage.subject(place);
  Factor min_factor{1, ~0ull, no_place};
  visit_suppressors<false, shared_by>(
      soft.stage, Walk(soft.stage, mine), mine, ~0u, [&](std::uint32_t hi, std::uint64_t key) {
        min_factor =
            lesser(min_factor, {soft.matrix_factor(soft.ratio(soft.box(hi), mine.box), soft.covered(hi)), key, hi});
        return false;
      });
  min_factor = least_of_lanes<shared_by>(min_factor);
  if (writes)
    lower(soft, place, a.staged.frames.scores[a.staged.frames.input(soft.stage.frame) + rank_index(mine.key)],
          min_factor);
}

/// Of those on a candidate's list. For a whole warp, as the next one.
__device__ Factor least_of_list(const SoftStage& soft, const SoftState& state) {
  Factor least{1, ~0ull, no_place};
  for (std::uint32_t e = threadIdx.x % warp_size; e < state.count; e += warp_size) {
    const ListEntry entry = soft.lists()[state.first + e];
    least = lesser(least, {soft.matrix_factor(entry.factor, soft.covered(entry.place)),
                           soft.stage.a.arrays.key[soft.stage.slot + entry.place], entry.place});
  }
  return least;
}

/// Of all better-ranked candidates of the frame.
__device__ Factor least_of_all(const SoftStage& soft, const Subject& mine) {
  Factor least{1, ~0ull, no_place};
  for (std::uint32_t hi = threadIdx.x % warp_size; hi < soft.size(); hi += warp_size)
    if (soft.stage.suppresses_at(hi, mine))
      least = lesser(least, {soft.matrix_factor(soft.ratio(soft.box(hi), mine.box), soft.covered(hi)),
                             soft.stage.a.arrays.key[soft.stage.slot + hi], hi});
  return least;
}

__global__ void __launch_bounds__(threads) lower_by_list(SoftArguments a) {
  pdl_wait();
  const SoftStage soft(a, blockIdx.y);
  if (first_of_block<warp_size>() >= soft.size())
    return;
  const std::uint32_t place = first_of_block<warp_size>() + threadIdx.x / warp_size;
  const SoftState state = place < soft.size() ? soft.state(place) : SoftState{0, 0, 0, rejected};
  const Factor least = least_of_lanes<warp_size>(state.count == unlisted ? least_of_all(soft, soft.stage.subject(place))
                                                                         : least_of_list(soft, state));
  if (threadIdx.x % warp_size == 0 && state.by != rejected)
    lower(soft, place, state.score, least);
}

template <unsigned shared_by>
void launch_looks(const Call& call, const SoftArguments& arguments) {
  const LaunchShape shape{call.grid(ceil_div(call.frames.capacity, threads / shared_by)), threads};
  launch_pdl(find_covered<shared_by>, call, shape, arguments);
  launch_pdl(lower_by_matrix<shared_by>, call, shape, arguments);
}

}  // namespace

void launch_matrix_looks(const Call& call, const SoftArguments& arguments) {
  if (arguments.tile)
    launch_pdl(lower_by_list, call, {call.grid(ceil_div(call.frames.capacity, warps)), threads}, arguments);
  else if (has_warp_for_each(call))
    launch_looks<warp_size>(call, arguments);
  else
    launch_looks<lanes>(call, arguments);
}

}  // namespace crowd::ruled
