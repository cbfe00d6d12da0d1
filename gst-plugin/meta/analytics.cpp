// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Detections as GstAnalyticsODMtd.
//
// Read: each is a candidate, with its rectangle in pixels (as it is without its rotation), its confidence and the class
// of its classification, see relationobjects.hpp. Where there is a region of interest of the same detection, its exact
// box counts, and its `label_id` if the object has no name.
//
// Edited: kept objects stay in their order with what belongs to them, in a new relation meta where something goes; in
// mode annotate survivors contain those that they represent. From a locked meta nothing is taken off: objects and
// relations are only added to it.
//
// Written: one for each object, of the type that its class is called, with the rectangle of its region of interest.

#include <gst/analytics/analytics.h>

#include <algorithm>
#include <vector>

#include "base/regionplace.hpp"
#include "meta/adapter.hpp"
#include "meta/classtable.hpp"
#include "meta/pairedregions.hpp"
#include "meta/regionmarks.hpp"
#include "meta/relationmeta.hpp"
#include "meta/relationobjects.hpp"
#include "meta/written.hpp"

namespace crowd::meta {

namespace {

// As crowdnms and others call what has none.
bool is_no_name(GQuark name) {
  static const GQuark object = g_quark_from_static_string("object"), empty = g_quark_from_static_string("");
  return name == 0 || name == object || name == empty;
}

bool is_same(const CrowdNmsBox& a, const CrowdNmsBox& b) {
  return a.x1 == b.x1 && a.y1 == b.y1 && a.x2 == b.x2 && a.y2 == b.y2;
}

class AnalyticsAdapter final : public Adapter {
 public:
  bool probe(GstBuffer* buffer) const override;
  bool read(GstBuffer* buffer, FrameSize size, std::uint32_t limit, Candidates& candidates,
            const char*& problem) override;
  void remove(GstBuffer* buffer) override;
  void release() override {}
  bool edits() const override {
    return true;
  }
  bool needs_representatives(bool /*rewritten*/) const override {
    return true;
  }
  void rewrite(GstBuffer* buffer, const Candidates& candidates, const Verdict& verdict, Mode mode,
               ObjectIds& ids) override;
  void take_off(GstBuffer* buffer, const Candidates& candidates, const Verdict& verdict, ObjectIds& ids) override;
  bool write(GstBuffer* buffer, FrameSize size, const Candidates& candidates, const Verdict& verdict, Mode mode,
             ObjectIds& ids) override;

 private:
  void find(GstBuffer* buffer);
  void read_object(guint id);
  void keep(GstBuffer* buffer, const std::vector<bool>& kept, ObjectIds& ids, std::span<const ObjectEdit> edits = {});
  ObjectEdit own_values(std::uint32_t candidate) const;
  std::vector<ObjectEdit> edits_of(const Candidates& candidates, const Verdict& verdict) const;
  void relate(GstAnalyticsRelationMeta* meta, const Verdict& verdict) const;
  RelationObjects objects_;
  PairedRegions pairs_;
  ClassTable classes_table_;
  std::vector<CrowdNmsBox> boxes_;  // of all objects, overflow included
  std::vector<float> scores_;
  std::vector<std::int32_t> classes_;
  GstAnalyticsRelationMeta* meta_ = nullptr;  // from read() on
};

bool AnalyticsAdapter::probe(GstBuffer* buffer) const {
  GstAnalyticsRelationMeta* meta = relation_meta_of(buffer);
  gpointer state = nullptr;
  GstAnalyticsMtd first = {};
  return meta && gst_analytics_relation_meta_iterate(meta, &state, gst_analytics_od_mtd_get_mtd_type(), &first);
}

void AnalyticsAdapter::read_object(guint id) {
  GstAnalyticsODMtd mtd = {id, meta_};
  gint x = 0, y = 0, w = 0, h = 0;
  gfloat confidence = 0;
  gst_analytics_od_mtd_get_location(&mtd, &x, &y, &w, &h, &confidence);
  boxes_.push_back({float(x), float(y), float(double(x) + w), float(double(y) + h)});
  scores_.push_back(confidence);
}

void AnalyticsAdapter::find(GstBuffer* buffer) {
  meta_ = relation_meta_of(buffer);
  objects_.read(meta_);
  boxes_.clear();
  scores_.clear();
  for (const guint id : objects_.ids())
    read_object(id);
  pairs_.find(buffer, objects_.ids(), boxes_);
}

bool AnalyticsAdapter::read(GstBuffer* buffer, FrameSize size, std::uint32_t limit, Candidates& candidates,
                            const char*& problem) {
  find(buffer);
  classes_table_.begin_frame();
  classes_.clear();
  const std::size_t n = std::min<std::size_t>(limit, boxes_.size());
  pairs_.read_boxes(size, boxes_);
  for (std::uint32_t i = 0; i < n; ++i) {
    const GQuark name = objects_.class_of(i).name;
    classes_.push_back(classes_table_.number_of(name, is_no_name(name) ? pairs_.label_id_of(i) : -1));
  }
  const std::span boxes(boxes_);
  const std::span scores(scores_);
  candidates = {boxes.first(n),
                scores.first(n),
                classes_,
                static_cast<std::uint32_t>(boxes_.size()),
                {.frame = size, .labels = classes_table_.names()}};
  const auto place = place_of_regions(buffer, {size.width, size.height, size.par_n, size.par_d, size.borders});
  if (place && place->x == 0 && place->y == 0)
    return true;
  problem = place_of_regions_unknown;
  return false;
}

// Gives the ids of what stays, in a meta that may be another one.
void AnalyticsAdapter::keep(GstBuffer* buffer, const std::vector<bool>& kept, ObjectIds& ids,
                            std::span<const ObjectEdit> edits) {
  const bool locked = GST_META_FLAG_IS_SET(reinterpret_cast<GstMeta*>(meta_), GST_META_FLAG_LOCKED);
  const bool all_stay = std::ranges::find(kept, false) == kept.end();
  ids.after.assign(objects_.ids().begin(), objects_.ids().end());
  if (locked || (all_stay && edits.empty()))
    return;
  const std::vector<int> new_ids = rebuild(buffer, meta_, objects_.what_stays(kept), edits);
  for (int& id : ids.after)
    id = new_ids[static_cast<std::size_t>(id)];
  meta_ = relation_meta_of(buffer);
}

void AnalyticsAdapter::remove(GstBuffer* buffer) {
  find(buffer);
  ObjectIds ids;
  keep(buffer, std::vector<bool>(objects_.ids().size(), false), ids);
  ids.clear();
  pairs_.follow(buffer, {}, {}, Mode::replace, ids);
}

void AnalyticsAdapter::relate(GstAnalyticsRelationMeta* meta, const Verdict& verdict) const {
  for (std::uint32_t i = 0; i < verdict.places.size(); ++i) {
    const std::uint32_t keeper = verdict.places[i] == place_suppressed ? keeper_of(verdict, i) : CROWD_NMS_NONE;
    if (keeper != CROWD_NMS_NONE)
      relate_member(meta, objects_.ids()[keeper], objects_.ids()[i]);
  }
}

ObjectEdit AnalyticsAdapter::own_values(std::uint32_t candidate) const {
  const GstAnalyticsODMtd mtd = {objects_.ids()[candidate], meta_};
  ObjectEdit own = {mtd.id, 0, 0, 0, 0, 0};
  gst_analytics_od_mtd_get_location(&mtd, &own.x, &own.y, &own.width, &own.height, &own.confidence);
  return own;
}

std::vector<ObjectEdit> AnalyticsAdapter::edits_of(const Candidates& candidates, const Verdict& verdict) const {
  std::vector<ObjectEdit> edits;
  const Placer placer(candidates.info, candidates.info.frame);
  for (const std::uint32_t i : verdict.survivors) {
    const bool moves = !verdict.boxes.empty() && !is_same(candidates.boxes[i], boxes_[i]);
    if (!moves && (verdict.scores.empty() || candidates.scores[i] == scores_[i]))
      continue;
    ObjectEdit edit = own_values(i);
    edit.confidence = float(in_place_of(edit.confidence, candidates.scores[i]));
    if (moves) {
      const auto [x, y, width, height] = placer.whole_rectangle(placer.edges(candidates.boxes[i]));
      edit = {edit.id, x, y, width, height, edit.confidence};
    }
    edits.push_back(edit);
  }
  std::ranges::sort(edits, {}, &ObjectEdit::id);
  return edits;
}

void AnalyticsAdapter::rewrite(GstBuffer* buffer, const Candidates& candidates, const Verdict& verdict, Mode mode,
                               ObjectIds& ids) {
  std::vector<bool> kept(objects_.ids().size(), mode == Mode::annotate);
  for (const std::uint32_t i : verdict.survivors)
    kept[i] = true;
  if (mode == Mode::annotate)
    relate(meta_, verdict);
  keep(buffer, kept, ids, edits_of(candidates, verdict));
  pairs_.follow(buffer, candidates, verdict, mode, ids);
  if (!verdict.survivors.empty())
    leave_trail_of_objects(buffer, candidates.info.frame);
}

void AnalyticsAdapter::take_off(GstBuffer* buffer, const Candidates& candidates, const Verdict& verdict,
                                ObjectIds& ids) {
  keep(buffer, std::vector<bool>(objects_.ids().size(), false), ids);
  ids.after.clear();
  pairs_.follow(buffer, candidates, verdict, Mode::replace, ids);
}

/// Attaches candidates as new objects.
class Writer {
 public:
  Writer(GstBuffer* buffer, FrameSize size, const Candidates& candidates, std::size_t objects, ObjectIds& ids)
      : meta_(relation_meta_with_room(buffer, objects)),
        candidates_(candidates),
        placer_(candidates.info, size),
        ids_(ids) {
    ids_.after.assign(candidates.boxes.size(), -1);
  }

  bool has_room() const {
    return meta_ != nullptr;
  }

  void add(std::uint32_t candidate) {
    const auto [x, y, width, height] = placer_.whole_rectangle(placer_.edges(candidates_.boxes[candidate]));
    GstAnalyticsODMtd object = {};
    gst_analytics_relation_meta_add_od_mtd(meta_, label_of(candidates_, candidate), x, y, width, height,
                                           confidence_of(candidates_.scores[candidate], candidates_.info.calibration),
                                           &object);
    ids_.after[candidate] = static_cast<int>(object.id);
  }

  void relate(std::uint32_t candidate, std::uint32_t keeper) {
    relate_member(meta_, static_cast<guint>(ids_.after[keeper]), static_cast<guint>(ids_.after[candidate]));
  }

 private:
  GstAnalyticsRelationMeta* meta_;
  const Candidates& candidates_;
  Placer placer_;
  ObjectIds& ids_;
};

bool AnalyticsAdapter::write(GstBuffer* buffer, FrameSize size, const Candidates& candidates, const Verdict& verdict,
                             Mode mode, ObjectIds& ids) {
  const auto rejected = std::ranges::count(verdict.places, place_rejected);
  const std::size_t n =
      mode == Mode::replace ? verdict.survivors.size() : verdict.places.size() - std::size_t(rejected);
  if (n == 0)
    return true;
  Writer writer(buffer, size, candidates, n, ids);
  if (!writer.has_room()) {
    ids.clear();
    return false;
  }
  for (std::size_t rank = 0; mode == Mode::replace && rank < n; ++rank)
    writer.add(verdict.survivors[rank]);
  for (std::uint32_t i = 0; mode == Mode::annotate && i < verdict.places.size(); ++i) {
    if (verdict.places[i] != place_rejected)
      writer.add(i);
  }
  for (std::uint32_t i = 0; mode == Mode::annotate && i < verdict.places.size(); ++i) {
    const std::uint32_t keeper = verdict.places[i] == place_suppressed ? keeper_of(verdict, i) : CROWD_NMS_NONE;
    if (keeper != CROWD_NMS_NONE)
      writer.relate(i, keeper);
  }
  leave_trail_of_objects(buffer, candidates.info.frame.known() ? candidates.info.frame : size);
  return true;
}

}  // namespace

GType analytics_api() {
  return GST_ANALYTICS_RELATION_META_API_TYPE;
}

void advertise_analytics_read(GstQuery* query, bool) {
  if (!gst_query_find_allocation_meta(query, analytics_api(), nullptr))
    gst_query_add_allocation_meta(query, analytics_api(), nullptr);
}

std::unique_ptr<Adapter> make_analytics_adapter() {
  return std::make_unique<AnalyticsAdapter>();
}

}  // namespace crowd::meta
