// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The staged path: greedy and map-reduce for frames of any capacity, as a chain of short launches. Candidates are
// sorted by cell of a grid and by bin of scores, each lists its suppressors, and stage six decides. What the stages
// share is here.
//
// Compiled twice: as `staged`, where boxes alone decide, and with CROWD_RULED as `ruled`, where the call's rule decides
// which pairs of overlapping boxes count.
#pragma once

#include <cstddef>

#include "core/carver.hpp"
#include "kernels/call_rules.cuh"
#include "kernels/frames.cuh"
#include "kernels/launch.cuh"
#include "kernels/memory.cuh"
#include "kernels/near.cuh"
#include "kernels/staged/resolve.cuh"
#include "kernels/staged/shape.cuh"
#include "kernels/tuning.hpp"

namespace crowd::CROWD_STAGED {

/// Blocks on a multiprocessor, at least, of kernels that compare candidates: four leave a thread 64 registers. Rules
/// take more.
constexpr unsigned resident_blocks = has_rules ? 1 : 4;

/// State of a block's look-back word in stage six. The rest of the word is a number of survivors: of the block alone,
/// or from the first block to its end; `listed`: these can also be read from StagedArrays::ranked.
enum LookBackState : std::uint32_t { nothing = 0, in_block = 1, up_to_end = 2, listed = 3 };
constexpr unsigned look_back_bits = 2;
static_assert(tuning::staged_capacity <= ~0u >> look_back_bits, "counts of survivors go up to the capacity");

/// The best-ranked suppressors of a candidate, by place: 20 bits each.
class SuppressorList {
 public:
  static constexpr unsigned room = 6;

  __device__ SuppressorList() : low_(0), high_(0) {}

  /// `at` is below room. Entries from count() on are never used.
  __device__ void set(unsigned at, std::uint32_t position) {
    std::uint64_t& half = at < 3 ? low_ : high_;
    half |= static_cast<std::uint64_t>(position) << (at % 3 * bits);
  }
  __device__ void finish(std::uint32_t count, bool more) {
    low_ |= static_cast<std::uint64_t>(count) << 60;
    high_ |= static_cast<std::uint64_t>(more) << 60;
  }
  __device__ std::uint32_t position(unsigned at) const {
    return static_cast<std::uint32_t>((at < 3 ? low_ : high_) >> (at % 3 * bits)) & ((1u << bits) - 1);
  }
  __device__ std::uint32_t count() const {
    return static_cast<std::uint32_t>(low_ >> 60);
  }
  /// The candidate may have suppressors that are not on the list.
  __device__ bool more() const {
    return high_ >> 60;
  }

 private:
  static constexpr unsigned bits = 20;
  static_assert(tuning::staged_capacity <= 1u << bits, "positions are below the capacity");

  std::uint64_t low_, high_;
};
static_assert(sizeof(SuppressorList) == sizeof(uint4), "moved as one vector");

/// A valid candidate's number within its cell and within its bin of scores.
struct SortSlots {
  std::uint32_t place, score;
};

/// For dense crowds, behind StagedArrays: [frames * max_left()], by number among those that are left.
struct LeftArrays {
  std::uint32_t* bins;  ///< greedy: [frames * near_words(max_left())], NearBins
  float4* box;
  std::uint64_t* key;
  std::uint32_t* place;
};

/// Arrays of frames * capacity entries. Valid candidates in the order of their cells are numbered by place.
struct StagedArrays {
  std::uint32_t* cleared;    ///< [frames * shape.words]
  Scale* scale;              ///< [frames]
  std::uint32_t* peak_bins;  ///< [frames * near_words(max_peaks())]: NearBins, for crowds alone
  float4* box;               ///< by place
  std::uint64_t* key;        ///< by place: rank_key(); greedy: or stripped()
  std::uint32_t* decision;   ///< by place; before that, of a crowd's best_of() by number
  uint4* suppressors;        ///< by place: SuppressorList; before that, by index: SortSlots; in the other half
                             ///< best_of() and peaks_of()
  std::uint64_t* score;      ///< by bin: rank_key(); after that, by place: members
  std::uint32_t* ranked;  ///< places in rank order; stage six overwrites it from the front with the survivors' places
};

inline StagedArrays take_arrays(Carver& carver, std::uint32_t frames, std::uint32_t capacity) {
  const std::size_t total = static_cast<std::size_t>(frames) * capacity;
  StagedArrays arrays;
  arrays.cleared = carver.take<std::uint32_t>(static_cast<std::size_t>(frames) * make_shape(capacity).words);
  arrays.scale = carver.take<Scale>(frames);
  arrays.peak_bins = carver.take<std::uint32_t>(frames * near_words(max_peaks(capacity)));
  arrays.box = carver.take<float4>(total);
  arrays.key = carver.take<std::uint64_t>(total);
  arrays.decision = carver.take<std::uint32_t>(total);
  arrays.suppressors = carver.take<uint4>(total);
  arrays.score = carver.take<std::uint64_t>(total);
  arrays.ranked = carver.take<std::uint32_t>(total);
  return arrays;
}

inline LeftArrays take_left(Carver& carver, std::uint32_t frames, std::uint32_t capacity) {
  const std::size_t total = std::size_t{frames} * max_left(capacity);
  return {carver.take<std::uint32_t>(frames * near_words(max_left(capacity))), carver.take<float4>(total),
          carver.take<std::uint64_t>(total), carver.take<std::uint32_t>(total)};
}

struct StagedArguments {
  Frames frames;
  Shape shape;
  StagedArrays arrays;
  LeftArrays left;
  PairRule rule;
  bool all_suppress;  ///< map-reduce: candidates that are suppressed themselves suppress others, too
  bool is_large;      ///< sources are looked for in crowds (sources.cuh)
  float large_size;   ///< of a large box, at least (large.cuh): about five mean extents, and eight cells
  float score_threshold;
  CrowdNmsSurvivors out;
  CallRules rules;
};
static_assert(sizeof(StagedArguments) <= 4096, "what a kernel takes");

/// A candidate whose suppressors are looked for.
struct Subject {
  float4 box;
  float area;
  std::int32_t label;
  std::uint64_t key;
};

/// The rank key of a candidate that a peak or a source suppresses, without its score: below the keys of all others.
__device__ inline std::uint64_t stripped(std::uint64_t key) {
  return key & 0xffffffff;
}
__device__ inline bool is_stripped(std::uint64_t key) {
  return key >> 32 == 0;
}

/// The place in the lower half, the score in the upper: larger is better-ranked but for equal scores.
__device__ inline std::uint64_t by_score(std::uint64_t key, std::uint32_t place) {
  return (key & ~0xffffffffull) | place;
}

/// A frame's part of the arrays, with accessors.
struct Stage {
  const StagedArguments& a;
  std::uint32_t frame;
  std::size_t slot;
  std::uint32_t* cleared;

  __device__ Stage(const StagedArguments& arguments, std::uint32_t number)
      : a(arguments),
        frame(number),
        slot(arguments.frames.slot(number)),
        cleared(arguments.arrays.cleared + static_cast<std::size_t>(number) * arguments.shape.words) {}

  __device__ FrameCounters& counters() const {
    return *reinterpret_cast<FrameCounters*>(cleared);
  }
  /// A word a block, by look_back_bits: published with store_release() where other words go with it.
  __device__ std::uint32_t* look_back() const {
    return cleared + sizeof(FrameCounters) / sizeof(std::uint32_t);
  }
  __device__ std::uint32_t* chunk_counts() const {
    return cleared + a.shape.scan_begins;
  }
  /// Of size_cells cells each, the size of the largest box, if that is large; as bits of a float.
  __device__ std::uint32_t* sizes() const {
    return starts() - a.shape.cells() / size_cells;
  }
  /// First counts, after scan() starts, of cells and then of bins. The starts of bins are too large by size().
  __device__ std::uint32_t* starts() const {
    return cleared + a.shape.start_begins;
  }
  /// Valid candidates.
  __device__ std::uint32_t size() const {
    return starts()[a.shape.cells()];
  }
  __device__ const Scale& scale() const {
    return a.arrays.scale[frame];
  }
  __device__ Decision decision(std::uint32_t place) const {
    return Decision::of_word(load_relaxed(a.arrays.decision + slot + place));
  }
  __device__ void decide(std::uint32_t place, Decision decision) const {
    store_relaxed(a.arrays.decision + slot + place, decision.word());
  }
  __device__ SuppressorList& list_of(std::uint32_t place) const {
    return reinterpret_cast<SuppressorList*>(a.arrays.suppressors)[slot + place];
  }
  /// How many candidates the survivor at a place represents.
  __device__ std::uint32_t* members() const {
    return reinterpret_cast<std::uint32_t*>(a.arrays.score) + slot;
  }
  /// Candidates that are listed as left of a crowd; 0 if the list is not used.
  __device__ std::uint32_t left() const {
    const std::uint32_t count = counters().left;
    return count <= max_left(a.frames.capacity) ? count : 0;
  }
  /// Candidates of a warp of stage six. Known once suppressors are listed.
  __device__ std::uint32_t per_warp() const {
    return counters().incomplete < tuning::staged_incomplete ? warp_size : a.shape.min_per_warp;
  }
  /// Blocks of stage six that have candidates.
  __device__ std::uint32_t blocks() const {
    return resolve_blocks(size(), per_warp());
  }
  /// After stage six.
  __device__ std::uint32_t survivors() const {
    return look_back()[blocks() - 1] >> look_back_bits;
  }
  __device__ void write_report(std::uint32_t survivors) const {
    a.out.reports[frame] = frame_report(a.frames.count(frame), a.frames.size(frame), counters().invalid,
                                        counters().below_threshold, survivors, a.out.max_survivors);
  }
  __device__ std::int32_t label_of(std::uint32_t index) const {
    return a.rule.by_class ? a.frames.classes[a.frames.input(frame) + index] : 0;
  }
  __device__ std::int32_t label(std::uint64_t key) const {
    return label_of(rank_index(key));
  }
  __device__ Subject subject_of(std::uint64_t key, const float4& box) const {
    return {box, area(as_box(box), a.rule.overlap.offset), label(key), key};
  }
  __device__ Subject subject(std::uint32_t place) const {
    return subject_of(a.arrays.key[slot + place], a.arrays.box[slot + place]);
  }
  __device__ float ranked_score(std::uint32_t index) const {
    const std::size_t at = a.frames.input(frame) + index;
    return a.rules.ranked_score(at, a.frames.scores[at]);
  }
  /// Whether `b`, whose area is `its_area`, may overlap `mine`. Conservative, without branches.
  __device__ bool may_meet(const float4& b, float its_area, const Subject& mine) const {
    const float offset = a.rule.overlap.offset;
    const float w = fminf(b.z, mine.box.z) - fmaxf(b.x, mine.box.x) + offset;
    const float h = fminf(b.w, mine.box.w) - fmaxf(b.y, mine.box.y) + offset;
    const float bound = __fmaf_rn(a.rule.min_part, mine.area + its_area, -1e-37f);
    return static_cast<int>(w > 0) & static_cast<int>(h > 0) & static_cast<int>(!(w * h < bound));
  }
  /// True if the candidate with this key and box suppresses `mine`, whatever the class, and for few others. Without
  /// branches.
  __device__ bool may_suppress(std::uint64_t key, const float4& b, const Subject& mine) const {
    const bool meets = may_meet(b, area(as_box(b), a.rule.overlap.offset), mine);
    return static_cast<int>(key > mine.key) & (static_cast<int>(meets) | static_cast<int>(a.rule.disjoint_too));
  }
  /// The same where the candidate is known to rank better.
  __device__ bool better_may_suppress(const float4& b, float its_area, const Subject& mine) const {
    return static_cast<int>(may_meet(b, its_area, mine)) | static_cast<int>(a.rule.disjoint_too);
  }
  /// Completes may_suppress(), which has to hold.
  __device__ bool suppresses(std::uint64_t key, const float4& b, const Subject& mine) const {
    if constexpr (!has_rules)  // the compiler makes other code of a condition that is always true
      return crowd::suppresses(b, mine.box, a.rule) && label(key) == mine.label;
    return crowd::suppresses(b, mine.box, a.rule) && label(key) == mine.label &&
           a.rules.count(a.frames.input(frame), rank_index(key), rank_index(mine.key), as_box(b), as_box(mine.box));
  }
  __device__ bool suppresses_at(std::uint32_t place, const Subject& mine) const {
    const std::uint64_t key = a.arrays.key[slot + place];
    const float4 b = a.arrays.box[slot + place];
    return may_suppress(key, b, mine) && suppresses(key, b, mine);
  }
};

/// Adds one to counters[number] for each lane that is `on`, with one atomic per distinct counter: a crowd in one cell
/// would serialise otherwise. before() waits for the counter, so that others can be added to meanwhile. For a whole
/// warp.
class AddOne {
 public:
  __device__ AddOne(std::uint32_t* counters, std::uint32_t number, bool on)
      : same_(__match_any_sync(all_lanes, on ? number : ~0u)), before_(0) {
    if (on && static_cast<int>(threadIdx.x % warp_size) == leader())
      before_ = atomicAdd(&counters[number], static_cast<std::uint32_t>(__popc(same_)));
  }
  /// The counter's value before the lane's turn. For a whole warp.
  __device__ std::uint32_t before() const {
    const unsigned lower = (1u << threadIdx.x % warp_size) - 1;
    return __shfl_sync(all_lanes, before_, leader()) + static_cast<std::uint32_t>(__popc(same_ & lower));
  }

 private:
  __device__ int leader() const {
    return __ffs(static_cast<int>(same_)) - 1;
  }

  unsigned same_;  ///< lanes with the same counter
  std::uint32_t before_;
};

/// Whether a warp for each candidate of the call would be in flight at once: then more lanes may share a candidate.
bool has_warp_for_each(const Call& call);
/// Launches a kernel of stage five, where `lanes` share a candidate, or tuning::staged_many_lanes in small calls.
/// Blocks from shape.window_blocks on, one for each `threads` candidates, list places by rank.
void launch_windows(const Call& call, StagedArguments arguments, void (*by_few)(StagedArguments),
                    void (*by_many)(StagedArguments));
/// Arrays from the front of the workspace, but for LeftArrays.
StagedArguments staged_arguments(const Call& call, Carver& carver);
/// Stages one to four: boxes, keys and counters are set then.
void launch_sort(const Call& call, const StagedArguments& arguments);
/// Between launch_sort() and launch_search(), where StagedArguments::is_large.
void launch_sources(const Call& call, const StagedArguments& arguments);
/// Stage five of greedy.
void launch_search(const Call& call, const StagedArguments& arguments);
/// Stages five and six of map-reduce.
void launch_dominated(const Call& call, const StagedArguments& arguments);
/// The part of stage five that lists places by rank.
void launch_ranks(const Call& call, StagedArguments arguments);

// The stages. Blocks take frame blockIdx.y.

__global__ void clear(StagedArguments a);
__global__ void count(StagedArguments a);
__global__ void scan(StagedArguments a);
// Where StagedArguments::is_large, in place of these two.
__global__ void count_large(StagedArguments a);
__global__ void scan_large(StagedArguments a);
__global__ void scatter(StagedArguments a);
__global__ void resolve(StagedArguments a);
__global__ void find_representatives(StagedArguments a);
__global__ void write_members(StagedArguments a);

}  // namespace crowd::CROWD_STAGED
