// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tensordec/foundbefore.hpp"

#include <gst/analytics/analytics.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace crowd {

namespace {

/// An edge and a side are cut to whole pixels, each for itself.
constexpr float rounding = 2;

std::optional<tensors::RawBox> best_object(GstBuffer* frame) {
  GstAnalyticsRelationMeta* meta = gst_buffer_get_analytics_relation_meta(frame);
  std::optional<tensors::RawBox> best;
  gpointer state = nullptr;
  GstAnalyticsMtd mtd = {};
  while (meta && gst_analytics_relation_meta_iterate(meta, &state, gst_analytics_od_mtd_get_mtd_type(), &mtd)) {
    gint x = 0, y = 0, w = 0, h = 0;
    gfloat score = 0;
    gst_analytics_od_mtd_get_location(&mtd, &x, &y, &w, &h, &score);
    if (!best || score > best->score)
      best = {float(x), float(y), float(x) + float(w), float(y) + float(h), score, 0};
  }
  return best;
}

bool is_near(float a, float b) {
  return std::abs(a - b) <= rounding;
}

}  // namespace

bool is_found_before(GstBuffer* frame, std::span<const tensors::RawBox> boxes) {
  const auto best = best_object(frame);
  return best && std::ranges::any_of(boxes, [&best](const tensors::RawBox& box) {
           return box.score == best->score && is_near(box.x1, best->x1) && is_near(box.y1, best->y1) &&
                  is_near(box.x2, best->x2) && is_near(box.y2, best->y2);
         });
}

}  // namespace crowd
