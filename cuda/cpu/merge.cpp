// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cpu/merge.hpp"

#include <algorithm>
#include <utility>

#include "core/merges.hpp"
#include "core/methods.hpp"
#include "core/order.hpp"
#include "cpu/arrange.hpp"

namespace crowd::cpu {

namespace {

using Indices = std::span<const std::uint32_t>;

bool merges(const CrowdNmsParams& params, MergedOf of) {
  return reads_merge(params) && merged_of(Merges{}, params.merge) == of;
}

bool scores_clusters(const CrowdNmsParams& params) {
  return reads_merge(params) && params.cluster_score != CROWD_NMS_CLUSTER_SCORE_NONE;
}

/// Space for as many indices as there are candidates, once nothing is sorted any more.
std::uint32_t* spare_indices(const Scratch& scratch) {
  return reinterpret_cast<std::uint32_t*>(scratch.spare);
}

/// The members of all survivors, in the order of their indices.
class Clusters {
 public:
  Clusters(const Frame& frame, const Scratch& scratch, const std::uint32_t* representatives)
      : ends_(scratch.of), members_(spare_indices(scratch)) {
    count_members(frame, scratch, representatives);
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < frame.size(); ++i)
      sum += std::exchange(ends_[i], sum);
    for (std::uint32_t i = 0; i < frame.size(); ++i) {
      if (representatives[i] < frame.size())
        members_[ends_[representatives[i]]++] = i;
    }
  }

  Indices of(std::uint32_t survivor) const {
    const std::uint32_t first = survivor ? ends_[survivor - 1] : 0;
    return {members_ + first, members_ + ends_[survivor]};
  }

 private:
  std::uint32_t* ends_;
  std::uint32_t* members_;
};

/// Finds the voters of a survivor, on a tree where there is one. Makes the workspace anew, but for the survivors.
class Voters {
 public:
  explicit Voters(const Job& job) : frame_(job.frame), list_(spare_indices(job.scratch)) {
    Outcome counted_before;
    task_ = arrange(job, nullptr, Order::place, counted_before);
  }

  Indices of(std::uint32_t survivor) {
    count_ = 0;
    list_[count_++] = survivor;
    if (task_.space.levels) {
      descend(survivor, task_.space.levels - 1, 0);
    } else {
      for (std::uint32_t leaf = 0; leaf < task_.space.leaf_count; ++leaf)
        look_at(survivor, leaf);
    }
    std::sort(list_, list_ + count_);
    return {list_, count_};
  }

 private:
  // Rounding is monotone: a box inside the bounds has no more in common with the survivor than they have.
  void descend(std::uint32_t survivor, std::uint32_t level, std::uint32_t n) {
    const CrowdNmsBox& box = frame_.boxes[survivor];
    const Node& node = task_.space.level[level].nodes[n];
    const std::uint32_t below = level ? task_.space.level[level - 1].count : task_.space.leaf_count;
    for (std::uint32_t c = 0; c < width && n * width + c < below; ++c) {
      const float w = smaller(box.x2, node.x2[c]) - larger(box.x1, node.x1[c]) + task_.rule.offset;
      const float h = smaller(box.y2, node.y2[c]) - larger(box.y1, node.y1[c]) + task_.rule.offset;
      if (!(w > 0 && h > 0))
        continue;
      if (level)
        descend(survivor, level - 1, n * width + c);
      else
        look_at(survivor, n * width + c);
    }
  }

  void look_at(std::uint32_t survivor, std::uint32_t leaf) {
    const std::uint32_t end = std::min((leaf + 1) * width, task_.count);
    for (std::uint32_t slot = leaf * width; slot < end; ++slot) {
      const std::uint32_t i = task_.index[slot];
      if (i != survivor && votes(i, survivor))
        list_[count_++] = i;
    }
  }

  bool votes(std::uint32_t i, std::uint32_t survivor) const {
    if (frame_.classes && frame_.classes[i] != frame_.classes[survivor])
      return false;
    const bool better = rank_key(frame_.scores[i], i) > rank_key(frame_.scores[survivor], survivor);
    const std::uint32_t hi = better ? i : survivor;
    const std::uint32_t lo = better ? survivor : i;
    return overlaps(frame_.boxes[hi], frame_.boxes[lo], task_.rule) &&
           (!task_.counts || task_.counts(task_.context, hi, lo));
  }

  const Frame& frame_;
  Task task_;
  std::uint32_t* list_;
  std::uint32_t count_ = 0;
};

template <typename Row, typename Of>
void write_boxes(const Frame& frame, Indices survivors, CrowdNmsBox* boxes, Of of) {
  for (const std::uint32_t survivor : survivors) {
    Row row;
    for (const std::uint32_t i : of(survivor))
      row.add(frame.whole[i], frame.scores[i]);
    *boxes++ = row.box(frame.whole[survivor]);
  }
}

/// By the rows that merge what `what` says.
template <MergedOf what, typename... Row, typename Of>
void write_boxes(Table<Row...>, CrowdNmsMerge merge, const Frame& frame, Indices survivors, CrowdNmsBox* boxes, Of of) {
  const auto by = [&]<typename Each>(Each) {
    if constexpr (Each::of == what) {
      if (merge == Each::value)
        write_boxes<Each>(frame, survivors, boxes, of);
    }
  };
  (by(Row{}), ...);
}

void write_scores(CrowdNmsClusterScore kind, const Frame& frame, Indices survivors, float* scores,
                  const Clusters& clusters) {
  for (const std::uint32_t survivor : survivors) {
    ScoreSum sum;
    for (const std::uint32_t i : clusters.of(survivor))
      sum.add(frame.scores[i]);
    *scores++ = sum.score(kind, frame.scores[survivor]);
  }
}

}  // namespace

void count_members(const Frame& frame, const Scratch& scratch, const std::uint32_t* representatives) {
  std::fill_n(scratch.of, frame.size(), 0u);
  for (std::uint32_t i = 0; i < frame.size(); ++i) {
    if (representatives[i] < frame.size())
      ++scratch.of[representatives[i]];
  }
}

bool needs_representatives(const CrowdNmsParams& params, const CrowdNmsSurvivors& out) {
  if (reads_merge(params) && params.min_members > 1)
    return true;
  return out.max_survivors &&
         ((out.boxes && merges(params, MergedOf::members)) || (out.scores && scores_clusters(params)));
}

std::uint32_t drop_small(const Job& job, std::uint32_t found) {
  const auto& [params, rule, frame, scratch, representatives, d_max] = job;
  if (!reads_merge(params) || params.min_members <= 1)
    return found;
  count_members(frame, scratch, representatives);
  for (std::uint32_t i = 0; i < frame.size(); ++i) {
    if (representatives[i] < frame.size() && scratch.of[representatives[i]] < params.min_members)
      representatives[i] = CROWD_NMS_NONE;
  }
  const auto end = std::remove_if(scratch.survivors, scratch.survivors + found,
                                  [&](std::uint32_t s) { return scratch.of[s] < params.min_members; });
  return static_cast<std::uint32_t>(end - scratch.survivors);
}

void merge(const Job& job, std::uint32_t count, const Merged& out) {
  const auto& [params, rule, frame, scratch, representatives, d_max] = job;
  const Indices survivors = {scratch.survivors, count};
  for (std::uint32_t r = 0; r < count; ++r) {
    if (out.boxes)
      out.boxes[r] = frame.whole[survivors[r]];
    if (out.scores)
      out.scores[r] = frame.scores[survivors[r]];
  }
  const bool members_merge = out.boxes && merges(params, MergedOf::members);
  const bool clusters_score = out.scores && scores_clusters(params);
  if (members_merge || clusters_score) {
    const Clusters clusters(frame, scratch, representatives);
    if (members_merge)
      write_boxes<MergedOf::members>(Merges{}, params.merge, frame, survivors, out.boxes,
                                     [&](std::uint32_t survivor) { return clusters.of(survivor); });
    if (clusters_score)
      write_scores(params.cluster_score, frame, survivors, out.scores, clusters);
  }
  if (out.boxes && merges(params, MergedOf::voters)) {
    Voters voters(job);
    write_boxes<MergedOf::voters>(Merges{}, params.merge, frame, survivors, out.boxes,
                                  [&](std::uint32_t survivor) { return voters.of(survivor); });
  }
}

}  // namespace crowd::cpu
