// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The reduce: looks at the masks that rows with many suppressors have in place of a list. A warp looks at a whole mask,
// a vector a lane.
#pragma once

#include "kernels/direct/reduce_view.cuh"

namespace crowd::CROWD_DIRECT {

/// Sets ReduceShared::kept_indices and suppressed_indices by the decisions. For a whole block; a barrier has to follow.
__device__ inline void mark_indices(const View& view) {
  for (std::uint32_t base = threadIdx.x / 32 * 32; base < capacity_max; base += blockDim.x) {
    const std::uint32_t index = base + threadIdx.x % 32;
    const bool mine = index < view.a.capacity;
    const PublishedDecision decision = mine ? view.decision(index) : PublishedDecision::suppressed();
    const std::uint32_t kept = __ballot_sync(all_lanes, decision.has_kept());
    const std::uint32_t suppressed = __ballot_sync(all_lanes, decision.all_suppressed());
    if (threadIdx.x % 32 == 0) {
      view.shared.kept_indices[base / 32] = kept;
      view.shared.suppressed_indices[base / 32] = suppressed;
    }
  }
}

/// Adds a decision to them, while other threads look.
__device__ inline void mark_index(const View& view, std::uint32_t index, PublishedDecision decision) {
  if (decision.has_kept())
    atomicOr(&view.shared.kept_indices[index / 32], 1u << index % 32);
  else if (decision.all_suppressed())
    atomicOr(&view.shared.suppressed_indices[index / 32], 1u << index % 32);
}

/// The lane's vector of bits that threads set meanwhile.
__device__ inline uint4 lane_vector(const std::uint32_t* bits) {
  const std::uint32_t* const words = bits + threadIdx.x % 32 * 4;
  return {load_relaxed(words), load_relaxed(words + 1), load_relaxed(words + 2), load_relaxed(words + 3)};
}

/// The lane's vector of all candidates that are kept.
__device__ inline uint4 kept_vector(const View& view) {
  return lane_vector(view.shared.kept_indices);
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

/// Lanes of the warp whose masks are looked at, and the rows they have.
class AskedRows {
 public:
  /// `index`: of the lane's row, if that is `asked`.
  __device__ AskedRows(bool asked, std::uint32_t index) : lanes_(__ballot_sync(all_lanes, asked)), index_(index) {
    const std::uint32_t first = row(lanes_ & (0 - lanes_));
    index_ = asked ? index : first;
  }

  __device__ bool is_empty() const {
    return !lanes_;
  }
  /// A bit for the next lane; 0 after the last one.
  __device__ unsigned take() {
    const unsigned bit = lanes_ & (0 - lanes_);
    lanes_ ^= bit;
    return bit;
  }
  /// The row of the lane with that bit; for 0, of one of the lanes.
  __device__ std::uint32_t row(unsigned bit) const {
    return __shfl_sync(all_lanes, index_, max(__ffs(static_cast<int>(bit)) - 1, 0));
  }

 private:
  unsigned lanes_;
  std::uint32_t index_;
};

/// The next few masks, a vector a lane.
struct MaskBatch {
  static constexpr unsigned size = 4;
  unsigned lane_bit[size];  ///< of the row's lane; 0 beyond the last row
  uint4 mask[size];

  __device__ MaskBatch(const Masks& masks, AskedRows& rows) {
#pragma unroll
    for (unsigned b = 0; b < size; ++b) {
      lane_bit[b] = rows.take();
      mask[b] = masks.vector(rows.row(lane_bit[b]));
    }
  }
};

/// For lanes that are `asked`: whether the mask of row `index` has one of `these` candidates, a vector a lane. For a
/// whole warp.
__device__ inline bool has_any_in_mask(const Masks& masks, bool asked, std::uint32_t index, const uint4& these) {
  AskedRows rows(asked, index);
  if (rows.is_empty())
    return false;
  unsigned found = 0;
  const auto look = [&](const MaskBatch& batch) {
#pragma unroll
    for (unsigned b = 0; b < MaskBatch::size; ++b)
      found |= __any_sync(all_lanes, is_any(batch.mask[b] & these)) ? batch.lane_bit[b] : 0;
  };
  MaskBatch batch(masks, rows);
#pragma unroll 1
  while (!rows.is_empty()) {
    // These are on their way while those before are looked at.
    const MaskBatch next(masks, rows);
    look(batch);
    batch = next;
  }
  look(batch);
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

/// The best rank among kept candidates in the mask of row `index`; ~0 if there is none. `kept`: kept_vector(). For a
/// whole warp.
__device__ inline std::uint32_t best_rank_in_mask(const View& view, const Masks& masks, std::uint32_t index,
                                                  const uint4& kept) {
  const uint4 both = masks.vector(index) & kept;
  std::uint32_t best = ~0u;
  std::uint32_t first = threadIdx.x % 32 * bits_per_vector;
  for (std::uint32_t word : {both.x, both.y, both.z, both.w}) {
    for (; word; word &= word - 1)
      best = min(best, view.decision(first + lowest_bit(word)).rank());
    first += 32;
  }
  return warp_min(best);
}

}  // namespace crowd::CROWD_DIRECT
