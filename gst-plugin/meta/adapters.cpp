// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "base/negotiation.hpp"
#include "meta/adapter.hpp"

namespace crowd::meta {

std::span<const AdapterRow> adapter_rows() {
  static constexpr AdapterRow rows[] = {
      {"boxes", "GstCrowdBoxesMeta (crowddetect, crowdinject, crowdoverlay and others), in device memory as well", true,
       false, boxes_api, survivors_on_device, make_boxes_adapter},
      {"roi", "GstVideoRegionOfInterestMeta with a detection (DL Streamer and others)", true, true, roi_api, nullptr,
       make_roi_adapter},
  };
  return rows;
}

void advertise_candidates(GstQuery* query, bool on_device) {
  for (const AdapterRow& row : adapter_rows()) {
    if (row.api() == boxes_api() && on_device)
      advertise_boxes(query, {candidates_on_device});
    else if (row.api() == boxes_api())
      advertise_boxes(query, {});
    else if (!gst_query_find_allocation_meta(query, row.api(), nullptr))
      gst_query_add_allocation_meta(query, row.api(), nullptr);
  }
}

}  // namespace crowd::meta
