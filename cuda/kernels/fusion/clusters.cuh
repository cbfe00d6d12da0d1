// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Clusters that candidates are given to in rank order, by a warp or a block. A thread has every so many-th of them, and
// the first of its clusters in registers: while there are no more clusters than threads, none is loaded.
#pragma once

#include "core/fusion.hpp"
#include "core/merges.hpp"
#include "kernels/fusion/fusion.cuh"

namespace crowd::ruled {

/// A candidate as it is fused.
struct Fusing {
  float4 box;
  float score;
  std::uint32_t place;
  std::int32_t label;
};

/// The cluster of the largest ratio with a candidate, of equals the one founded first.
struct Closest {
  std::uint32_t ratio;  ///< number_key()
  std::uint32_t tag;    ///< twice the cluster's number, and one more if it does not overlap the candidate

  __device__ static Closest none() {
    return {number_key(-1), ~0u};
  }
  __device__ std::uint32_t cluster() const {
    return tag / 2;
  }
  __device__ bool overlaps() const {
    return tag % 2 == 0;
  }
};

/// For a whole warp; the same on all lanes.
__device__ inline Closest closest_of_lanes(const Closest& mine) {
  const std::uint32_t largest = warp_max(mine.ratio);
  return {largest, warp_min(mine.ratio == largest ? mine.tag : ~0u)};
}

/// A cluster in registers.
struct Cluster {
  float4 fused, hull, core;
  double sums[4];
  double weights, scores;
  std::uint32_t members, founder;
  std::int32_t label;

  __device__ static Cluster founded_by(const Fusing& founder) {
    Cluster cluster{founder.box, founder.box, founder.box, {0, 0, 0, 0}, 0, 0, 0, founder.place, founder.label};
    cluster.sum(founder);
    return cluster;
  }

  __device__ Cluster with(const Fusing& candidate) const {
    Cluster next = *this;
    next.sum(candidate);
    if (can_divide(next.weights))
      next.move_to_mean();
    return next;
  }

 private:
  __device__ void sum(const Fusing& candidate) {
    const double weight = merge_weight(candidate.score);
    sums[0] += weight * candidate.box.x;
    sums[1] += weight * candidate.box.y;
    sums[2] += weight * candidate.box.z;
    sums[3] += weight * candidate.box.w;
    weights += weight;
    scores += candidate.score;
    members += 1;
  }
  /// Divisions of doubles are what the next candidate waits for: one, not four.
  __device__ void move_to_mean() {
    const double reciprocal = 1.0 / weights;
    const auto mean_of = [&](double sum) { return static_cast<float>(quotient(sum, weights, reciprocal)); };
    const float4 mean{mean_of(sums[0]), mean_of(sums[1]), mean_of(sums[2]), mean_of(sums[3])};
    fused = mean;
    hull = {smaller(hull.x, mean.x), smaller(hull.y, mean.y), larger(hull.z, mean.z), larger(hull.w, mean.w)};
    core = {larger(core.x, mean.x), larger(core.y, mean.y), smaller(core.z, mean.z), smaller(core.w, mean.w)};
  }
};

__device__ inline Cluster load_cluster(const ClusterArrays& arrays, std::size_t at) {
  const double* const sums = arrays.sums + 4 * at;
  return {arrays.fused[at],   arrays.hull[at],   arrays.core[at],    {sums[0], sums[1], sums[2], sums[3]},
          arrays.weights[at], arrays.scores[at], arrays.members[at], arrays.founder[at],
          arrays.label[at]};
}

__device__ inline void store_cluster(const ClusterArrays& arrays, std::size_t at, const Cluster& cluster) {
  arrays.fused[at] = cluster.fused;
  arrays.hull[at] = cluster.hull;
  arrays.core[at] = cluster.core;
  for (unsigned i = 0; i < 4; ++i)
    arrays.sums[4 * at + i] = cluster.sums[i];
  arrays.weights[at] = cluster.weights;
  arrays.scores[at] = cluster.scores;
  arrays.members[at] = cluster.members;
  arrays.founder[at] = cluster.founder;
  arrays.label[at] = cluster.label;
}

/// A thread's part of the clusters from a slot of the frame on: those whose numbers are the thread's modulo `threads`.
/// No thread reads what another has.
class Clusters {
 public:
  __device__ Clusters(const FusionStage& f, std::uint32_t first, std::uint32_t thread, std::uint32_t threads)
      : f_(f), first_(first), thread_(thread), threads_(threads) {}

  /// Of the thread's clusters.
  __device__ Closest closest_to(const Fusing& candidate) const {
    Closest closest = Closest::none();
    if (thread_ < count_)
      compare(candidate, held_.fused, held_.label, held_.founder, thread_, closest);
    for (std::uint32_t c = thread_ + threads_; c < count_; c += threads_)
      compare(candidate, arrays().fused[at(c)], arrays().label[at(c)], arrays().founder[at(c)], c, closest);
    return closest;
  }

  /// Adds the candidate to the closest cluster of all threads, if they overlap, or founds one. All threads do.
  __device__ void take(const Fusing& candidate, const Closest& closest) {
    const bool joins = closest.overlaps();
    const std::uint32_t number = joins ? closest.cluster() : count_;
    count_ += !joins;
    if (number % threads_ != thread_)
      return;
    f_.cluster(candidate.place) = first_ + number;
    if (number == thread_)
      held_ = joins ? held_.with(candidate) : Cluster::founded_by(candidate);
    else
      store_cluster(arrays(), at(number),
                    joins ? load_cluster(arrays(), at(number)).with(candidate) : Cluster::founded_by(candidate));
  }

  /// Stores what is held, and marks slots without a cluster, up to `end` of them.
  __device__ void finish(std::uint32_t end) const {
    if (thread_ < count_)
      store_cluster(arrays(), at(thread_), held_);
    for (std::uint32_t c = thread_; c < end; c += threads_)
      if (c >= count_)
        arrays().members[at(c)] = 0;
  }

 private:
  __device__ const ClusterArrays& arrays() const {
    return f_.a.arrays.clusters;
  }
  __device__ std::size_t at(std::uint32_t number) const {
    return f_.first_slot() + first_ + number;
  }

  __device__ void compare(const Fusing& candidate, const float4& fused, std::int32_t label, std::uint32_t founder,
                          std::uint32_t number, Closest& closest) const {
    const float ratio = ratio_of_fused(fused, candidate.box);
    // A NaN is in no cluster's favour.
    const bool closer = label == candidate.label && ratio > -1 && number_key(ratio) > closest.ratio;
    if (closer)
      closest = {number_key(ratio), 2 * number + !are_overlap(ratio, founder)};
  }

  /// PairTest::ratio(), in fewer instructions for IoU: a step is a chain of them.
  __device__ float ratio_of_fused(const float4& fused, const float4& box) const {
    const PairTest& pairs = f_.stage.a.rules.pairs;
    if (pairs.metric != CROWD_NMS_IOU)
      return pairs.ratio(as_box(fused), as_box(box));
    return ratio_of(as_box(fused), as_box(box), {CROWD_NMS_IOU, false, 0, pairs.overlap.offset});
  }

  /// Whether a candidate and a cluster with this ratio overlap.
  __device__ bool are_overlap(float ratio, std::uint32_t founder) const {
    const CallRules& rules = f_.stage.a.rules;
    const PairTest& pairs = rules.pairs;
    float threshold = pairs.threshold;
    if (pairs.classes.count)
      threshold =
          pairs.threshold_of(rank_index(f_.key(founder)), rules.arrays.from(f_.stage.a.frames.input(f_.stage.frame)));
    const RulePair pair{0, 0, ratio, threshold, pairs.or_equal, 0};
    return pair.passes(pairs.min_threshold) && pair.passes(threshold);
  }

  const FusionStage& f_;
  const std::uint32_t first_;
  const std::uint32_t thread_, threads_;
  Cluster held_ = {};
  std::uint32_t count_ = 0;
};

}  // namespace crowd::ruled
