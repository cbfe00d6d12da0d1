// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "adapter.hpp"

namespace crowd::meta {

std::span<const AdapterRow> adapter_rows() {
  static constexpr AdapterRow rows[] = {
      {"boxes", "GstCrowdBoxesMeta of crowddetect, crowdinject and others", false, boxes_api, make_boxes_adapter},
      {"roi", "GstVideoRegionOfInterestMeta with a detection (DL Streamer and others)", true, roi_api,
       make_roi_adapter},
  };
  return rows;
}

}  // namespace crowd::meta
