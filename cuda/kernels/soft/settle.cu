// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Soft-NMS, all candidates at a time. A candidate goes through those on its list in the order in which they survive,
// which is that of their scores by then. PROOFS.md, section 11, says why scores that are old do no harm, and why it
// ends.

#include "kernels/soft/soft.cuh"

namespace crowd::ruled {

namespace {

/// Goes on with a candidate. For a whole warp.
class PendingCandidate {
 public:
  __device__ PendingCandidate(const SoftStage& soft, std::uint32_t place)
      : soft_(soft),
        place_(place),
        index_(soft.index(place)),
        state_(soft.state(place)),
        lowered_by_(soft.lowered_by(place)),
        seen_word_(state_.by == no_place ? 0 : soft.seen_word(place)) {}

  /// Whether it is pending on none yet, or on one whose word has changed. For a whole warp.
  __device__ bool may_go_on() const {
    return state_.by == no_place || __any_sync(all_lanes, soft_.word(state_.by).word() != seen_word_);
  }

  /// As far as it gets. True once it is decided. Adds to `looks`.
  __device__ bool go_on(std::uint32_t& looks) {
    while (true) {
      looks += 1 + state_.count / warp_size;
      const Next next = find_next();
      if (next.key < soft_key(order(), index_))
        return survive();
      if (!ScoreWord(next.word).is_kept())
        return stay_pending(next);
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
      // Of equal scores the index decides: it is looked up then alone.
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
    state_.by = by;
    if (threadIdx.x % warp_size == 0) {
      soft_.state(place_) = state_;
      soft_.lowered_by(place_) = lowered_by_;
      soft_.seen_word(place_) = seen_word_;
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
  __device__ bool stay_pending(const Next& next) {
    seen_word_ = next.word;
    write(ScoreWord::at_most(state_.score), next.place);
    return false;
  }

  const SoftStage& soft_;
  const std::uint32_t place_, index_;
  SoftState state_;
  std::uint64_t lowered_by_;
  std::uint32_t seen_word_;  ///< word of the one it is pending on, as it was
};

/// Whether a warp goes on with a frame. Gives the frame up where it has looked too often.
class LookLimit {
 public:
  __device__ explicit LookLimit(const SoftStage& soft)
      : soft_(soft), max_looks_(tuning::min_soft_looks + soft.size() / tuning::soft_candidates_per_look) {}

  /// For a whole warp. `looks`: so far.
  __device__ bool allows(std::uint32_t looks) const {
    if (looks > max_looks_)
      soft_.find_in_turn();
    return !__any_sync(all_lanes, soft_.is_in_turn());
  }

 private:
  const SoftStage& soft_;
  const std::uint32_t max_looks_;
};

__device__ void settle_one(const SoftStage& soft, std::uint32_t place) {
  const LookLimit limit(soft);
  PendingCandidate candidate(soft, place);
  std::uint32_t looks = 0;
  constexpr std::uint32_t looks_between_checks = 16;
  // No sleep between looks: it would delay each candidate that is pending on another one, and LookLimit bounds looks.
  while (looks % looks_between_checks || limit.allows(looks)) {
    ++looks;
    if (candidate.may_go_on() && candidate.go_on(looks))
      return;
  }
}

/// Every stride-th candidate.
__device__ void settle_many(const SoftStage& soft, std::uint32_t first, std::uint32_t stride) {
  const LookLimit limit(soft);
  const std::uint32_t size = soft.size();
  std::uint32_t looks = 0;
  // No sleep between rounds: while one candidate is pending the warp goes on with others, and LookLimit bounds rounds.
  for (bool pending = true; pending && limit.allows(looks++);) {
    pending = false;
    for (std::uint32_t place = first; place < size; place += stride) {
      if (!soft.word(place).is_undecided())
        continue;
      PendingCandidate candidate(soft, place);
      pending |= !(candidate.may_go_on() && candidate.go_on(looks));
    }
  }
}

/// The warp's part of a frame: until all of it is decided, or the frame is given up.
__device__ void settle_frame(const SoftStage& soft, std::uint32_t first, std::uint32_t stride) {
  if (first >= soft.size())
    return;
  if (stride >= soft.size())
    settle_one(soft, first);
  else
    settle_many(soft, first, stride);
}

}  // namespace

__global__ void __launch_bounds__(soft_threads) settle(SoftArguments a) {
  const std::uint32_t warp = blockIdx.x * soft_warps + threadIdx.x / warp_size;
  for (std::uint32_t frame = blockIdx.y; frame < a.frame_count; frame += gridDim.y)
    settle_frame(SoftStage(a, frame), warp, gridDim.x * soft_warps);
}

}  // namespace crowd::ruled
