// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Weighted box fusion. Each candidate is compared with the clusters near it that there are by then.

#include <algorithm>

#include "core/fusion.hpp"
#include "core/merges.hpp"
#include "core/methods.hpp"
#include "cpu/arrange.hpp"
#include "cpu/cluster_grid.hpp"
#include "cpu/members.hpp"

namespace crowd {

using namespace cpu;

namespace {

// Sums of four coordinates.
struct BoxSum {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;

  void add(double weight, const CrowdNmsBox& box) {
    x1 += weight * box.x1;
    y1 += weight * box.y1;
    x2 += weight * box.x2;
    y2 += weight * box.y2;
  }
  CrowdNmsBox over(double divisor) const {
    return {static_cast<float>(x1 / divisor), static_cast<float>(y1 / divisor), static_cast<float>(x2 / divisor),
            static_cast<float>(y2 / divisor)};
  }
};

class Fusion {
 public:
  /// `heads`: memory of an entry for each candidate, or one.
  Fusion(const Job& job, Indices order, std::uint32_t* heads)
      : job_(job),
        fused_(reinterpret_cast<Fused*>(job.scratch.space.leaves)),
        sums_(static_cast<BoxSum*>(job.own_workspace)),
        weights_(reinterpret_cast<double*>(job.scratch.keys)),
        scores_(reinterpret_cast<double*>(job.scratch.spare)),
        members_(job.scratch.of),
        models_(fused_models(job.params)),
        all_meet_(job.rule.pair_test.overlap.or_equal && job.rule.pair_test.overlap.threshold == 0),
        grid_(grid_of(job, order, heads)) {
    static_assert(sizeof(Fused) * width <= sizeof(Leaf) && alignof(Fused) <= alignof(Leaf));
    static_assert(sizeof(BoxSum) == Wbf::own_bytes);
  }

  // Candidates come in rank order.
  void take(std::uint32_t i) {
    const std::uint32_t closest = closest_to(i);
    const bool joins = closest < count_ && meets(closest, i);
    const std::uint32_t cluster = joins ? closest : count_;
    if (!joins)
      found(i);
    add(i, cluster);
    if (joins)
      fuse(cluster);
    if (job_.representatives)
      job_.representatives[i] = job_.scratch.survivors[cluster];
  }

  std::uint32_t clusters() const {
    return count_;
  }

  CrowdNmsBox box(std::uint32_t cluster) const {
    return fused_[cluster].box;
  }

  float score(std::uint32_t cluster) const {
    return fused_score(scores_[cluster], members_[cluster], models_,
                       job_.frame.scores[job_.scratch.survivors[cluster]]);
  }

 private:
  struct Fused {
    CrowdNmsBox box;
    std::int32_t label;
    std::uint32_t next;  ///< in the grid
  };

  static ClusterGrid grid_of(const Job& job, Indices order, std::uint32_t* heads) {
    double width = 0, height = 0;
    for (const std::uint32_t i : order) {
      width += double{job.frame.boxes[i].x2} - job.frame.boxes[i].x1;
      height += double{job.frame.boxes[i].y2} - job.frame.boxes[i].y1;
    }
    const auto count = static_cast<double>(order.size());
    return {heads, std::max(static_cast<std::uint32_t>(order.size()), 1u), width / count, height / count,
            job.rule.pair_test.overlap};
  }

  auto links() const {
    return [this](std::uint32_t cluster) -> std::uint32_t& { return fused_[cluster].next; };
  }

  std::int32_t label_of(std::uint32_t i) const {
    return job_.frame.classes ? job_.frame.classes[i] : 0;
  }

  bool meets(std::uint32_t cluster, std::uint32_t i) const {
    return job_.rule.pair_test.counts(job_.scratch.survivors[cluster], i, fused_[cluster].box, job_.frame.boxes[i],
                                      job_.frame.arrays);
  }

  // The number of clusters if there is none.
  std::uint32_t closest_to(std::uint32_t i) const {
    const CrowdNmsBox& box = job_.frame.boxes[i];
    const std::int32_t label = label_of(i);
    float largest = -1;
    std::uint32_t closest = count_;
    const auto look = [&](std::uint32_t cluster) {
      if (fused_[cluster].label != label)
        return;
      const float ratio = job_.rule.pair_test.ratio(fused_[cluster].box, box);
      if (ratio > largest || (ratio == largest && cluster < closest)) {
        largest = ratio;
        closest = cluster;
      }
    };
    if (all_meet_ || !grid_.near(box, count_, links(), look))
      for (std::uint32_t cluster = 0; cluster < count_; ++cluster)
        look(cluster);
    return closest;
  }

  void found(std::uint32_t i) {
    fused_[count_] = {job_.frame.boxes[i], label_of(i), ClusterGrid::none};
    grid_.put(count_, job_.frame.boxes[i], links());
    sums_[count_] = {};
    weights_[count_] = 0;
    scores_[count_] = 0;
    members_[count_] = 0;
    job_.scratch.survivors[count_] = i;
    ++count_;
  }

  void add(std::uint32_t i, std::uint32_t cluster) {
    const float score = job_.frame.scores[i];
    const double weight = merge_weight(score);
    sums_[cluster].add(weight, job_.frame.boxes[i]);
    weights_[cluster] += weight;
    scores_[cluster] += score;
    ++members_[cluster];
  }

  void fuse(std::uint32_t cluster) {
    if (!can_divide(weights_[cluster]))
      return;
    const CrowdNmsBox moved = sums_[cluster].over(weights_[cluster]);
    grid_.move(cluster, fused_[cluster].box, moved, links());
    fused_[cluster].box = moved;
  }

  const Job& job_;
  Fused* const fused_;
  BoxSum* const sums_;
  double* const weights_;
  double* const scores_;
  std::uint32_t* const members_;
  const FusedModels models_;
  const bool all_meet_;  ///< boxes that are apart overlap, too
  ClusterGrid grid_;
  std::uint32_t count_ = 0;
};

/// The candidates in rank order, and memory for as many words.
struct Ordered {
  Indices order;
  std::uint32_t* spare;
};

Ordered in_rank_order(const Task& task, const Scratch& scratch) {
  if (!task.by_rank)
    return {{task.index, task.count}, scratch.by_rank};
  for (std::uint32_t r = 0; r < task.count; ++r)
    scratch.by_rank[r] = task.index[task.by_rank[r]];
  return {{scratch.by_rank, task.count}, scratch.index};
}

}  // namespace

Outcome Wbf::on_cpu(const Job& job) {
  Outcome outcome;
  const Task task = arrange(job, job.representatives, Order::place, outcome);
  const Ordered ordered = in_rank_order(task, job.scratch);
  Fusion fusion(job, ordered.order, ordered.spare);
  for (const std::uint32_t i : ordered.order)
    fusion.take(i);
  outcome.survivors = fusion.clusters();
  outcome.merged = true;
  for (std::uint32_t cluster = 0; cluster < std::min(outcome.survivors, job.out.room); ++cluster) {
    if (job.out.boxes)
      job.out.boxes[cluster] = fusion.box(cluster);
    if (job.out.scores)
      job.out.scores[cluster] = fusion.score(cluster);
  }
  return outcome;
}

}  // namespace crowd
