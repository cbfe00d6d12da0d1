// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>

#include "base/negotiation.hpp"
#include "meta/adapter.hpp"

namespace crowd::meta {

// What the rows take from the files of their kinds.
GType boxes_api();
void advertise_boxes_read(GstQuery* query, bool on_device);
std::unique_ptr<Adapter> make_boxes_adapter();
GType analytics_api();
void advertise_analytics_read(GstQuery* query, bool on_device);
std::unique_ptr<Adapter> make_analytics_adapter();
std::unique_ptr<ObjectReader> make_analytics_reader();
GType roi_api();
void advertise_roi_read(GstQuery* query, bool on_device);
std::unique_ptr<Adapter> make_roi_adapter();
std::unique_ptr<ObjectReader> make_roi_reader();

namespace {

constexpr AdapterRow rows[] = {
    {
        .id = KindId{2},
        .nick = "boxes",
        .description =
            "GstCrowdBoxesMeta (crowddetect, crowdinject, crowdoverlay and others), in device memory as well",
        .writes = true,
        .standard = false,
        .api = boxes_api,
        .advertise = advertise_boxes_read,
        .on_device = survivors_on_device,
        .make = make_boxes_adapter,
    },
#if CROWD_HAVE_ANALYTICS
    {
        .id = KindId{4},
        .nick = "analytics",
        .description = "object detections of GstAnalytics (GStreamer's tensor decoders, DL Streamer and others)",
        .writes = true,
        .standard = true,
        .api = analytics_api,
        .advertise = advertise_analytics_read,
        .on_device = nullptr,
        .make = make_analytics_adapter,
        .make_reader = make_analytics_reader,
        .max_automatic = 4096,  // whose relations take 16 MiB
    },
#endif
    {
        .id = KindId{3},
        .nick = "roi",
        .description = "GstVideoRegionOfInterestMeta with a detection (DL Streamer and others)",
        .writes = true,
        .standard = true,
        .api = roi_api,
        .advertise = advertise_roi_read,
        .on_device = nullptr,
        .make = make_roi_adapter,
        .make_reader = make_roi_reader,
    },
};

constexpr bool ids_are_distinct() {
  for (const AdapterRow& row : rows) {
    if (row.id == KindId::automatic || row.id == KindId::all || std::ranges::count(rows, row.id, &AdapterRow::id) != 1)
      return false;
  }
  return true;
}
static_assert(ids_are_distinct());

}  // namespace

std::span<const AdapterRow> adapter_rows() {
  return rows;
}

const AdapterRow& row_named(std::string_view nick) {
  return *std::ranges::find(rows, nick, &AdapterRow::nick);
}

void advertise_candidates(GstQuery* query, bool on_device) {
  for (const AdapterRow& row : rows)
    row.advertise(query, on_device);
}

}  // namespace crowd::meta
