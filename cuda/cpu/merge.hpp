// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What follows a method that reads merge, cluster_score and min_members (crowd/nms.h, "Merging").
#pragma once

#include <cstdint>

#include "core/merges.hpp"
#include "cpu/frame.hpp"

namespace crowd::cpu {

/// The rows of a box, one an edge, of a way of merging.
template <typename Row>
struct MergedBox {
  void add(const CrowdNmsBox& box, float score) {
    x1.add(box.x1, score);
    y1.add(box.y1, score);
    x2.add(box.x2, score);
    y2.add(box.y2, score);
  }
  void add_weighted(const CrowdNmsBox& box, double weight) {
    x1.add_weighted(box.x1, weight);
    y1.add_weighted(box.y1, weight);
    x2.add_weighted(box.x2, weight);
    y2.add_weighted(box.y2, weight);
  }
  CrowdNmsBox box(const CrowdNmsBox& own) const {
    return {x1.edge(own.x1), y1.edge(own.y1), x2.edge(own.x2), y2.edge(own.y2)};
  }

  Row x1{EdgeSide::low}, y1{EdgeSide::low}, x2{EdgeSide::high}, y2{EdgeSide::high};
};

/// Whether a call needs the representatives for merging.
bool needs_representatives(const CrowdNmsParams& params, const CrowdNmsSurvivors& out);

/// Takes survivors of fewer than params.min_members out of Scratch::survivors, of which there are `found`, and out of
/// the representatives. Returns how many remain.
std::uint32_t drop_small(const Job& job, std::uint32_t found);

/// Writes the own boxes and scores of the first `count` of Scratch::survivors to Job::out.
void write_own(const Job& job, std::uint32_t count);

/// Writes the boxes and scores of the first `count` of Scratch::survivors to Job::out. The job's representatives may be
/// null where they are not needed. What else the workspace holds but these is gone then.
void merge(const Job& job, std::uint32_t count);

}  // namespace crowd::cpu
