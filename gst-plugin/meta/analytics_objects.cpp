// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Object detections of GstAnalytics as objects. Name and score are those of the classification, as GStreamer's own
// overlay has it, else those of the detection. An object that is part of another one of the same class is none that is
// kept: crowdnms mode=annotate says so of those that it suppresses. Objects that are parts of each other, with nothing
// above them, are kept; what is part of such an object, and not the other way round, is not.

#include <gst/analytics/analytics.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/regionplace.hpp"
#include "meta/classtable.hpp"
#include "meta/objects.hpp"
#include "meta/relationmeta.hpp"
#include "meta/relationobjects.hpp"

namespace crowd::meta {

namespace {

class AnalyticsReader final : public ObjectReader {
 public:
  void read(GstBuffer* buffer, const ShownSize& shown, Objects& objects) override;

 private:
  using Index = std::uint32_t;  // of an object
  using Pair = std::pair<Index, Index>;

  void find_wholes(GstAnalyticsRelationMeta* meta, Index object);
  void find_parts(GstAnalyticsRelationMeta* meta);
  void mark(Index part);
  void mark_below_open();
  void mark_below_each_other();

  RelationObjects found_;
  ClassTable classes_;
  std::vector<ObjectClass> names_;
  std::vector<Pair> wholes_;  // each with a part of it, by wholes
  std::vector<Pair> parts_;   // the same by parts: each with a whole
  std::vector<bool> is_part_;
  std::vector<Index> open_;
  std::vector<std::uint32_t> unmarked_parts_;  // of each object
};

void AnalyticsReader::find_wholes(GstAnalyticsRelationMeta* meta, Index object) {
  gpointer state = nullptr;
  GstAnalyticsMtd whole = {};
  while (gst_analytics_relation_meta_get_direct_related(meta, found_.ids()[object], GST_ANALYTICS_REL_TYPE_IS_PART_OF,
                                                        gst_analytics_od_mtd_get_mtd_type(), &state, &whole)) {
    const auto other = std::ranges::lower_bound(found_.ids(), whole.id) - found_.ids().begin();
    if (whole.id != found_.ids()[object] && names_[static_cast<std::size_t>(other)].name == names_[object].name)
      parts_.emplace_back(object, static_cast<Index>(other));
  }
}

void AnalyticsReader::mark(Index part) {
  if (!is_part_[part])
    open_.push_back(part);
  is_part_[part] = true;
}

// From open objects on down.
void AnalyticsReader::mark_below_open() {
  while (!open_.empty()) {
    const Index whole = open_.back();
    open_.pop_back();
    for (const auto& [_, part] : std::ranges::equal_range(wholes_, whole, {}, &Pair::first))
      mark(part);
  }
}

// Of parts that are left unmarked, again and again those that are the whole of no unmarked one.
void AnalyticsReader::mark_below_each_other() {
  unmarked_parts_.assign(names_.size(), 0);
  for (const auto& [part, whole] : parts_)
    unmarked_parts_[whole] += is_part_[part] ? 0 : 1;
  for (const auto& [part, _] : parts_) {
    if (unmarked_parts_[part] == 0)
      mark(part);
  }
  while (!open_.empty()) {
    const Index marked = open_.back();
    open_.pop_back();
    for (const auto& [_, whole] : std::ranges::equal_range(parts_, marked, {}, &Pair::first)) {
      if (--unmarked_parts_[whole] == 0)
        mark(whole);
    }
  }
}

void AnalyticsReader::find_parts(GstAnalyticsRelationMeta* meta) {
  parts_.clear();
  open_.clear();
  for (Index i = 0; i < names_.size(); ++i) {
    const std::size_t before = parts_.size();
    find_wholes(meta, i);
    if (parts_.size() == before)
      open_.push_back(i);
  }
  wholes_.clear();
  for (const auto& [part, whole] : parts_)
    wholes_.emplace_back(whole, part);
  std::ranges::sort(wholes_);
  is_part_.assign(names_.size(), false);
  mark_below_open();
  mark_below_each_other();
}

void AnalyticsReader::read(GstBuffer* buffer, const ShownSize& shown, Objects& objects) {
  GstAnalyticsRelationMeta* meta = relation_meta_of(buffer);
  if (!meta)
    return;
  found_.read(meta);
  if (found_.ids().empty())
    return;
  const auto place = place_of_regions(buffer, shown);
  if (!place) {
    objects.problem = place_of_regions_unknown;
    return;
  }
  classes_.begin_frame();
  names_.clear();
  for (std::uint32_t i = 0; i < found_.ids().size(); ++i)
    names_.push_back(found_.class_of(i));
  find_parts(meta);
  for (std::size_t i = 0; i < names_.size(); ++i) {
    GstAnalyticsODMtd mtd = {found_.ids()[i], meta};
    gint x = 0, y = 0, w = 0, h = 0;
    gfloat confidence = 0;
    gst_analytics_od_mtd_get_location(&mtd, &x, &y, &w, &h, &confidence);
    const double left = x + place->x, top = y + place->y;
    (is_part_[i] ? objects.candidates : objects.survivors)
        .push_back({float(left), float(top), float(left + w), float(top + h), names_[i].level.value_or(confidence),
                    classes_.number_of(names_[i].name), 0, g_quark_to_string(names_[i].name)});
  }
}

}  // namespace

std::unique_ptr<ObjectReader> make_analytics_reader() {
  return std::make_unique<AnalyticsReader>();
}

}  // namespace crowd::meta
