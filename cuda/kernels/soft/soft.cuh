// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The soft methods, for frames of up to soft_capacity candidates: kernels that find which candidates lower a
// candidate's score, those that lower scores, and those that write what is left. What they share is here. Compiled with
// CROWD_RULED.
//
// Arrays are by place, as those of the staged path, whose memory they take over. Behind its sort, places are in the
// order of cells, and of valid candidates alone. Frames of up to direct_capacity are not sorted: places are indices.
#pragma once

#include "core/decay.hpp"
#include "kernels/staged/window.cuh"

namespace crowd::ruled {

/// What is known of a candidate's score, in a word that others read while it changes. Scores only fall: a word that is
/// old has a score that is too high, or lacks the decision, and is still true.
class ScoreWord {
 public:
  ScoreWord() = default;
  __device__ explicit ScoreWord(std::uint32_t word) : word_(word) {}
  /// Of a candidate that has this score or will have less. It is not negative.
  __device__ static ScoreWord at_most(float score) {
    return ScoreWord(number_key(score) & ~kept_bit);
  }
  /// Of a survivor.
  __device__ static ScoreWord kept(float score) {
    return ScoreWord(number_key(score) | kept_bit);
  }
  __device__ static ScoreWord suppressed() {
    return ScoreWord(no_score);
  }

  __device__ bool is_kept() const {
    return word_ & kept_bit;
  }
  __device__ bool is_suppressed() const {
    return word_ == no_score;
  }
  __device__ bool is_undecided() const {
    return !is_kept() && !is_suppressed();
  }
  /// Orders as scores do; of candidates that are not suppressed.
  __device__ std::uint32_t score_order() const {
    return word_ & ~kept_bit;
  }
  __device__ std::uint32_t word() const {
    return word_;
  }

 private:
  static constexpr std::uint32_t kept_bit = 0x80000000u;
  static constexpr std::uint32_t no_score = 0x7fffffffu;  ///< bits of a NaN

  std::uint32_t word_;
};

constexpr std::uint32_t no_place = ~0u;
/// SoftState::by of a candidate that is not valid.
constexpr std::uint32_t rejected = ~0u - 1;
/// In place of a list's size: there was no room for it.
constexpr std::uint32_t unlisted = ~0u;

/// Of a candidate.
struct SoftState {
  std::uint32_t first;  ///< entry of its list
  std::uint32_t count;  ///< of entries, or unlisted; once it survives, of the candidates that it represents
  float score;          ///< as it is now
  std::uint32_t by;     ///< place of the one that suppressed it, or that it is pending on, or no_place, or rejected
};
static_assert(sizeof(SoftState) == sizeof(uint4), "in the memory of SuppressorList");

/// Another candidate that would lower a candidate's score if it survived first.
struct ListEntry {
  std::uint32_t place;
  float factor;  ///< matrix NMS: ratio
};

/// Words of candidates that many others look at while they change have a sector of L2 each: with eight in one, 4096
/// candidates in no order took settle() 86 us, not 43 (soft-gaussian).
constexpr std::size_t live_stride = 32 / sizeof(std::uint32_t);

struct SoftArguments {
  StagedArguments staged;
  ListEntry* lists;  ///< [frames * entries_per_frame]
  std::uint32_t entries_per_frame;
  std::uint32_t* live;  ///< [frames * capacity * live_stride]: words while they change
  std::uint32_t frame_count;
  std::uint32_t tile;  ///< rows of a block of list_all_pairs(); 0: the frame is sorted, and places are not indices
  Decay decay;
  float sigma;
};
static_assert(sizeof(SoftArguments) <= 4096, "what a kernel takes");
static_assert(std::uint64_t{tuning::soft_capacity} * (tuning::soft_capacity - 1) <= UINT32_MAX,
              "lists of all with all do not wrap FrameCounters::list_entries");
static_assert(std::uint64_t{tuning::soft_capacity} * tuning::max_list_room <= UINT32_MAX,
              "SoftArguments::entries_per_frame, and SoftState::first");

/// A frame's part of the arrays of a soft method.
struct SoftStage {
  const SoftArguments& soft;
  Stage stage;

  __device__ SoftStage(const SoftArguments& arguments, std::uint32_t frame)
      : soft(arguments), stage(arguments.staged, frame) {}

  /// Places: of valid candidates, if the frame is sorted.
  __device__ std::uint32_t size() const {
    return is_sorted() ? stage.size() : stage.a.frames.size(stage.frame);
  }
  /// Soft-NMS, in settle(): what others may know of a candidate by now.
  __device__ ScoreWord word(std::uint32_t place) const {
    return ScoreWord(load_relaxed(live(place)));
  }
  __device__ void publish(std::uint32_t place, ScoreWord word) const {
    store_relaxed(live(place), word.word());
  }
  /// A candidate's word in all other kernels; settle() writes it when it leaves the candidate.
  __device__ ScoreWord own_word(std::uint32_t place) const {
    return ScoreWord(stage.a.arrays.decision[stage.slot + place]);
  }
  __device__ void set_own_word(std::uint32_t place, ScoreWord word) const {
    stage.a.arrays.decision[stage.slot + place] = word.word();
  }
  __device__ SoftState& state(std::uint32_t place) const {
    return reinterpret_cast<SoftState*>(stage.a.arrays.suppressors)[stage.slot + place];
  }
  /// Soft-NMS: key of the survivor that lowered the candidate's score last.
  __device__ std::uint64_t& lowered_by(std::uint32_t place) const {
    return stage.a.arrays.score[stage.slot + place];
  }
  /// Matrix NMS: the largest ratio of a better-ranked candidate with this one. In the same memory.
  __device__ float& covered(std::uint32_t place) const {
    return *reinterpret_cast<float*>(stage.a.arrays.score + stage.slot + place);
  }
  /// Soft-NMS, until it is decided: the word of the one that the candidate is pending on, as it was.
  __device__ std::uint32_t& seen_word(std::uint32_t place) const {
    return stage.a.arrays.ranked[stage.slot + place];
  }
  __device__ bool is_sorted() const {
    return soft.tile == 0;
  }
  __device__ ListEntry* lists() const {
    return soft.lists + static_cast<std::size_t>(stage.frame) * soft.entries_per_frame;
  }
  __device__ bool is_in_turn() const {
    return load_relaxed(&stage.counters().in_turn);
  }
  __device__ void find_in_turn() const {
    store_relaxed(&stage.counters().in_turn, 1);
  }

  __device__ std::uint32_t index(std::uint32_t place) const {
    return is_sorted() ? rank_index(stage.a.arrays.key[stage.slot + place]) : place;
  }
  __device__ const float4& box(std::uint32_t place) const {
    return stage.a.arrays.box[stage.slot + place];
  }
  __device__ float ratio(const float4& hi, const float4& lo) const {
    return stage.a.rules.pairs.ratio(as_box(hi), as_box(lo));
  }
  __device__ std::uint32_t* live(std::uint32_t place) const {
    return soft.live + (stage.slot + place) * live_stride;
  }
  /// Whether a candidate with this score is below the threshold of its class.
  __device__ bool is_below(std::uint32_t index, float score) const {
    const std::int32_t* const classes = stage.a.rules.arrays.classes;
    return !stage.a.rules.admission.is_enough(score, classes ? classes[stage.a.frames.input(stage.frame) + index] : 0);
  }
  /// Whether the candidate of this index and box lowers the score of another one, `mine`, if it survives first. Of
  /// `mine` and `other` keys only the indices matter.
  __device__ bool lowers(std::uint64_t other, const float4& b, const Subject& mine) const {
    constexpr std::uint64_t best = ~0ull;
    return rank_index(other) != rank_index(mine.key) && stage.may_suppress(best, b, mine) &&
           stage.suppresses(other, b, mine);
  }
  __device__ bool lowers(std::uint32_t place, const Subject& mine) const {
    return lowers(stage.a.arrays.key[stage.slot + place], box(place), mine);
  }
  /// By what a survivor's score that overlaps by `ratio` multiplies that of another one: soft-NMS.
  __device__ float factor(float ratio) const {
    return soft.decay == Decay::linear ? linear_decay(ratio) : gaussian_decay(ratio, soft.sigma);
  }
  /// The same of one that is itself covered: matrix NMS.
  __device__ float matrix_factor(float ratio, float covered) const {
    return soft.decay == Decay::linear ? linear_matrix_decay(ratio, covered)
                                       : gaussian_matrix_decay(ratio, covered, soft.sigma);
  }
};

/// Score and index of a candidate, as they are now: larger is better.
__device__ inline std::uint64_t soft_key(std::uint32_t score_order, std::uint32_t index) {
  return static_cast<std::uint64_t>(score_order) << 32 | ~index;
}

constexpr unsigned soft_threads = tuning::soft_block;
constexpr unsigned soft_warps = soft_threads / warp_size;

// The kernels. Blocks take frame blockIdx.y unless they say otherwise.

/// Lists, for each candidate of a sorted frame, those that lower its score. A warp takes a candidate.
__global__ void list_neighbours(SoftArguments a);
/// The same of a frame that is not sorted, or the better-ranked ones that overlap it, with their ratios: matrix NMS.
void launch_all_pairs(const Call& call, const SoftArguments& arguments, bool better_alone);
/// SoftArguments::tile for that: as few as keep all multiprocessors busy.
std::uint32_t rows_of_tile(const Call& call);
/// Finds survivors and lowers scores, all candidates at a time. All its blocks have to be in flight.
__global__ void settle(SoftArguments a);
/// The same for frames that settle() gave up, one survivor after another. A block a frame.
__global__ void settle_in_turn(SoftArguments a);

/// Matrix NMS: the scores; of a sorted frame, how far each candidate is covered by better-ranked ones before that.
void launch_matrix_looks(const Call& call, const SoftArguments& arguments);

/// Representatives, and members of survivors.
__global__ void write_soft_representatives(SoftArguments a);
/// Survivors in the order of their scores, and reports.
void launch_soft_survivors(const Call& call, const SoftArguments& arguments);

}  // namespace crowd::ruled
