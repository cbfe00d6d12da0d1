// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "meta/pairedregions.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/detection.hpp"
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

std::uint32_t find(std::span<const guint> ids, int id) {
  const auto found = std::ranges::lower_bound(ids, id, std::less<>{}, [](guint i) { return static_cast<gint64>(i); });
  return id >= 0 && found != ids.end() && *found == static_cast<guint>(id)
             ? static_cast<std::uint32_t>(found - ids.begin())
             : CROWD_NMS_NONE;
}

class Follower {
 public:
  Follower(const PairedCandidates& all, const Candidates& candidates, const Verdict& verdict, Mode mode, ObjectIds& ids)
      : all_(all), candidates_(candidates), verdict_(verdict), mode_(mode), ids_(ids) {}

  /// Whether there is any pair.
  bool find_pairs(GstBuffer* buffer) {
    gpointer state = nullptr;
    while (GstMeta* meta =
               gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
      const auto* roi = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
      const std::uint32_t candidate = find(all_.ids, roi->id);
      if (candidate == CROWD_NMS_NONE || !is_close(*roi, all_.boxes[candidate]) || !read_detection(*roi))
        continue;
      ids_.paired.resize(all_.ids.size());
      if (ids_.paired[candidate])
        continue;
      ids_.paired[candidate] = true;
      pairs_.emplace_back(meta, candidate);
    }
    return !pairs_.empty();
  }

  void follow(GstBuffer* buffer) {
    gst_buffer_foreach_meta(
        buffer,
        [](GstBuffer*, GstMeta** meta, gpointer self) -> gboolean {
          if ((*meta)->info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE &&
              !static_cast<Follower*>(self)->stays(*meta) && !GST_META_FLAG_IS_SET(*meta, GST_META_FLAG_LOCKED))
            *meta = nullptr;
          return TRUE;
        },
        this);
  }

 private:
  // Edits a region, unless it goes.
  bool stays(GstMeta* meta) {
    auto* roi = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    const bool paired = next_ < pairs_.size() && pairs_[next_].first == meta;
    const std::uint32_t candidate = paired ? pairs_[next_++].second : CROWD_NMS_NONE;
    const Cluster cluster = paired ? cluster_of(verdict_, candidate) : Cluster{};
    if (paired && mode_ == Mode::replace && !cluster.kept)
      return false;
    adopt(roi);
    if (!paired)
      return true;
    mark(roi, cluster, candidate < candidates_.scores.size() ? candidates_.scores[candidate] : 0.0f);
    roi->id = id_of(candidate);
    return true;
  }

  void adopt(GstVideoRegionOfInterestMeta* roi) const {
    const std::uint32_t parent = roi->parent_id ? find(all_.ids, roi->parent_id) : CROWD_NMS_NONE;
    if (parent == CROWD_NMS_NONE || !ids_.paired[parent])
      return;
    const bool kept = mode_ == Mode::annotate || cluster_of(verdict_, parent).kept;
    const std::uint32_t heir = kept ? parent : keeper_of(verdict_, parent);
    const bool found = heir != CROWD_NMS_NONE && (kept || all_.ids[heir] != static_cast<guint>(roi->id));
    roi->parent_id = found ? id_of(heir) : 0;
  }

  int id_of(std::uint32_t candidate) const {
    return candidate < ids_.after.size() && ids_.after[candidate] >= 0 ? ids_.after[candidate]
                                                                       : static_cast<int>(all_.ids[candidate]);
  }

  const PairedCandidates& all_;
  const Candidates& candidates_;
  const Verdict& verdict_;
  Mode mode_;
  ObjectIds& ids_;
  std::vector<std::pair<const GstMeta*, std::uint32_t>> pairs_;  // in the order of the metas
  std::size_t next_ = 0;
};

}  // namespace

void follow_in_regions(GstBuffer* buffer, const PairedCandidates& all, const Candidates& candidates,
                       const Verdict& verdict, Mode mode, ObjectIds& ids) {
  Follower follower(all, candidates, verdict, mode, ids);
  if (follower.find_pairs(buffer))
    follower.follow(buffer);
}

}  // namespace crowd::meta
