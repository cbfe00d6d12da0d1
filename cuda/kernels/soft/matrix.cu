// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Matrix NMS: each candidate looks at the better-ranked ones in its window, twice.

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
  visit_suppressors<false, shared_by>(soft.stage, Walk(soft.stage, mine.box), mine, ~0u,
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
      soft.stage, Walk(soft.stage, mine.box), mine, ~0u, [&](std::uint32_t hi, std::uint64_t key) {
        min_factor =
            lesser(min_factor, {soft.matrix_factor(soft.ratio(soft.box(hi), mine.box), soft.covered(hi)), key, hi});
        return false;
      });
#pragma unroll
  for (unsigned step = shared_by / 2; step; step /= 2)
    min_factor = lesser(min_factor, {__shfl_xor_sync(all_lanes, min_factor.value, step),
                                     __shfl_xor_sync(all_lanes, min_factor.key, step),
                                     __shfl_xor_sync(all_lanes, min_factor.place, step)});
  if (!writes)
    return;
  const std::uint32_t index = rank_index(mine.key);
  const float score = a.staged.frames.scores[a.staged.frames.input(soft.stage.frame) + index] * min_factor.value;
  const bool below = soft.is_below(index, score);
  soft.state(place) = {0, 0, score, below ? min_factor.place : no_place};
  soft.publish(place, below ? ScoreWord::suppressed() : ScoreWord::kept(score));
}

template <unsigned shared_by>
void launch_looks(const Call& call, const SoftArguments& arguments) {
  const LaunchShape shape{call.grid(ceil_div(call.frames.capacity, threads / shared_by)), threads};
  launch_pdl(find_covered<shared_by>, call, shape, arguments);
  launch_pdl(lower_by_matrix<shared_by>, call, shape, arguments);
}

}  // namespace

void launch_matrix_looks(const Call& call, const SoftArguments& arguments) {
  if (has_warp_for_each(call))
    launch_looks<warp_size>(call, arguments);
  else
    launch_looks<lanes>(call, arguments);
}

}  // namespace crowd::ruled
