// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A frame of few candidates in a call with room for many, by the block that reduces it: all pairs are compared, a warp
// a row and 32 columns at a time, which give a word of bits by one vote. Nothing of the map is read.
#pragma once

#include "kernels/direct/reduce_frame.cuh"
#include "kernels/direct/tile.cuh"

namespace crowd::CROWD_DIRECT {

constexpr unsigned tiny_max = tuning::direct_tiny;
constexpr unsigned tiny_words = tiny_max / 32;
static_assert(tiny_max % 32 == 0);

/// By index.
struct TinyFrame {
  float4 box[tiny_max];
  Validity validity[tiny_max];  ///< `absent` beyond the frame's candidates
  std::uint32_t key[tiny_max];  ///< score_key()
  std::int32_t label[tiny_max];
  std::uint32_t better[tiny_max][tiny_words];       ///< a bit for each candidate that ranks better
  std::uint32_t suppressors[tiny_max][tiny_words];  ///< of these, the ones that suppress it
  std::uint32_t kept[tiny_words];
  std::uint32_t survivors[tiny_max];  ///< in rank order
  std::uint32_t survivor_count;
  RejectedCounts rejected;
};

/// At the begin of the dynamic shared memory, in place of the decisions.
__device__ inline TinyFrame& tiny_frame(const View& view) {
  static_assert(sizeof(TinyFrame) <= decision_words * sizeof(std::uint32_t));
  return reinterpret_cast<TinyFrame&>(*view.memory.decisions);
}

__device__ inline void load_tiny(const View& view, TinyFrame& tiny) {
  for (std::uint32_t i = threadIdx.x; i < tiny_max; i += blockDim.x) {
    Validity state = Validity::absent;
    if (i < view.n) {
      const std::size_t at = view.input + i;
      const Raw raw = load(view.a, at);
      tiny.label[i] = view.a.rule.by_class ? view.a.frames.classes[at] : 0;
      state = validity(view.a, at, raw);
      tiny.box[i] = raw.box;
      tiny.key[i] = score_key(raw.score);
    }
    tiny.validity[i] = state;
  }
}

/// Whether candidate `i` suppresses candidate `r`, of a worse rank.
__device__ inline bool suppresses_tiny(const View& view, const TinyFrame& tiny, std::uint32_t i, std::uint32_t r) {
  const DirectArguments& a = view.a;
  return tiny.label[i] == tiny.label[r] && crowd::suppresses(tiny.box[i], tiny.box[r], a.rule) &&
         (!has_rules || a.rules.count(view.input, i, r, as_box(tiny.box[i]), as_box(tiny.box[r])));
}

/// A warp a row and word of columns.
__device__ inline void compare_tiny(const View& view, TinyFrame& tiny) {
  const unsigned lane = threadIdx.x % 32;
#pragma unroll 1
  for (std::uint32_t task = threadIdx.x / 32; task < tiny_words * view.n; task += blockDim.x / 32) {
    const std::uint32_t r = task / tiny_words, w = task % tiny_words;
    const std::uint32_t i = 32 * w + lane;
    const bool both = tiny.validity[r] == Validity::valid && tiny.validity[i] == Validity::valid;
    const bool is_better = both && (tiny.key[i] > tiny.key[r] || (tiny.key[i] == tiny.key[r] && i < r));
    const std::uint32_t better = __ballot_sync(all_lanes, is_better);
    const std::uint32_t suppressors = __ballot_sync(all_lanes, is_better && suppresses_tiny(view, tiny, i, r));
    if (lane == 0) {
      tiny.better[r][w] = better;
      tiny.suppressors[r][w] = suppressors;
    }
  }
}

/// A bit for each candidate of a frame, on all lanes of a warp.
struct TinyBits {
  std::uint32_t word[tiny_words];

  /// `of(k)`: whether the bit of candidate 32 * k + lane is set.
  template <typename Predicate>
  __device__ static TinyBits vote(const Predicate& of) {
    TinyBits bits;
#pragma unroll
    for (unsigned k = 0; k < tiny_words; ++k)
      bits.word[k] = __ballot_sync(all_lanes, of(k));
    return bits;
  }
  __device__ bool any() const {
    std::uint32_t all = 0;
#pragma unroll
    for (const std::uint32_t each : word)
      all |= each;
    return all;
  }
  __device__ bool has(unsigned k) const {
    return word[k] >> threadIdx.x % 32 & 1;
  }
  __device__ bool meets(const std::uint32_t (&others)[tiny_words]) const {
    std::uint32_t both = 0;
#pragma unroll
    for (unsigned w = 0; w < tiny_words; ++w)
      both |= word[w] & others[w];
    return both;
  }
  __device__ std::uint32_t count_of(const std::uint32_t (&others)[tiny_words]) const {
    std::uint32_t both = 0;
#pragma unroll
    for (unsigned w = 0; w < tiny_words; ++w)
      both += static_cast<std::uint32_t>(__popc(word[w] & others[w]));
    return both;
  }
  __device__ void add(const TinyBits& others) {
#pragma unroll
    for (unsigned w = 0; w < tiny_words; ++w)
      word[w] |= others.word[w];
  }
  __device__ void remove(const TinyBits& others) {
#pragma unroll
    for (unsigned w = 0; w < tiny_words; ++w)
      word[w] &= ~others.word[w];
  }
};

/// Which candidates are kept, of those in `open`. For a whole warp. Each round of greedy decides the best-ranked open
/// one at least: no open one suppresses it, and those that a kept one suppresses are not open any more.
template <bool greedy>
__device__ TinyBits keep_tiny(const TinyFrame& tiny, TinyBits open) {
  const unsigned lane = threadIdx.x % 32;
  const auto suppressors = [&](unsigned k) -> const std::uint32_t(&)[tiny_words] {
    return tiny.suppressors[32 * k + lane];
  };
  const auto free = [&](unsigned k) { return open.has(k) && !open.meets(suppressors(k)); };
  TinyBits kept = TinyBits::vote(free);
  for (TinyBits fresh = kept; greedy && open.any();) {
    open.remove(fresh);
    open.remove(TinyBits::vote([&](unsigned k) { return open.has(k) && fresh.meets(suppressors(k)); }));
    fresh = TinyBits::vote(free);
    kept.add(fresh);
  }
  return kept;
}

/// Decides the frame, by one warp.
template <bool greedy>
__device__ void decide_tiny(const View& view, TinyFrame& tiny) {
  const unsigned lane = threadIdx.x % 32;
  const auto vote = [&](Validity state) {
    return TinyBits::vote([&](unsigned k) { return tiny.validity[32 * k + lane] == state; });
  };
  const TinyBits valid = vote(Validity::valid), invalid = vote(Validity::invalid);
  const TinyBits below_threshold = vote(Validity::below_threshold);
  const TinyBits kept = keep_tiny<greedy>(tiny, valid);
#pragma unroll
  for (unsigned k = 0; k < tiny_words; ++k)
    if (kept.has(k))
      tiny.survivors[kept.count_of(tiny.better[32 * k + lane])] = 32 * k + lane;
  if (lane == 0) {
#pragma unroll
    for (unsigned w = 0; w < tiny_words; ++w)
      tiny.kept[w] = kept.word[w];
    tiny.survivor_count = kept.count_of(kept.word);
    tiny.rejected = {invalid.count_of(invalid.word), below_threshold.count_of(below_threshold.word)};
    *view.found.rejected = tiny.rejected;
  }
}

/// The best-ranked survivor that suppresses candidate `i`, or CROWD_NMS_NONE.
__device__ inline std::uint32_t best_of_tiny(const TinyFrame& tiny, std::uint32_t i) {
  TinyBits kept;
#pragma unroll
  for (unsigned w = 0; w < tiny_words; ++w)
    kept.word[w] = tiny.suppressors[i][w] & tiny.kept[w];
#pragma unroll
  for (unsigned w = 0; w < tiny_words; ++w)
    for (std::uint32_t left = kept.word[w]; left; left &= left - 1) {
      const std::uint32_t j = 32 * w + lowest_bit(left);
      if (!kept.meets(tiny.better[j]))
        return j;
    }
  return CROWD_NMS_NONE;
}

/// As write_representatives(), into View::memory.
__device__ inline void represent_tiny(const View& view, const TinyFrame& tiny) {
  const std::uint32_t i = threadIdx.x;
  if (i < view.n)
    view.memory.members[i] = 0;
  __syncthreads();
  if (i < view.n) {
    std::uint32_t representative = CROWD_NMS_REJECTED;
    if (tiny.validity[i] == Validity::valid) {
      representative = tiny.kept[i / 32] >> i % 32 & 1 ? i : best_of_tiny(tiny, i);
      represent(view, i, representative);
    }
    if (view.a.out.representatives)
      view.a.out.representatives[view.a.frames.slot(view.frame) + i] = representative;
  }
  __syncthreads();
}

/// Reduces a frame of up to tiny_max candidates with all outputs, in place of map_tile() and reduce_frame().
template <bool greedy>
__device__ void reduce_tiny(const View& view) {
  TinyFrame& tiny = tiny_frame(view);
  load_tiny(view, tiny);
  __syncthreads();
  compare_tiny(view, tiny);
  __syncthreads();
  if (threadIdx.x < 32)
    decide_tiny<greedy>(view, tiny);
  __syncthreads();
  if (view.a.names_best)
    represent_tiny(view, tiny);
  const std::uint32_t before = threadIdx.x / 32 * 32;
  const std::uint32_t all = tiny.survivor_count;
  const Kept<1> kept{{low_bits(all - min(all, before))}, before, all};
  const Mine<1> mine{{Row(threadIdx.x < all ? tiny.survivors[threadIdx.x] : 0, 0, 0, 0)}};
  write_survivors(view, mine, kept);
  if (threadIdx.x == blockDim.x - 1)
    view.a.out.reports[view.frame] = report_of(view, tiny.rejected, all);
  if (unlikely(view.a.gathering.is_wanted()))
    gather_frame<1>(view, mine, kept);
}

}  // namespace crowd::CROWD_DIRECT
