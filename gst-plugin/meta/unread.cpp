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

struct ForeignMeta {
  const char* api;  ///< as GStreamer registers it, in versions that have it
  const char* text;
};

constexpr ForeignMeta foreign_metas[] = {
    {"GstAnalyticsRelationMetaAPI",
     "The detections are a GstAnalyticsRelationMeta, which this build does not read, so nothing is clustered. Let the "
     "detector attach regions of interest with a structure \"detection\", or a GstCrowdBoxesMeta."},
    {"GstTensorMetaAPI",
     CROWD_HAVE_TENSORS
         ? "The output of the network is a GstTensorMeta, which this element does not read, so nothing is clustered. "
           "Put crowdtensordec in its place, which decodes and clusters, or a decoder before it that attaches regions "
           "of interest with a structure \"detection\", or a GstCrowdBoxesMeta."
         : "The output of the network is a GstTensorMeta, which this build does not read, so nothing is clustered. Put "
           "a decoder before this element that attaches regions of interest with a structure \"detection\", or a "
           "GstCrowdBoxesMeta."},
};

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

const char* problem_with(const GstMeta& meta) {
  if (meta.info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) {
    const auto& roi = reinterpret_cast<const GstVideoRegionOfInterestMeta&>(meta);
    return looks_like_detection(roi) ? unscored_regions : nullptr;
  }
  for (const ForeignMeta& foreign : foreign_metas) {
    if (meta.info->api == g_type_from_name(foreign.api))
      return is_read(meta.info->api) ? nullptr : foreign.text;
  }
  return nullptr;
}

}  // namespace

const char* unread_detections(GstBuffer* buffer, KindId wanted) {
  const auto reads_regions = [wanted](const AdapterRow& row) {
    return row.api() == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE && (wanted == KindId::automatic || wanted == row.id);
  };
  if (std::ranges::none_of(adapter_rows(), reads_regions))
    return nullptr;
  gpointer state = nullptr;
  while (const GstMeta* meta = gst_buffer_iterate_meta(buffer, &state)) {
    if (const char* problem = problem_with(*meta))
      return problem;
  }
  return nullptr;
}

}  // namespace crowd::meta
