// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The reduce: looks at the masks that rows with many suppressors have in place of a list. A warp looks at a whole mask,
// a vector a lane.
#pragma once

#include "kernels/direct/reduce_view.cuh"

namespace crowd::CROWD_DIRECT {

/// Sets ReduceShared::kept_indices by the decisions. For a whole block; a barrier has to follow.
__device__ inline void set_kept_indices(const View& view) {
  for (std::uint32_t base = threadIdx.x / 32 * 32; base < capacity_max; base += blockDim.x) {
    const std::uint32_t index = base + threadIdx.x % 32;
    const bool kept = index < view.a.capacity && view.decision(index).has_kept();
    const std::uint32_t word = __ballot_sync(all_lanes, kept);
    if (threadIdx.x % 32 == 0)
      view.shared.kept_indices[base / 32] = word;
  }
}

/// The lane's vector of all candidates that are kept.
__device__ inline uint4 kept_vector(const View& view) {
  const std::uint32_t* const words = view.shared.kept_indices + threadIdx.x % 32 * 4;
  return {load_relaxed(words), load_relaxed(words + 1), load_relaxed(words + 2), load_relaxed(words + 3)};
}

/// The masks of a frame, as a lane reads them.
struct Masks {
  const uint4* of_frame;
  const uint4* of_lane;   ///< the lane's vector of the first mask
  std::uint32_t vectors;  ///< of a mask

  __device__ explicit Masks(const View& view)
      : of_frame(reinterpret_cast<const uint4*>(view.found.masks)),
        vectors(materialize(mask_words(view.a.capacity) / words_per_vector)) {
    of_lane = of_frame + min(threadIdx.x % 32, vectors - 1);
  }

  /// The lane's vector of the mask of row `index`. Lanes beyond the last vector have that one: their bits in
  /// kept_vector() are 0. (Loads without a condition are in flight together.)
  __device__ uint4 vector(std::uint32_t index) const {
    return of_lane[index * vectors];
  }
};

__device__ inline uint4 operator&(const uint4& a, const uint4& b) {
  return {a.x & b.x, a.y & b.y, a.z & b.z, a.w & b.w};
}

__device__ inline uint4 operator~(const uint4& a) {
  return {~a.x, ~a.y, ~a.z, ~a.w};
}

__device__ inline bool is_any(const uint4& vector) {
  return vector.x | vector.y | vector.z | vector.w;
}

/// How many of the lanes' words are not 0. For a whole warp.
__device__ inline unsigned count_words(const uint4& v) {
  const unsigned own = (v.x != 0) + (v.y != 0) + (v.z != 0) + (v.w != 0);
  return warp_sum(own);
}

/// Masks of the rows of several lanes, a vector a lane. They are loaded together.
template <unsigned batch>
struct TakenMasks {
  unsigned lane_bit[batch];  ///< of the row's lane; 0: there are not so many
  uint4 mask[batch];

  /// Takes lanes from `todo`. `index`: of the lane's row. For a whole warp.
  __device__ TakenMasks(const Masks& masks, unsigned& todo, std::uint32_t index) {
#pragma unroll
    for (unsigned b = 0; b < batch; ++b) {
      lane_bit[b] = todo & (0 - todo);
      todo ^= lane_bit[b];
      const int lane = max(__ffs(static_cast<int>(lane_bit[b])) - 1, 0);
      mask[b] = masks.vector(__shfl_sync(all_lanes, index, lane));
    }
    // Else the compiler moves loads to where they are used.
#pragma unroll
    for (unsigned b = 0; b < batch; ++b)
      mask[b] = materialize(mask[b]);
  }
};

/// Calls what(lane, mask) for the lanes that are `asked`, with the mask of row `index`, a vector a lane. `batch`: loads
/// in flight together. For a whole warp.
template <unsigned batch, typename Function>
__device__ void for_each_mask(const Masks& masks, bool asked, std::uint32_t index, const Function& what) {
  for (unsigned todo = __ballot_sync(all_lanes, asked); todo;) {
    const TakenMasks<batch> taken(masks, todo, index);
#pragma unroll
    for (unsigned b = 0; b < batch; ++b)
      if (taken.lane_bit[b])
        what(highest_bit(taken.lane_bit[b]), taken.mask[b]);
  }
}

/// For lanes that are `asked`: whether the mask of row `index` has one of `these` candidates, a vector a lane. For a
/// whole warp.
template <unsigned batch>
__device__ bool has_any_in_mask(const Masks& masks, bool asked, std::uint32_t index, const uint4& these) {
  unsigned found = 0;
  for (unsigned todo = __ballot_sync(all_lanes, asked); todo;) {
    const TakenMasks<batch> taken(masks, todo, index);
    // No branch: masks beyond the last one count for no lane.
#pragma unroll
    for (unsigned b = 0; b < batch; ++b)
      found |= __any_sync(all_lanes, is_any(taken.mask[b] & these)) ? taken.lane_bit[b] : 0;
  }
  return found >> threadIdx.x % 32 & 1;
}

/// The same where few words of `these` are not 0.
__device__ inline bool has_one_of_few_in_mask(const Masks& masks, bool asked, std::uint32_t index, const uint4& these) {
  // Loads of so many words are in flight together.
  constexpr unsigned batch = 4;
  const auto* const mask = reinterpret_cast<const std::uint32_t*>(masks.of_frame + index * masks.vectors);
  std::uint32_t found = 0, number = 0;
  for (const std::uint32_t own : {these.x, these.y, these.z, these.w}) {
    for (unsigned todo = __ballot_sync(all_lanes, own); todo;) {
      std::uint32_t bits[batch], words[batch];
#pragma unroll
      for (unsigned b = 0; b < batch; ++b) {
        const int lane = max(__ffs(static_cast<int>(todo)) - 1, 0);
        bits[b] = __shfl_sync(all_lanes, own, lane);
        words[b] = asked && todo ? mask[4 * static_cast<std::uint32_t>(lane) + number] : 0;
        todo &= todo - 1;
      }
#pragma unroll
      for (unsigned b = 0; b < batch; ++b)
        found |= words[b] & bits[b];
    }
    ++number;
  }
  return found;
}

/// Whether the mask of row `index` has candidate `other`.
__device__ inline bool has_in_mask(const View& view, std::uint32_t index, std::uint32_t other) {
  const std::uint32_t words = mask_words(view.a.capacity);
  return view.found.masks[std::size_t{index} * words + other / 32] >> other % 32 & 1;
}

/// The best rank among kept candidates in the mask of row `index`; ~0 if there is none. `kept`: kept_vector(). For a
/// whole warp.
__device__ inline std::uint32_t best_rank_in_mask(const View& view, const Masks& masks, std::uint32_t index,
                                                  const uint4& kept) {
  const uint4 both = masks.vector(index) & kept;
  std::uint32_t best = ~0u;
  std::uint32_t first = threadIdx.x % 32 * bits_per_vector;
  for (std::uint32_t word : {both.x, both.y, both.z, both.w}) {
    for (; word; word &= word - 1)
      best = min(best, view.decision(first + highest_bit(word & (0 - word))).rank());
    first += 32;
  }
  return warp_min(best);
}

}  // namespace crowd::CROWD_DIRECT
