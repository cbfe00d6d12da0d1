// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Soft-NMS, all candidates at a time. A candidate goes through those on its list in the order in which they survive,
// which is that of their scores by then. The best one that it has not gone through, by the score that is known of it,
// * survives: its factor is the next one;
// * is undecided: it, or another one, may come next; the candidate waits;
// * is worse than the candidate itself, which therefore survives.
// Known scores only fall, so the best is never too low; and the best undecided candidate of a frame never waits.

#include "kernels/soft/soft.cuh"

namespace crowd::ruled {

namespace {

constexpr std::uint32_t min_looks = 1024;

/// Goes on with a candidate. For a whole warp.
class Candidate {
 public:
  __device__ Candidate(const SoftStage& soft, std::uint32_t place)
      : soft_(soft),
        place_(place),
        index_(soft.index(place)),
        state_(soft.state(place)),
        lowered_by_(soft.lowered_by(place)) {}

  /// As far as it gets without waiting. True once it is decided. Adds to `looks`.
  __device__ bool go_on(std::uint32_t& looks) {
    while (true) {
      looks += 1 + state_.count / warp_size;
      const Next next = find_next();
      if (next.key < soft_key(order(), index_))
        return survive();
      if (!ScoreWord(next.word).is_kept())
        return wait(next);
      state_.score *= next.factor;
      lowered_by_ = next.key;
      if (soft_.is_below(index_, state_.score))
        return be_suppressed(next.place);
    }
  }

 private:
  struct Next {
    std::uint64_t key;  ///< 0: there is none
    std::uint32_t place;
    float factor;
    std::uint32_t word;
  };

  __device__ std::uint32_t order() const {
    return ScoreWord::at_most(state_.score).score_order();
  }

  __device__ Next find_next() const {
    const ListEntry* const list = soft_.lists() + state_.first;
    Next next{0, no_place, 1, 0};
    for (std::uint32_t e = threadIdx.x % warp_size; e < state_.count; e += warp_size) {
      const ListEntry entry = list[e];
      const ScoreWord word = soft_.word(entry.place);
      // Of equal scores the index decides: it is looked up as rarely as that.
      const std::uint32_t score = word.score_order();
      if (word.is_suppressed() || score > lowered_by_ >> 32 || score < next.key >> 32)
        continue;
      const std::uint64_t key = soft_key(score, soft_.index(entry.place));
      if (key < lowered_by_ && key > next.key)
        next = {key, entry.place, entry.factor, word.word()};
    }
    return best_of_lanes(next);
  }

  __device__ static Next best_of_lanes(const Next& mine) {
    const auto [key, lane] = warp_max_of(mine.key);
    return {key, __shfl_sync(all_lanes, mine.place, lane), __shfl_sync(all_lanes, mine.factor, lane),
            __shfl_sync(all_lanes, mine.word, lane)};
  }

  __device__ void write(ScoreWord word, std::uint32_t by) {
    if (threadIdx.x % warp_size == 0) {
      state_.by = by;
      soft_.state(place_) = state_;
      soft_.lowered_by(place_) = lowered_by_;
      soft_.publish(place_, word);
    }
    __syncwarp();
  }
  __device__ bool survive() {
    state_.count = 0;
    write(ScoreWord::kept(state_.score), no_place);
    return true;
  }
  __device__ bool be_suppressed(std::uint32_t by) {
    write(ScoreWord::suppressed(), by);
    return true;
  }
  __device__ bool wait(const Next& next) {
    if (threadIdx.x % warp_size == 0)
      soft_.awaited(place_) = next.word;
    write(ScoreWord::at_most(state_.score), next.place);
    return false;
  }

  const SoftStage& soft_;
  const std::uint32_t place_, index_;
  SoftState state_;
  std::uint64_t lowered_by_;
};

/// Whether what the candidate waits for has changed. For a whole warp.
__device__ bool has_news(const SoftStage& soft, std::uint32_t place) {
  const std::uint32_t by = soft.state(place).by;
  return by == no_place || __any_sync(all_lanes, soft.word(by).word() != soft.awaited(place));
}

/// The warp takes every stride-th candidate until all of these are decided, or the frame is given up.
__device__ void settle_frame(const SoftStage& soft, std::uint32_t first, std::uint32_t stride) {
  const std::uint32_t size = soft.size();
  if (first >= size)
    return;
  const std::uint32_t most = size * tuning::soft_looks + min_looks;
  std::uint32_t looks = 0;
  bool waits = true;
  while (waits && !__any_sync(all_lanes, soft.is_in_turn())) {
    waits = false;
    for (std::uint32_t place = first; place < size; place += stride)
      if (soft.word(place).is_undecided())
        waits |= !(has_news(soft, place) && Candidate(soft, place).go_on(looks));
    ++looks;
    if (waits && looks > most)
      soft.find_in_turn();
  }
}

}  // namespace

__global__ void __launch_bounds__(soft_threads) settle(SoftArguments a) {
  const std::uint32_t warp = blockIdx.x * soft_warps + threadIdx.x / warp_size;
  for (std::uint32_t frame = blockIdx.y; frame < a.frame_count; frame += gridDim.y)
    settle_frame(SoftStage(a, frame), warp, gridDim.x * soft_warps);
}

}  // namespace crowd::ruled
