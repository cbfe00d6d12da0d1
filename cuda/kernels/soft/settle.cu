// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Soft-NMS, all candidates at a time. A candidate goes through those on its list in the order in which they survive,
// which is that of their scores by then. PROOFS.md, section 11, says why scores that are old do no harm, and why it
// ends.

#include "kernels/soft/soft.cuh"

namespace crowd::ruled {

namespace {

/// One of a candidate's list, as it was looked at.
struct Seen {
  std::uint64_t key;  ///< 0: there is none
  std::uint32_t place;
  float factor;
  std::uint32_t word;

  __device__ static Seen none() {
    return {0, no_place, 1, 0};
  }
};

/// The best one of the lanes.
__device__ Seen best_of_lanes(const Seen& mine) {
  const auto [key, lane] = warp_max_of(mine.key);
  return {key, __shfl_sync(all_lanes, mine.place, lane), __shfl_sync(all_lanes, mine.factor, lane),
          __shfl_sync(all_lanes, mine.word, lane)};
}

/// `best`, or the one at `place` if that is better, but below `limit`, and not suppressed.
template <typename Index>
__device__ Seen better_below(const Seen& best, std::uint64_t limit, std::uint32_t place, float factor, ScoreWord word,
                             Index index) {
  // Of equal scores the index decides: it is asked for then alone.
  const std::uint32_t score = word.score_order();
  if (word.is_suppressed() || score > limit >> 32 || score < best.key >> 32)
    return best;
  const std::uint64_t key = soft_key(score, index());
  return key < limit && key > best.key ? Seen{key, place, factor, word.word()} : best;
}

/// A candidate's list, which is read anew for each look. For a whole warp.
class StoredList {
 public:
  __device__ StoredList(const SoftStage& soft, const SoftState& state)
      : soft_(soft), list_(soft.lists() + state.first), count_(state.count) {}

  __device__ void refresh(std::uint32_t) {}
  /// The best one with a key below `limit` that is not suppressed.
  __device__ Seen best_below(std::uint64_t limit) const {
    Seen best = Seen::none();
    for (std::uint32_t e = threadIdx.x % warp_size; e < count_; e += warp_size) {
      const ListEntry it = list_[e];
      best =
          better_below(best, limit, it.place, it.factor, soft_.word(it.place), [&] { return soft_.index(it.place); });
    }
    return best_of_lanes(best);
  }

 private:
  const SoftStage& soft_;
  const ListEntry* list_;
  std::uint32_t count_;
};

/// A list of up to held_max entries in registers, with their words as they were when refresh() looked. For a whole
/// warp.
class HeldList {
 public:
  static constexpr unsigned each = tuning::soft_lane_entries;
  static constexpr std::uint32_t held_max = each * warp_size;

  __device__ HeldList(const SoftStage& soft, const SoftState& state)
      : soft_(soft), steps_(ceil_div(state.count, warp_size)) {
#pragma unroll
    for (unsigned k = 0; k < each; ++k) {
      const std::uint32_t e = k * warp_size + threadIdx.x % warp_size;
      entry_[k] = e < state.count ? soft.lists()[state.first + e] : ListEntry{no_place, 1};
    }
#pragma unroll
    for (unsigned k = 0; k < each; ++k) {
      index_[k] = entry_[k].place != no_place ? soft.index(entry_[k].place) : 0;
      word_[k] = entry_[k].place != no_place ? ScoreWord::at_most(INFINITY) : ScoreWord::suppressed();
    }
  }

  /// Those that are decided stay as they are, and those that were below `order` still are.
  __device__ void refresh(std::uint32_t order) {
#pragma unroll
    for (unsigned k = 0; k < each; ++k)
      if (k < steps_ && word_[k].is_undecided() && word_[k].score_order() >= order)
        word_[k] = soft_.word(entry_[k].place);
  }
  /// As in StoredList.
  __device__ Seen best_below(std::uint64_t limit) const {
    Seen best = Seen::none();
#pragma unroll
    for (unsigned k = 0; k < each; ++k)
      if (k < steps_)
        best = better_below(best, limit, entry_[k].place, entry_[k].factor, word_[k], [&] { return index_[k]; });
    return best_of_lanes(best);
  }

 private:
  const SoftStage& soft_;
  const std::uint32_t steps_;  ///< entries of a lane
  ListEntry entry_[each];      ///< place no_place: none
  std::uint32_t index_[each];
  ScoreWord word_[each];
};

/// Goes on with a candidate. For a whole warp.
template <typename List>
class PendingCandidate {
 public:
  __device__ PendingCandidate(const SoftStage& soft, std::uint32_t place, const SoftState& state)
      : soft_(soft),
        list_(soft, state),
        place_(place),
        index_(soft.index(place)),
        word_(soft.own_word(place)),
        state_(state),
        lowered_by_(soft.lowered_by(place)),
        seen_word_(state_.by == no_place ? 0 : soft.seen_word(place)) {}

  /// Whether it is pending on none yet, or on one whose word has changed. For a whole warp.
  __device__ bool may_go_on() const {
    return state_.by == no_place || __any_sync(all_lanes, soft_.word(state_.by).word() != seen_word_);
  }

  /// As far as it gets. True once it is decided. Adds to `looks`.
  __device__ bool go_on(std::uint32_t& looks) {
    list_.refresh(order());
    while (true) {
      looks += 1 + state_.count / warp_size;
      const Seen next = list_.best_below(lowered_by_);
      if (next.key < soft_key(order(), index_)) {
        state_.count = 0;
        return decide(ScoreWord::kept(state_.score), no_place);
      }
      if (!ScoreWord(next.word).is_kept())
        return stay_pending(next);
      state_.score *= next.factor;
      lowered_by_ = next.key;
      if (soft_.is_below(index_, state_.score))
        return decide(ScoreWord::suppressed(), next.place);
    }
  }

  /// Leaves the candidate as it is, for others to go on with.
  __device__ void save() const {
    if (threadIdx.x % warp_size == 0) {
      soft_.state(place_) = state_;
      soft_.lowered_by(place_) = lowered_by_;
      soft_.seen_word(place_) = seen_word_;
      soft_.set_own_word(place_, word_);
    }
    __syncwarp();
  }

 private:
  __device__ std::uint32_t order() const {
    return ScoreWord::at_most(state_.score).score_order();
  }

  __device__ void publish(ScoreWord word) {
    word_ = word;
    if (threadIdx.x % warp_size == 0)
      soft_.publish(place_, word);
  }
  __device__ bool decide(ScoreWord word, std::uint32_t by) {
    state_.by = by;
    publish(word);
    return true;
  }
  __device__ bool stay_pending(const Seen& next) {
    state_.by = next.place;
    seen_word_ = next.word;
    if (const ScoreWord word = ScoreWord::at_most(state_.score); word.word() != word_.word())
      publish(word);
    return false;
  }

  const SoftStage& soft_;
  List list_;
  const std::uint32_t place_, index_;
  ScoreWord word_;  ///< as it was published
  SoftState state_;
  std::uint64_t lowered_by_;
  std::uint32_t seen_word_;  ///< word of the one it is pending on, as it was
};

/// Whether a warp goes on with a frame. Gives the frame up where it has looked too often.
class LookLimit {
 public:
  __device__ LookLimit(const SoftStage& soft, float per_candidate)
      : soft_(soft),
        max_looks_(tuning::min_soft_looks +
                   static_cast<std::uint32_t>(per_candidate * static_cast<float>(soft.size()))) {}

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

template <typename List>
__device__ void settle_one(const SoftStage& soft, std::uint32_t place, const SoftState& state) {
  const LookLimit limit(soft, tuning::soft_looks_of_one);
  PendingCandidate<List> candidate(soft, place, state);
  std::uint32_t looks = 0;
  constexpr std::uint32_t looks_between_checks = 16;
  // No sleep between looks: it would delay each candidate that is pending on another one, and LookLimit bounds looks.
  while (looks % looks_between_checks || limit.allows(looks)) {
    ++looks;
    if (candidate.may_go_on() && candidate.go_on(looks))
      break;
  }
  candidate.save();
}

__device__ void settle_one(const SoftStage& soft, std::uint32_t place) {
  const SoftState state = soft.state(place);
  if (state.by == rejected)
    return;
  if (state.count <= HeldList::held_max)
    settle_one<HeldList>(soft, place, state);
  else if (state.count != unlisted)
    settle_one<StoredList>(soft, place, state);
  else
    soft.find_in_turn();
}

/// Every stride-th candidate.
__device__ void settle_many(const SoftStage& soft, std::uint32_t first, std::uint32_t stride) {
  const LookLimit limit(soft, tuning::soft_looks_of_several);
  const std::uint32_t size = soft.size();
  std::uint32_t looks = 0;
  // No sleep between rounds: while one candidate is pending the warp goes on with others, and LookLimit bounds rounds.
  for (bool pending = true; pending && limit.allows(looks++);) {
    pending = false;
    for (std::uint32_t place = first; place < size; place += stride) {
      if (!soft.own_word(place).is_undecided())
        continue;
      const SoftState state = soft.state(place);
      if (state.count == unlisted)
        return soft.find_in_turn();
      PendingCandidate<StoredList> candidate(soft, place, state);
      if (!candidate.may_go_on()) {
        pending = true;
        continue;
      }
      pending |= !candidate.go_on(looks);
      candidate.save();
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
