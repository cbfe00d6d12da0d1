// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Detections as GstVideoRegionOfInterestMeta, in DL Streamer's dialect.
//
// Read: a region is a candidate if it is a detection, see detection.hpp; every other region is left alone. Score: 1 if
// the detection has none. Box: x_min, x_max, y_min, y_max, else x, y, w, h of the region. Class: `label_id`, else the
// name.
//
// Written: the smallest pixel rectangle around the box, clipped to the frame (of width or height 0 where the box lies
// outside); in "detection" the exact box, normalised to the frame and not clipped, and the confidence, a probability;
// in "nms" the clustering and the raw score.

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/detection.hpp"
#include "base/regionplace.hpp"
#include "lib/gstcrowdtrail.h"
#include "meta/adapter.hpp"
#include "meta/regionbox.hpp"
#include "meta/regionmarks.hpp"
#include "meta/written.hpp"

namespace crowd::meta {

namespace {

// Names become negative classes, so that they never meet a label_id.
std::int32_t class_of(const RegionDetection& detection) {
  return detection.label_id.value_or(-1 - static_cast<std::int32_t>(detection.label & G_MAXINT32));
}

/// Attaches candidates as new regions.
class Writer {
 public:
  Writer(GstBuffer* buffer, FrameSize size, const Candidates& candidates, const ObjectIds& ids)
      : buffer_(buffer),
        candidates_(candidates),
        placer_(candidates.info, size),
        ids_(ids),
        last_id_(largest_region_id(buffer)) {}

  void add(std::uint32_t candidate, const Cluster& cluster) {
    count_++;
    if (candidate < ids_.paired.size() && ids_.paired[candidate])
      return;
    const Edges edges = placer_.edges(candidates_.boxes[candidate]);
    const auto [x, y] = placer_.rectangle(edges);
    GstVideoRegionOfInterestMeta* roi = gst_buffer_add_video_region_of_interest_meta_id(
        buffer_, label_of(candidates_, candidate), x.start, y.start, x.length, y.length);
    roi->id = next_id(candidate);
    const float score = candidates_.scores[candidate];
    gst_video_region_of_interest_meta_add_param(
        roi, detection(edges, candidates_.classes[candidate], confidence_of(score, candidates_.info.calibration)));
    mark(roi, cluster, score);
  }

  guint count() const {
    return count_;
  }

 private:
  int next_id(std::uint32_t candidate) {
    if (candidate < ids_.after.size() && ids_.after[candidate] >= 0)
      return ids_.after[candidate];
    last_id_ = last_id_ < G_MAXINT ? last_id_ + 1 : 1;
    return last_id_;
  }

  GstStructure* detection(const Edges& edges, std::int32_t class_id, float confidence) const {
    const RegionQuarks& q = quarks();
    GstStructure* structure = gst_structure_new_id(q.detection, q.label_id, G_TYPE_INT, class_id, q.confidence,
                                                   G_TYPE_DOUBLE, double(confidence), nullptr);
    const FrameSize& frame = placer_.frame();
    if (frame.known())
      gst_structure_id_set(structure, q.x_min, G_TYPE_DOUBLE, edges[0] / frame.width, q.x_max, G_TYPE_DOUBLE,
                           edges[2] / frame.width, q.y_min, G_TYPE_DOUBLE, edges[1] / frame.height, q.y_max,
                           G_TYPE_DOUBLE, edges[3] / frame.height, nullptr);
    return structure;
  }

  GstBuffer* buffer_;
  const Candidates& candidates_;
  Placer placer_;
  const ObjectIds& ids_;
  int last_id_;
  guint count_ = 0;
};

class RoiAdapter final : public Adapter {
 public:
  bool probe(GstBuffer* buffer) const override;
  bool read(GstBuffer* buffer, FrameSize size, std::uint32_t limit, Candidates& candidates,
            const char*& problem) override;
  void remove(GstBuffer* buffer) override;
  void release() override {}
  bool edits() const override {
    return true;
  }
  bool needs_representatives(bool rewritten) const override {
    return rewritten;
  }
  void rewrite(GstBuffer* buffer, const Candidates& candidates, const Verdict& verdict, Mode mode,
               ObjectIds& ids) override;
  bool write(GstBuffer* buffer, FrameSize size, const Candidates& candidates, const Verdict& verdict, Mode mode,
             ObjectIds& ids) override;

 private:
  template <typename Visit>
  void visit(GstBuffer* buffer, Visit visit);
  std::uint32_t find_parent(int id) const;
  int id_of(std::uint32_t candidate, const ObjectIds& ids) const;
  void adopt(GstVideoRegionOfInterestMeta* roi, const Verdict& verdict, Mode mode, const ObjectIds& ids) const;

  // One of each per candidate, overflow included; the arrays of Candidates hold the first of them.
  std::vector<const GstMeta*> metas_;
  std::vector<std::pair<int, std::uint32_t>> by_id_;
  std::vector<int> ids_;
  std::vector<CrowdNmsBox> boxes_;
  std::vector<float> scores_;
  std::vector<std::int32_t> classes_;
  std::vector<GQuark> names_;
  bool has_children_ = false;
};

bool RoiAdapter::probe(GstBuffer* buffer) const {
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    if (read_detection(*reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta)))
      return true;
  }
  return false;
}

bool RoiAdapter::read(GstBuffer* buffer, FrameSize size, std::uint32_t limit, Candidates& candidates,
                      const char*& problem) {
  metas_.clear();
  ids_.clear();
  boxes_.clear();
  scores_.clear();
  classes_.clear();
  names_.clear();
  has_children_ = false;
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    const auto* roi = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    has_children_ |= roi->parent_id != 0;
    const auto detection = read_detection(*roi);
    if (!detection)
      continue;
    metas_.push_back(meta);
    ids_.push_back(roi->id);
    if (boxes_.size() == limit)
      continue;
    boxes_.push_back(exact_box(*roi, detection->structure, size).value_or(rectangle_of(*roi)));
    scores_.push_back(static_cast<float>(detection->score.value_or(1.0)));
    classes_.push_back(class_of(*detection));
    names_.push_back(detection->label);
  }
  candidates = {boxes_, scores_, classes_, static_cast<std::uint32_t>(metas_.size()), {.frame = size}, names_};
  const auto place = place_of_regions(buffer, {size.width, size.height, size.par_n, size.par_d, size.borders});
  // Regions stay where they are: they are not moved to what is shown.
  if (place && place->x == 0 && place->y == 0)
    return true;
  problem = place_of_regions_unknown;
  return false;
}

// One pass over the metas: Visit(roi, candidate or CROWD_NMS_NONE) says whether the region stays.
template <typename Visit>
void RoiAdapter::visit(GstBuffer* buffer, Visit visit) {
  struct Walk {
    const std::vector<const GstMeta*>& metas;
    Visit& visit;
    std::uint32_t next = 0;
  } walk{metas_, visit};
  gst_buffer_foreach_meta(
      buffer,
      [](GstBuffer*, GstMeta** meta, gpointer data) -> gboolean {
        auto& walk = *static_cast<Walk*>(data);
        if ((*meta)->info->api != GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)
          return TRUE;
        const bool candidate = walk.next < walk.metas.size() && walk.metas[walk.next] == *meta;
        auto* roi = reinterpret_cast<GstVideoRegionOfInterestMeta*>(*meta);
        const bool locked = GST_META_FLAG_IS_SET(*meta, GST_META_FLAG_LOCKED);
        if (!walk.visit(roi, candidate ? walk.next++ : CROWD_NMS_NONE) && !locked)
          *meta = nullptr;
        return TRUE;
      },
      &walk);
}

void RoiAdapter::remove(GstBuffer* buffer) {
  visit(buffer, [](GstVideoRegionOfInterestMeta*, std::uint32_t candidate) { return candidate == CROWD_NMS_NONE; });
  if (GstCrowdTrail* trail = gst_crowd_trail_get(buffer))
    trail->regions = 0;
}

// The candidate with this id; none if several have it.
std::uint32_t RoiAdapter::find_parent(int id) const {
  const auto by_first = [](const auto& a, const auto& b) { return a.first < b.first; };
  const auto [first, last] = std::equal_range(by_id_.begin(), by_id_.end(), std::pair(id, 0u), by_first);
  return std::distance(first, last) == 1 ? first->second : CROWD_NMS_NONE;
}

// What is left of a candidate has this one afterwards.
int RoiAdapter::id_of(std::uint32_t candidate, const ObjectIds& ids) const {
  return region_id_of(ids, candidate, ids_[candidate], has_children_);
}

// A region whose parent is dropped goes to the parent's representative; without one it has no parent (id 0) any more.
void RoiAdapter::adopt(GstVideoRegionOfInterestMeta* roi, const Verdict& verdict, Mode mode,
                       const ObjectIds& ids) const {
  const std::uint32_t parent = roi->parent_id ? find_parent(roi->parent_id) : CROWD_NMS_NONE;
  if (parent == CROWD_NMS_NONE)
    return;
  const std::uint32_t heir = heir_of(verdict, parent, mode);
  roi->parent_id = heir != CROWD_NMS_NONE && (heir == parent || ids_[heir] != roi->id) ? id_of(heir, ids) : 0;
}

void RoiAdapter::rewrite(GstBuffer* buffer, const Candidates& candidates, const Verdict& verdict, Mode mode,
                         ObjectIds& ids) {
  const bool orphans = has_children_ && (mode == Mode::replace || !ids.after.empty());
  by_id_.clear();
  for (std::uint32_t i = 0; orphans && i < ids_.size(); ++i)
    by_id_.emplace_back(ids_[i], i);
  std::ranges::sort(by_id_);
  guint left = 0;
  visit(buffer, [&](GstVideoRegionOfInterestMeta* roi, std::uint32_t candidate) {
    const Cluster cluster = candidate == CROWD_NMS_NONE ? Cluster{} : cluster_of(verdict, candidate);
    if (candidate != CROWD_NMS_NONE && !cluster.kept && mode == Mode::replace)
      return false;
    if (orphans)
      adopt(roi, verdict, mode, ids);
    if (candidate == CROWD_NMS_NONE)
      return true;
    left++;
    roi->id = id_of(candidate, ids);
    const bool judged = candidate < candidates.scores.size();
    if (cluster.kept)
      write_values(*roi, candidates, candidate, verdict);
    mark(roi, cluster, judged ? candidates.scores[candidate] : 0.0f);
    return true;
  });
  leave_trail(buffer, candidates.info.frame, left, mode);
}

bool RoiAdapter::write(GstBuffer* buffer, FrameSize size, const Candidates& candidates, const Verdict& verdict,
                       Mode mode, ObjectIds& ids) {
  Writer writer(buffer, size, candidates, ids);
  if (mode == Mode::replace) {
    for (std::size_t rank = 0; rank < verdict.survivors.size(); ++rank)
      writer.add(verdict.survivors[rank], {static_cast<gint>(rank), verdict.members[rank], true});
  }
  for (std::uint32_t i = 0; mode == Mode::annotate && i < verdict.places.size(); ++i) {
    if (verdict.places[i] != place_rejected)
      writer.add(i, cluster_of(verdict, i));
  }
  leave_trail(buffer, candidates.info.frame.known() ? candidates.info.frame : size, writer.count(), mode);
  return true;
}

}  // namespace

GType roi_api() {
  return GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE;
}

void advertise_roi_read(GstQuery* query, bool) {
  if (!gst_query_find_allocation_meta(query, roi_api(), nullptr))
    gst_query_add_allocation_meta(query, roi_api(), nullptr);
}

std::unique_ptr<Adapter> make_roi_adapter() {
  return std::make_unique<RoiAdapter>();
}

}  // namespace crowd::meta
