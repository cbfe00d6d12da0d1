// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Soft-NMS as it is defined, one survivor after another: what settle() gave up, in the square of the candidates'
// number. It may begin anywhere in between: survivors that are found already are gone through once more, for the
// candidates that have not gone through them.

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
  Best best = of_warps[0];
#pragma unroll 8
  for (unsigned warp = 1; warp < block / warp_size; ++warp)
    best = best_of(best, of_warps[warp]);
  return best;
}

/// A candidate of the thread's own.
struct Own {
  std::uint32_t place;
  ScoreWord word;
  std::uint64_t key;  ///< soft_key(), or 0 if it is suppressed
};

__device__ Own own(const SoftStage& soft, std::uint32_t place) {
  const ScoreWord word = soft.own_word(place);
  return {place, word, word.is_suppressed() ? 0 : soft_key(word.score_order(), soft.index(place))};
}

/// Lowers a candidate that is undecided by a survivor.
__device__ void lower(const SoftStage& soft, Own& it, const Best& survivor) {
  const Subject mine = soft.stage.subject(it.place);
  if (!soft.lowers(survivor.place, mine))
    return;
  SoftState& state = soft.state(it.place);
  state.score *= soft.factor(soft.ratio(soft.box(survivor.place), mine.box));
  soft.lowered_by(it.place) = survivor.key;
  const std::uint32_t index = rank_index(mine.key);
  const bool below = soft.is_below(index, state.score);
  state.by = below ? survivor.place : no_place;
  it.word = below ? ScoreWord::suppressed() : ScoreWord::at_most(state.score);
  it.key = below ? 0 : soft_key(it.word.score_order(), index);
  soft.set_own_word(it.place, it.word);
}

/// The thread's best candidate behind `before`. One that is a survivor, if there is one, lowers the others first.
__device__ Best next_of(const SoftStage& soft, const Best& before) {
  constexpr unsigned step = 4;
  const std::uint32_t size = soft.size();
  Best best{0, no_place};
  for (std::uint32_t first = threadIdx.x; first < size; first += step * block) {
    Own its[step];
#pragma unroll
    for (unsigned s = 0; s < step; ++s)
      its[s] = own(soft, min(first + s * block, size - 1));
#pragma unroll
    for (unsigned s = 0; s < step; ++s) {
      if (first + s * block >= size)
        continue;
      if (its[s].place == before.place && its[s].word.is_undecided()) {
        soft.state(before.place).count = 0;
        soft.set_own_word(before.place, ScoreWord::kept(soft.state(before.place).score));
      } else if (before.place != no_place && its[s].word.is_undecided() && before.key < soft.lowered_by(its[s].place)) {
        lower(soft, its[s], before);
      }
      if (its[s].key < before.key)
        best = best_of(best, {its[s].key, its[s].place});
    }
  }
  return best;
}

}  // namespace

__global__ void __launch_bounds__(block) settle_in_turn(SoftArguments a) {
  __shared__ Best of_warps[2][block / warp_size];
  pdl_wait();
  const SoftStage soft(a, blockIdx.y);
  if (!soft.is_in_turn())
    return;
  // Two arrays, so that one barrier a survivor is enough: a warp that writes one has seen all read it before.
  Best next{~0ull, no_place};
  for (unsigned turn = 0; next.key; turn ^= 1)
    next = best_of_block(next_of(soft, next), of_warps[turn]);
}

}  // namespace crowd::ruled
