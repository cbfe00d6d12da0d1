// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Best first: what samples tell of a frame. They affect speed alone.
#pragma once

#include "kernels/best_first/best_first.cuh"

namespace crowd::CROWD_DIRECT {

constexpr unsigned sampling_threads = tuning::best_first_block;

struct SampleShared {
  float4 box[tuning::best_first_sampled];
  std::uint32_t overlaps;
  alignas(sizeof(uint4)) std::uint32_t key[tuning::best_first_samples];
  std::uint64_t least;
};

/// Candidate of a frame's n that is number s of so many samples.
template <std::uint32_t samples>
__device__ std::uint32_t sampled(std::uint32_t s, std::uint32_t n) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(s) * n / samples);
}

/// How many of the pairs of sampled boxes overlap, by a test that affects speed alone. For a whole block.
__device__ inline std::uint32_t count_overlaps(const BestFirstArguments& a, std::size_t input, std::uint32_t n,
                                               SampleShared& shared) {
  constexpr std::uint32_t samples = tuning::best_first_sampled;
  constexpr std::uint32_t at_once = sampling_threads / samples;
  static_assert(sampling_threads % samples == 0 && tuning::best_first_pairs % at_once == 0);
  const std::uint32_t t = threadIdx.x;
  if (t < samples)
    shared.box[t] = a.frames.boxes[input + sampled<samples>(t, n)];
  if (t == 0)
    shared.overlaps = 0;
  __syncthreads();
  const float offset = a.rule.overlap.offset;
  const float4 mine = shared.box[t % samples];
  const float own = area(as_box(mine), offset);
  std::uint32_t overlaps = 0;
  for (std::uint32_t p = t / samples; p < tuning::best_first_pairs; p += at_once) {
    const float4 other = shared.box[(t + 1 + p) % samples];
    const float w = fminf(mine.z, other.z) - fmaxf(mine.x, other.x) + offset;
    const float h = fminf(mine.w, other.w) - fmaxf(mine.y, other.y) + offset;
    overlaps += (w > 0) & (h > 0) & (w * h > a.rule.min_part * (own + area(as_box(other), offset)));
  }
  overlaps = warp_sum(overlaps);
  if (t % 32 == 0 && overlaps)
    atomicAdd(&shared.overlaps, overlaps);
  __syncthreads();
  return shared.overlaps;
}

/// Sampled scores of a frame, each with the number of better ones. For a whole block.
class RankedSamples {
 public:
  __device__ RankedSamples(const BestFirstArguments& a, std::size_t input, std::uint32_t n, SampleShared& shared)
      : shared_(shared) {
    const std::uint32_t t = threadIdx.x;
    const std::uint32_t i = sampled<samples>(t / lanes, n);
    key_ = rank_key(a.frames.scores[input + i], i);
    // By their scores, and of about equal ones by index: the last bits, in which all differ, say that.
    const std::uint32_t mine = static_cast<std::uint32_t>(key_ >> 32) / samples * samples + samples - 1 - t / lanes;
    if (t % lanes == 0)
      shared.key[t / lanes] = mine;
    __syncthreads();
    std::uint32_t better = 0;
#pragma unroll 4
    for (std::uint32_t quad = t % lanes; quad < samples / 4; quad += lanes) {
      const uint4 keys = reinterpret_cast<const uint4*>(shared.key)[quad];
      better += (keys.x > mine) + (keys.y > mine) + (keys.z > mine) + (keys.w > mine);
    }
    better_ = group_sum<lanes>(better);
  }
  /// The rank key of the sample that `reach` others are better than. For a whole block.
  __device__ std::uint64_t at(std::uint32_t reach) const {
    if (threadIdx.x % lanes == 0 && better_ == reach)
      shared_.least = key_;
    __syncthreads();
    return shared_.least;
  }

  static constexpr std::uint32_t samples = tuning::best_first_samples;

 private:
  static constexpr unsigned lanes = sampling_threads / samples;  // that share a sample

  SampleShared& shared_;
  std::uint64_t key_;
  std::uint32_t better_;
};

/// How many of the best are decided first: so few that each overlaps about best_first_alike others.
__device__ inline std::uint32_t sought_of(std::uint32_t overlaps) {
  constexpr std::uint32_t pairs = tuning::best_first_sampled * tuning::best_first_pairs;
  return min(max(tuning::best_first_alike * pairs / overlaps, tuning::best_first_min), tuning::best_first_max);
}

}  // namespace crowd::CROWD_DIRECT
