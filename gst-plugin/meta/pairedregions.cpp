// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "meta/pairedregions.hpp"

#include <algorithm>
#include <cmath>

#include "base/detection.hpp"
#include "lib/gstcrowdtrail.h"
#include "meta/regionbox.hpp"
#include "meta/regionmarks.hpp"
#include "meta/written.hpp"

namespace crowd::meta {

namespace {

bool is_close(const GstVideoRegionOfInterestMeta& roi, const CrowdNmsBox& box) {
  constexpr double tolerance = 2;
  const auto near = [](double a, double b) { return std::abs(a - b) <= tolerance; };
  return near(roi.x, box.x1) && near(roi.y, box.y1) && near(double(roi.x) + roi.w, box.x2) &&
         near(double(roi.y) + roi.h, box.y2);
}

}  // namespace

struct PairedRegions::Following {
  const PairedRegions& pairs;
  const Candidates& candidates;
  const Verdict& verdict;
  Mode mode;
  const ObjectIds& ids;
  std::size_t next = 0;
  guint left = 0;
};

std::uint32_t PairedRegions::candidate_of(int id) const {
  const auto found = std::ranges::lower_bound(ids_, id, {}, [](guint i) { return static_cast<gint64>(i); });
  const bool is_there = id >= 0 && found != ids_.end() && *found == static_cast<guint>(id);
  return is_there ? static_cast<std::uint32_t>(found - ids_.begin()) : CROWD_NMS_NONE;
}

int PairedRegions::id_of(std::uint32_t candidate, const ObjectIds& ids) const {
  return region_id_of(ids, candidate, static_cast<int>(ids_[candidate]), has_children_);
}

void PairedRegions::find(GstBuffer* buffer, std::span<const guint> ids, std::span<const CrowdNmsBox> rectangles) {
  ids_ = ids;
  pairs_.clear();
  paired_.clear();
  label_ids_.clear();
  has_children_ = false;
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto* roi = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    has_children_ |= roi->parent_id != 0;
    const std::uint32_t candidate = candidate_of(roi->id);
    if (candidate == CROWD_NMS_NONE || !is_close(*roi, rectangles[candidate]))
      continue;
    const auto detection = read_detection(*roi);
    paired_.resize(ids.size(), false);
    label_ids_.resize(ids.size(), -1);
    if (!detection || paired_[candidate])
      continue;
    paired_[candidate] = true;
    label_ids_[candidate] = detection->label_id.value_or(-1);
    pairs_.push_back({roi, candidate});
  }
}

void PairedRegions::read_boxes(FrameSize size, std::span<CrowdNmsBox> boxes) const {
  for (const Pair& pair : pairs_) {
    if (const auto box = exact_box(*pair.region, read_detection(*pair.region)->structure, size))
      boxes[pair.candidate] = *box;
  }
}

void PairedRegions::follow(GstBuffer* buffer, const Candidates& candidates, const Verdict& verdict, Mode mode,
                           ObjectIds& ids) {
  ids.paired = paired_;
  if (pairs_.empty())
    return;
  Following following = {*this, candidates, verdict, mode, ids};
  gst_buffer_foreach_meta(
      buffer,
      [](GstBuffer*, GstMeta** meta, gpointer data) -> gboolean {
        auto& following = *static_cast<Following*>(data);
        if ((*meta)->info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE &&
            !following.pairs.stays(*meta, following) && !GST_META_FLAG_IS_SET(*meta, GST_META_FLAG_LOCKED))
          *meta = nullptr;
        return TRUE;
      },
      &following);
  if (GstCrowdTrail* trail = gst_crowd_trail_get(buffer))
    trail->regions = following.left;
}

// Edits a region, unless it goes.
bool PairedRegions::stays(GstMeta* meta, Following& following) const {
  auto* roi = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
  const bool paired = following.next < pairs_.size() && pairs_[following.next].region == roi;
  const std::uint32_t candidate = paired ? pairs_[following.next++].candidate : CROWD_NMS_NONE;
  const Cluster cluster = paired ? cluster_of(following.verdict, candidate) : Cluster{};
  if (paired && following.mode == Mode::replace && !cluster.kept)
    return false;
  adopt(roi, following);
  if (!paired)
    return true;
  following.left++;
  const auto scores = following.candidates.scores;
  if (cluster.kept)
    write_values(*roi, following.candidates, candidate, following.verdict);
  mark(roi, cluster, candidate < scores.size() ? scores[candidate] : 0.0f);
  roi->id = id_of(candidate, following.ids);
  return true;
}

void PairedRegions::adopt(GstVideoRegionOfInterestMeta* roi, const Following& following) const {
  const std::uint32_t parent = roi->parent_id ? candidate_of(roi->parent_id) : CROWD_NMS_NONE;
  if (parent == CROWD_NMS_NONE || !paired_[parent])
    return;
  const std::uint32_t heir = heir_of(following.verdict, parent, following.mode);
  const bool found = heir != CROWD_NMS_NONE && (heir == parent || ids_[heir] != static_cast<guint>(roi->id));
  roi->parent_id = found ? id_of(heir, following.ids) : 0;
}

}  // namespace crowd::meta
