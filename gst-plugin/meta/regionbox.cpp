// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "meta/regionbox.hpp"

#include <algorithm>
#include <cmath>

#include "base/detection.hpp"
#include "meta/written.hpp"

namespace crowd::meta {

namespace {

constexpr double normalised_limit = 1.0 + 1e-6;

// How far the edges, clipped to the frame, are from the region's own rectangle.
double distance(const Edges& edges, const GstVideoRegionOfInterestMeta* roi, FrameSize size) {
  const Edges own = {double(roi->x), double(roi->y), double(roi->x) + roi->w, double(roi->y) + roi->h};
  double sum = 0;
  for (std::size_t i = 0; i < edges.size(); ++i)
    sum += std::abs(std::clamp(edges[i], 0.0, double(i % 2 ? size.height : size.width)) - own[i]);
  return sum;
}

// Numbers within [0, 1] are normalised, as DL Streamer means them. Others are pixels or a normalised box that leaves
// the frame: the region's own rectangle decides.
bool is_normalised(const Edges& edges, const Edges& scaled, const GstVideoRegionOfInterestMeta* roi, FrameSize size) {
  if (std::ranges::all_of(edges, [](double edge) { return edge >= 0 && edge <= normalised_limit; }))
    return true;
  return size.known() && distance(scaled, roi, size) < distance(edges, roi, size);
}

}  // namespace

CrowdNmsBox rectangle_of(const GstVideoRegionOfInterestMeta& roi) {
  return {float(roi.x), float(roi.y), float(double(roi.x) + roi.w), float(double(roi.y) + roi.h)};
}

std::optional<CrowdNmsBox> exact_box(const GstVideoRegionOfInterestMeta& roi, const GstStructure* detection,
                                     FrameSize size) {
  const RegionQuarks& q = quarks();
  Edges edges;
  if (!get_number(detection, q.x_min, edges[0]) || !get_number(detection, q.y_min, edges[1]) ||
      !get_number(detection, q.x_max, edges[2]) || !get_number(detection, q.y_max, edges[3]))
    return std::nullopt;
  const Edges scaled = {edges[0] * size.width, edges[1] * size.height, edges[2] * size.width, edges[3] * size.height};
  const bool normalised = is_normalised(edges, scaled, &roi, size);
  if (normalised && !size.known())
    return std::nullopt;
  if (normalised)
    edges = scaled;
  return CrowdNmsBox{float(edges[0]), float(edges[1]), float(edges[2]), float(edges[3])};
}

}  // namespace crowd::meta
