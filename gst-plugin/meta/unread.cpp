// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "meta/unread.hpp"

#include <algorithm>

#include "base/detection.hpp"

#ifndef CROWD_HAVE_TENSORS
#error "meta/meson.build says whether this build has crowdtensordec"
#endif

namespace crowd::meta {

namespace {

constexpr char unscored_regions[] =
    "The regions of interest have no score, so they are not taken for candidates and nothing is clustered. Attach each "
    "a structure \"detection\" with a double \"confidence\", or the boxes as a GstCrowdBoxesMeta.";

constexpr char unread_objects[] =
    "The detections are a GstAnalyticsRelationMeta, which this build does not read, so nothing is clustered. Let the "
    "detector attach regions of interest with a structure \"detection\", or a GstCrowdBoxesMeta.";

constexpr const char* undecoded_tensors =
    CROWD_HAVE_TENSORS
        ? "The output of the network is a GstTensorMeta, which this element does not read, so nothing is clustered. "
          "Put crowdtensordec in its place, which decodes and clusters, or a decoder before it that attaches regions "
          "of interest with a structure \"detection\", or a GstCrowdBoxesMeta."
        : "The output of the network is a GstTensorMeta, which this build does not read, so nothing is clustered. Put "
          "a decoder before this element that attaches regions of interest with a structure \"detection\", or a "
          "GstCrowdBoxesMeta.";

/// As GStreamer registers them, in versions that have them, and crowdtensordec its mark.
constexpr char objects_name[] = "GstAnalyticsRelationMetaAPI", tensors_name[] = "GstTensorMetaAPI",
               mark_name[] = "GstCrowdDecodedMarkAPI";

// Hints for encoders and the like have structures of their own.
bool looks_like_detection(const GstVideoRegionOfInterestMeta& roi) {
  if (read_detection(roi))
    return false;
  bool scored = false;
  for (const GList* link = roi.params; link; link = link->next) {
    const auto* structure = static_cast<const GstStructure*>(link->data);
    scored |= gst_structure_get_name_id(structure) != quarks().nms &&
              (gst_structure_id_has_field(structure, quarks().confidence) ||
               gst_structure_id_has_field(structure, quarks().score));
  }
  return !roi.params || scored;
}

bool is_read(GType api) {
  return std::ranges::any_of(adapter_rows(), [api](const AdapterRow& row) { return row.api() == api; });
}

bool is_of(const GstMeta& meta, const char* api) {
  return meta.info->api == g_type_from_name(api);
}

/// Whether elements of other projects leave what is read, and of which kinds.
struct Wanted {
  explicit Wanted(KindId kind) {
    for (const AdapterRow& row : adapter_rows()) {
      const bool read = row.standard && (kind == KindId::automatic || kind == row.id);
      standard |= read;
      regions |= read && row.api() == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE;
    }
  }
  bool standard = false, regions = false;
};

/// Of what no decoder has a part in.
const char* problem_with(const GstMeta& meta) {
  if (meta.info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)
    return looks_like_detection(reinterpret_cast<const GstVideoRegionOfInterestMeta&>(meta)) ? unscored_regions
                                                                                             : nullptr;
  return is_of(meta, objects_name) && !is_read(meta.info->api) ? unread_objects : nullptr;
}

}  // namespace

Unread unread_detections(GstBuffer* buffer, KindId kind) {
  const Wanted wanted(kind);
  bool tensors = false, decoded = false;
  gpointer state = nullptr;
  while (const GstMeta* meta = wanted.standard ? gst_buffer_iterate_meta(buffer, &state) : nullptr) {
    if (const char* problem = wanted.regions ? problem_with(*meta) : nullptr)
      return {problem, true};
    tensors |= is_of(*meta, tensors_name);
    decoded |= is_of(*meta, mark_name) || is_of(*meta, objects_name);
  }
  return {tensors && !decoded ? undecoded_tensors : nullptr, false};
}

}  // namespace crowd::meta
