// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Regions of interest as objects. A region is one if it has no parameters, or is a detection by base/detection.hpp;
// others, say hints for an encoder, are left out. It is kept if its structure "nms" says so; one without such a
// structure is kept unless crowdnms marks the regions of the stream: its own are marked in mode=annotate, and
// converters drop what they say. Its rectangle is the region's own.

#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "base/detection.hpp"
#include "base/regionplace.hpp"
#include "lib/gstcrowdtrail.h"
#include "meta/objects.hpp"

namespace crowd::meta {

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
  const GstStructure* structure = find_param(roi, quarks().nms);
  if (!structure)
    return std::nullopt;
  Mark mark;
  gst_structure_get_boolean(structure, "kept", &mark.kept);
  gst_structure_get_uint(structure, "members", &mark.members);
  return mark;
}

std::optional<RegionDetection> detection_of(const GstVideoRegionOfInterestMeta& roi) {
  auto detection = read_detection(roi);
  if (!detection && !roi.params)
    detection = RegionDetection{nullptr, std::nullopt, std::nullopt, roi.roi_type};
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

/** The regions of one buffer. */
class Regions {
 public:
  /** `marked_stream`: whether a region of an earlier buffer said whether it is kept. */
  Regions(GstBuffer* buffer, const ShownSize& shown, bool marked_stream)
      : buffer_(buffer), marked_stream_(marked_stream) {
    count();
    find_place(shown);
  }

  /** The same, with this buffer's. */
  bool marked_stream() const {
    return marked_stream_;
  }

  void list(Objects& objects) const;

 private:
  void count();
  void find_place(const ShownSize& shown);

  GstBuffer* buffer_;
  bool marked_stream_;
  bool marks_needed_ = false; /**< of this buffer: a region without a mark is not kept */
  bool left_out_ = false;     /**< their places are not known */
  double shift_x_ = 0, shift_y_ = 0;
  unsigned detections_ = 0, marked_ = 0;
  const char* problem_ = nullptr;
};

void Regions::count() {
  each_region(buffer_, [this](const GstVideoRegionOfInterestMeta& roi, const RegionDetection&) {
    detections_++;
    marked_ += mark_of(roi).has_value();
  });
  marked_stream_ |= marked_ > 0;
  const GstCrowdTrail* left = gst_crowd_trail_get(buffer_);
  const GstCrowdTrail* trail = trail_of_regions(buffer_);
  marks_needed_ = marked_ > 0 || (trail ? bool(trail->marked) : marked_stream_);
  if (left && left->regions > 0 && detections_ == 0)
    problem_ = lost;
  else if (trail && trail->marked && detections_ > 0 && marked_ == 0)
    problem_ = unmarked;
}

void Regions::find_place(const ShownSize& shown) {
  if (detections_ == 0)
    return;
  const auto place = place_of_regions(buffer_, shown);
  left_out_ = !place;
  if (left_out_)
    problem_ = place_of_regions_unknown;
  else
    std::tie(shift_x_, shift_y_) = std::pair(place->x, place->y);
}

void Regions::list(Objects& objects) const {
  objects.problem = problem_;
  if (left_out_)
    return;
  each_region(buffer_, [&](const GstVideoRegionOfInterestMeta& roi, const RegionDetection& detection) {
    const auto mark = mark_of(roi);
    const bool kept = mark ? bool(mark->kept) : !marks_needed_;
    const auto x = static_cast<float>(roi.x + shift_x_);
    const auto y = static_cast<float>(roi.y + shift_y_);
    const float score = detection.score ? static_cast<float>(*detection.score) : no_score;
    (kept ? objects.survivors : objects.candidates)
        .push_back({x, y, x + static_cast<float>(roi.w), y + static_cast<float>(roi.h), score,
                    detection.label_id.value_or(-1), mark ? mark->members : 0, g_quark_to_string(detection.label)});
  });
}

class RoiReader final : public ObjectReader {
 public:
  void read(GstBuffer* buffer, const ShownSize& shown, Objects& objects) override {
    const Regions regions(buffer, shown, marked_stream_);
    marked_stream_ = regions.marked_stream();
    regions.list(objects);
  }

 private:
  bool marked_stream_ = false;
};

}  // namespace

std::unique_ptr<ObjectReader> make_roi_reader() {
  return std::make_unique<RoiReader>();
}

}  // namespace crowd::meta
