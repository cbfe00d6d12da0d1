// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Soft-NMS as it is defined, one survivor after another: what settle() gave up, in the square of the candidates'
// number. It may begin anywhere in between: survivors that are found already are gone through once more, for the
// candidates that have not gone through them. A thread has every 1024th place for its own.

#include "kernels/soft/soft.cuh"

namespace crowd::ruled {

namespace {

constexpr unsigned block = tuning::frame_block;

/// A survivor, or the best undecided candidate.
struct Best {
  std::uint64_t key;  ///< soft_key(); 0: there is none
  std::uint32_t place;
};

__device__ Best best_of(const Best& a, const Best& b) {
  return b.key > a.key ? b : a;
}

__device__ Best best_of_block(const Best& mine, Best* of_warps) {
  if (static_cast<int>(threadIdx.x % warp_size) == warp_max_of(mine.key).lane)
    of_warps[threadIdx.x / warp_size] = mine;
  __syncthreads();
  static_assert(block / warp_size == warp_size, "a lane takes the best of a warp");
  const Best its = of_warps[threadIdx.x % warp_size];
  const auto [key, lane] = warp_max_of(its.key);
  return {key, __shfl_sync(all_lanes, its.place, lane)};
}

/// A candidate that is undecided or survives.
__device__ Best as_best(const SoftStage& soft, std::uint32_t place) {
  const ScoreWord word = soft.own_word(place);
  return {word.is_suppressed() ? 0 : soft_key(word.score_order(), soft.index(place)), place};
}

/// The best candidate behind `before` of those that the thread takes: every block-th one.
__device__ Best own_best(const SoftStage& soft, std::uint64_t before) {
  constexpr unsigned step = 4;
  const std::uint32_t size = soft.size();
  Best best{0, no_place};
  for (std::uint32_t first = threadIdx.x; first < size; first += step * block) {
    Best its[step];
#pragma unroll
    for (unsigned s = 0; s < step; ++s)
      its[s] = as_best(soft, min(first + s * block, size - 1));
#pragma unroll
    for (unsigned s = 0; s < step; ++s)
      if (first + s * block < size && its[s].key < before)
        best = best_of(best, its[s]);
  }
  return best;
}

/// Lowers a candidate by a survivor that it has not gone through. Returns whether it did.
__device__ bool lower(const SoftStage& soft, std::uint32_t place, const Best& survivor) {
  if (!soft.own_word(place).is_undecided() || survivor.key >= soft.lowered_by(place))
    return false;
  const Subject mine = soft.stage.subject(place);
  if (!soft.lowers(survivor.place, mine))
    return false;
  SoftState& state = soft.state(place);
  state.score *= soft.factor(soft.ratio(soft.box(survivor.place), mine.box));
  soft.lowered_by(place) = survivor.key;
  const bool below = soft.is_below(rank_index(mine.key), state.score);
  state.by = below ? survivor.place : no_place;
  soft.set_own_word(place, below ? ScoreWord::suppressed() : ScoreWord::at_most(state.score));
  return true;
}

/// Lowers those of the thread's candidates that lie in the survivor's window, or all. Returns whether there were any.
__device__ bool lower_own(const SoftStage& soft, const Best& survivor) {
  bool any = false;
  if (!soft.is_sorted()) {
    for (std::uint32_t place = threadIdx.x; place < soft.size(); place += block)
      any |= lower(soft, place, survivor);
    return any;
  }
  const Walk walk(soft.stage, soft.box(survivor.place));
  for (std::uint32_t number = 0; number < walk.segments(); ++number) {
    const Segment segment = walk.at(number);
    const std::uint32_t end = segment.first + segment.count;
    const std::uint32_t skipped = (threadIdx.x - segment.first) % block;
    for (std::uint32_t place = segment.first + skipped; place < end; place += block)
      any |= lower(soft, place, survivor);
  }
  return any;
}

__device__ void keep(const SoftStage& soft, std::uint32_t place) {
  if (!soft.own_word(place).is_undecided())
    return;
  SoftState& state = soft.state(place);
  state.count = 0;
  soft.set_own_word(place, ScoreWord::kept(state.score));
}

}  // namespace

__global__ void __launch_bounds__(block) settle_in_turn(SoftArguments a) {
  __shared__ Best of_warps[2][block / warp_size];
  pdl_wait();
  const SoftStage soft(a, blockIdx.y);
  if (!soft.is_in_turn())
    return;
  Best mine = own_best(soft, ~0ull);
  // Two arrays, so that one barrier a survivor is enough: a warp that writes one has seen all read it before.
  for (unsigned turn = 0;; turn ^= 1) {
    const Best next = best_of_block(mine, of_warps[turn]);
    if (!next.key)
      return;
    const bool is_mine = next.place == mine.place;
    if (is_mine)
      keep(soft, next.place);
    if (static_cast<int>(lower_own(soft, next)) | static_cast<int>(is_mine))
      mine = own_best(soft, next.key);
  }
}

}  // namespace crowd::ruled
