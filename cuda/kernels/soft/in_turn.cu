// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Soft-NMS as it is defined, one survivor after another: what settle() gave up, in the square of the candidates'
// number. It may begin anywhere in between: survivors that are found already are gone through once more, for the
// candidates that have not gone through them. A thread has every 1024th place for its own. Those of frames that are not
// sorted it holds in registers.

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

/// Lowers those of the thread's candidates that lie in the survivor's window. Returns whether there were any.
__device__ bool lower_own(const SoftStage& soft, const Best& survivor) {
  bool any = false;
  const Walk walk(soft.stage, soft.stage.subject(survivor.place));
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

/// The thread's candidates of a sorted frame.
class StoredOwn {
 public:
  __device__ explicit StoredOwn(const SoftStage& soft) : soft_(soft), best_(own_best(soft, ~0ull)) {}

  /// The best one that no survivor before was better than.
  __device__ const Best& best() const {
    return best_;
  }
  /// Goes on behind a survivor, which may be its own.
  __device__ void go_on(const Best& survivor) {
    const bool is_own = survivor.place == best_.place;
    if (is_own)
      keep(soft_, survivor.place);
    if (static_cast<int>(lower_own(soft_, survivor)) | static_cast<int>(is_own))
      best_ = own_best(soft_, survivor.key);
  }

 private:
  const SoftStage& soft_;
  Best best_;
};

/// The thread's candidates of a frame that is not sorted, in registers. Of each, what is not in memory yet is its
/// score, and by which survivor it was lowered last.
class HeldOwn {
 public:
  __device__ explicit HeldOwn(const SoftStage& soft) : soft_(soft), undecided_(0) {
    const std::uint32_t size = soft.size();
#pragma unroll
    for (unsigned k = 0; k < count; ++k) {
      const std::uint32_t place = place_of(k);
      const ScoreWord word = place < size ? soft.own_word(place) : ScoreWord::suppressed();
      key_[k] = word.is_suppressed() ? 0 : soft_key(word.score_order(), place);
      if (word.is_undecided()) {
        undecided_ |= 1u << k;
        lowered_by_[k] = soft.lowered_by(place);
        score_[k] = soft.state(place).score;
        box_[k] = soft.box(place);
      }
    }
    find_best(~0ull);
  }

  __device__ const Best& best() const {
    return best_;
  }
  __device__ void go_on(const Best& survivor) {
    const bool is_own = survivor.place == best_.place;
    bool changed = is_own;
    const float4 box = soft_.box(survivor.place);
#pragma unroll
    for (unsigned k = 0; k < count; ++k) {
      if (!(undecided_ >> k & 1))
        continue;
      if (is_own && place_of(k) == survivor.place)
        decide(k, ScoreWord::kept(score_[k]), no_place);
      else if (survivor.key < lowered_by_[k])
        changed |= lower(k, survivor, box);
    }
    if (changed)
      find_best(survivor.key);
  }

 private:
  static constexpr unsigned count = tuning::direct_capacity / block;

  __device__ static std::uint32_t place_of(unsigned k) {
    return threadIdx.x + k * block;
  }
  /// Writes what has become of candidate k.
  __device__ void decide(unsigned k, ScoreWord word, std::uint32_t by) {
    undecided_ &= ~(1u << k);
    soft_.state(place_of(k)) = {0, 0, score_[k], by};
    soft_.set_own_word(place_of(k), word);
  }
  __device__ bool lower(unsigned k, const Best& survivor, const float4& box) {
    const std::uint64_t own = soft_key(0, place_of(k));
    const Subject mine{box_[k], area(as_box(box_[k]), soft_.stage.a.rule.overlap.offset), soft_.stage.label(own), own};
    if (!soft_.lowers(survivor.key, box, mine))
      return false;
    score_[k] *= soft_.factor(soft_.ratio(box, box_[k]));
    lowered_by_[k] = survivor.key;
    const bool below = soft_.is_below(place_of(k), score_[k]);
    key_[k] = below ? 0 : soft_key(ScoreWord::at_most(score_[k]).score_order(), place_of(k));
    if (below)
      decide(k, ScoreWord::suppressed(), survivor.place);
    return true;
  }
  __device__ void find_best(std::uint64_t before) {
    best_ = {0, no_place};
#pragma unroll
    for (unsigned k = 0; k < count; ++k)
      if (key_[k] < before)
        best_ = best_of(best_, {key_[k], place_of(k)});
  }

  const SoftStage& soft_;
  Best best_;
  unsigned undecided_;        ///< a bit for each
  std::uint64_t key_[count];  ///< soft_key(); 0: suppressed, or there is none
  // Of undecided ones:
  std::uint64_t lowered_by_[count];
  float score_[count];
  float4 box_[count];
};

template <typename Own>
__device__ void settle_frame(const SoftStage& soft, Best (&of_warps)[2][block / warp_size]) {
  Own own(soft);
  // Two arrays, so that one barrier a survivor is enough: a warp that writes one has seen all read it before.
  for (unsigned turn = 0;; turn ^= 1) {
    const Best next = best_of_block(own.best(), of_warps[turn]);
    if (!next.key)
      return;
    own.go_on(next);
  }
}

}  // namespace

__global__ void __launch_bounds__(block) settle_in_turn(SoftArguments a) {
  __shared__ Best of_warps[2][block / warp_size];
  pdl_wait();
  const SoftStage soft(a, blockIdx.y);
  if (!soft.is_in_turn())
    return;
  if (soft.is_sorted())
    settle_frame<StoredOwn>(soft, of_warps);
  else
    settle_frame<HeldOwn>(soft, of_warps);
}

}  // namespace crowd::ruled
