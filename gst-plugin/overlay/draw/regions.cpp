// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "overlay/draw/regions.hpp"

#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "base/detection.hpp"
#include "base/regionplace.hpp"
#include "lib/gstcrowdtrail.h"

namespace crowd::draw {

namespace {

constexpr float no_score = std::numeric_limits<float>::quiet_NaN();

constexpr char lost[] =
    "the regions that crowdnms left were dropped on the way to here, by an element that copies the picture; put "
    "crowdoverlay before that element, or the detector and crowdnms behind it";
constexpr char unmarked[] =
    "regions that crowdnms mode=annotate left do not say any more which of them are kept, so none is drawn as a "
    "survivor: converters and scalers drop what regions say; put crowdoverlay before them, or set meta-output=all or "
    "mode=replace of crowdnms";

/** What crowdnms says of a region. */
struct Mark {
  gboolean kept = TRUE;
  guint members = 0;
};

std::optional<Mark> mark_of(const GstVideoRegionOfInterestMeta& roi) {
  const GstStructure* structure = meta::find_param(roi, meta::quarks().nms);
  if (!structure)
    return std::nullopt;
  Mark mark;
  gst_structure_get_boolean(structure, "kept", &mark.kept);
  gst_structure_get_uint(structure, "members", &mark.members);
  return mark;
}

std::optional<meta::RegionDetection> detection_of(const GstVideoRegionOfInterestMeta& roi) {
  auto detection = meta::read_detection(roi);
  if (!detection && !roi.params)
    detection = meta::RegionDetection{nullptr, std::nullopt, std::nullopt, roi.roi_type};
  return detection;
}

template <typename Visit>
void each_region(GstBuffer* buffer, Visit visit) {
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    const auto& roi = *reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    if (const auto detection = detection_of(roi))
      visit(roi, *detection);
  }
}

}  // namespace

Regions::Regions(GstBuffer* buffer, const ShownFrame& frame, bool marked_stream)
    : buffer_(buffer), marked_stream_(marked_stream) {
  count();
  find_place(frame);
}

void Regions::count() {
  each_region(buffer_, [this](const GstVideoRegionOfInterestMeta& roi, const meta::RegionDetection&) {
    detections_++;
    marked_ += mark_of(roi).has_value();
  });
  marked_stream_ |= marked_ > 0;
  const GstCrowdTrail* left = gst_crowd_trail_get(buffer_);
  const GstCrowdTrail* trail = meta::trail_of_regions(buffer_);
  marks_needed_ = marked_ > 0 || (trail ? bool(trail->marked) : marked_stream_);
  if (left && left->regions > 0 && detections_ == 0)
    problem_ = lost;
  else if (trail && trail->marked && detections_ > 0 && marked_ == 0)
    problem_ = unmarked;
}

void Regions::find_place(const ShownFrame& shown) {
  if (detections_ == 0)
    return;
  const auto place = meta::place_of_regions(
      buffer_, {guint(shown.width), guint(shown.height), shown.par_n, shown.par_d, shown.borders});
  left_out_ = !place;
  if (left_out_)
    problem_ = meta::place_of_regions_unknown;
  else
    std::tie(shift_x_, shift_y_) = std::pair(place->x, place->y);
}

void Regions::list(std::vector<Detection>& survivors, std::vector<Detection>& candidates) const {
  if (left_out_)
    return;
  each_region(buffer_, [&](const GstVideoRegionOfInterestMeta& roi, const meta::RegionDetection& detection) {
    const auto mark = mark_of(roi);
    const bool kept = mark ? bool(mark->kept) : !marks_needed_;
    const auto x = static_cast<float>(roi.x + shift_x_);
    const auto y = static_cast<float>(roi.y + shift_y_);
    const float score = detection.score ? static_cast<float>(*detection.score) : no_score;
    (kept ? survivors : candidates)
        .push_back({x, y, x + static_cast<float>(roi.w), y + static_cast<float>(roi.h), score,
                    detection.label_id.value_or(-1), mark ? mark->members : 0, g_quark_to_string(detection.label)});
  });
}

}  // namespace crowd::draw
