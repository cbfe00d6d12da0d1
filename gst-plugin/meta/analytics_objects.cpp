// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Object detections of GstAnalytics as objects. Name and score are those of the classification, as GStreamer's own
// overlay has it, else those of the detection. An object that is part of another one of the same class is none that is
// kept: crowdnms mode=annotate says so of those that it suppresses.

#include <gst/analytics/analytics.h>

#include <algorithm>

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
  bool is_part(GstAnalyticsRelationMeta* meta, std::size_t object) const;

  RelationObjects found_;
  ClassTable classes_;
  std::vector<ObjectClass> names_;
};

bool AnalyticsReader::is_part(GstAnalyticsRelationMeta* meta, std::size_t object) const {
  gpointer state = nullptr;
  GstAnalyticsMtd whole = {};
  while (gst_analytics_relation_meta_get_direct_related(meta, found_.ids()[object], GST_ANALYTICS_REL_TYPE_IS_PART_OF,
                                                        gst_analytics_od_mtd_get_mtd_type(), &state, &whole)) {
    const auto other = std::ranges::lower_bound(found_.ids(), whole.id) - found_.ids().begin();
    if (whole.id != found_.ids()[object] && names_[static_cast<std::size_t>(other)].name == names_[object].name)
      return true;
  }
  return false;
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
  for (std::size_t i = 0; i < names_.size(); ++i) {
    GstAnalyticsODMtd mtd = {found_.ids()[i], meta};
    gint x = 0, y = 0, w = 0, h = 0;
    gfloat confidence = 0;
    gst_analytics_od_mtd_get_location(&mtd, &x, &y, &w, &h, &confidence);
    const double left = x + place->x, top = y + place->y;
    (is_part(meta, i) ? objects.candidates : objects.survivors)
        .push_back({float(left), float(top), float(left + w), float(top + h), names_[i].level.value_or(confidence),
                    classes_.number_of(names_[i].name), 0, g_quark_to_string(names_[i].name)});
  }
}

}  // namespace

std::unique_ptr<ObjectReader> make_analytics_reader() {
  return std::make_unique<AnalyticsReader>();
}

}  // namespace crowd::meta
