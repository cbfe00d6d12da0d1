// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Regions of interest that stand for the same objects as candidates of another kind, as DL Streamer attaches both: a
// region with a detection that has the candidate's id, and its rectangle within two pixels.
#pragma once

#include <gst/video/gstvideometa.h>

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "meta/adapter.hpp"

namespace crowd::meta {

class PairedRegions {
 public:
  /// Of the candidates with these ids, which ascend, and rectangles.
  void find(GstBuffer* buffer, std::span<const guint> ids, std::span<const CrowdNmsBox> rectangles);

  /// The exact boxes from the regions' structures, in place of rectangles of whole pixels.
  void read_boxes(FrameSize size, std::span<CrowdNmsBox> boxes) const;

  /// `label_id` of a candidate's region, -1 for none.
  std::int32_t label_id_of(std::uint32_t candidate) const {
    return candidate < label_ids_.size() ? label_ids_[candidate] : -1;
  }

  /// Drops (mode replace) the regions of candidates that are suppressed or rejected and marks the others, which get the
  /// ids `after`; children of dropped ones go to the representative of their parent. Fills in `paired`.
  void follow(GstBuffer* buffer, const Candidates& candidates, const Verdict& verdict, Mode mode, ObjectIds& ids);

 private:
  struct Following;
  struct Pair {
    GstVideoRegionOfInterestMeta* region;
    std::uint32_t candidate;
  };

  bool stays(GstMeta* meta, Following& following) const;
  void adopt(GstVideoRegionOfInterestMeta* roi, const Following& following) const;
  std::uint32_t candidate_of(int id) const;
  int id_of(std::uint32_t candidate, const ObjectIds& ids) const;

  std::span<const guint> ids_;
  std::vector<Pair> pairs_;  // in the order of the metas
  std::vector<bool> paired_;
  std::vector<std::int32_t> label_ids_;
  bool has_children_ = false;  // of any region
};

}  // namespace crowd::meta
