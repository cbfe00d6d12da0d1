// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cpu/merge.hpp"

#include <algorithm>

#include "core/methods.hpp"
#include "cpu/members.hpp"

namespace crowd::cpu {

namespace {

bool merges(const CrowdNmsParams& params, MergedOf of) {
  return reads_merge(params) && merged_of(Merges{}, params.merge) == of;
}

bool scores_clusters(const CrowdNmsParams& params) {
  return reads_merge(params) && params.cluster_score != CROWD_NMS_CLUSTER_SCORE_NONE;
}

/// The voters of a survivor, in the order of their indices.
class Voters {
 public:
  explicit Voters(const Job& job) : neighbours_(job), list_(spare_indices(job.scratch)) {}

  Indices of(std::uint32_t survivor) const {
    std::uint32_t* end = list_;
    *end++ = survivor;
    neighbours_.of(survivor, [&end](std::uint32_t i, bool) { *end++ = i; });
    std::sort(list_, end);
    return {list_, end};
  }

 private:
  Neighbours neighbours_;
  std::uint32_t* list_;
};

template <typename Row, typename Of>
void write_boxes(const Frame& frame, Indices survivors, CrowdNmsBox* boxes, Of of) {
  for (const std::uint32_t survivor : survivors) {
    MergedBox<Row> merged;
    for (const std::uint32_t i : of(survivor))
      merged.add(frame.whole[i], frame.scores[i]);
    *boxes++ = merged.box(frame.whole[survivor]);
  }
}

/// By the rows that merge what `what` says.
template <MergedOf what, typename... Row, typename Of>
void write_boxes(Table<Row...>, CrowdNmsMerge merge, const Frame& frame, Indices survivors, CrowdNmsBox* boxes, Of of) {
  const auto by = [&]<typename Each>() {
    if constexpr (Each::of == what) {
      if (merge == Each::value)
        write_boxes<Each>(frame, survivors, boxes, of);
    }
  };
  (by.template operator()<Row>(), ...);
}

void write_scores(CrowdNmsClusterScore kind, const Frame& frame, Indices survivors, float* scores,
                  const MemberLists& members) {
  for (const std::uint32_t survivor : survivors) {
    ScoreSum sum;
    for (const std::uint32_t i : members.of(survivor))
      sum.add(frame.scores[i]);
    *scores++ = sum.score(kind, frame.scores[survivor]);
  }
}

}  // namespace

bool needs_representatives(const CrowdNmsParams& params, const CrowdNmsSurvivors& out) {
  if (reads_merge(params) && params.min_members > 1)
    return true;
  return out.max_survivors &&
         ((out.boxes && merges(params, MergedOf::members)) || (out.scores && scores_clusters(params)));
}

std::uint32_t drop_small(const Job& job, std::uint32_t found) {
  const CrowdNmsParams& params = job.params;
  const Frame& frame = job.frame;
  const Scratch& scratch = job.scratch;
  std::uint32_t* const representatives = job.representatives;
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

void write_own(const Job& job, std::uint32_t count) {
  const auto& [boxes, scores, room] = job.out;
  for (std::uint32_t r = 0; r < count; ++r) {
    if (boxes)
      boxes[r] = job.frame.whole[job.scratch.survivors[r]];
    if (scores)
      scores[r] = job.frame.scores[job.scratch.survivors[r]];
  }
}

void merge(const Job& job, std::uint32_t count) {
  const CrowdNmsParams& params = job.params;
  const Frame& frame = job.frame;
  const Scratch& scratch = job.scratch;
  const Merged& out = job.out;
  const Indices survivors = {scratch.survivors, count};
  write_own(job, count);
  const bool members_merge = out.boxes && merges(params, MergedOf::members);
  const bool clusters_score = out.scores && scores_clusters(params);
  if (members_merge || clusters_score) {
    const MemberLists members(frame, scratch, job.representatives);
    if (members_merge)
      write_boxes<MergedOf::members>(Merges{}, params.merge, frame, survivors, out.boxes,
                                     [&](std::uint32_t survivor) { return members.of(survivor); });
    if (clusters_score)
      write_scores(params.cluster_score, frame, survivors, out.scores, members);
  }
  if (out.boxes && merges(params, MergedOf::voters)) {
    const Voters voters(job);
    write_boxes<MergedOf::voters>(Merges{}, params.merge, frame, survivors, out.boxes,
                                  [&](std::uint32_t survivor) { return voters.of(survivor); });
  }
}

}  // namespace crowd::cpu
