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

std::array<GQuark, 4> edge_fields() {
  const RegionQuarks& q = quarks();
  return {q.x_min, q.y_min, q.x_max, q.y_max};
}

bool get_edges(const GstStructure* detection, Edges& edges) {
  const auto fields = edge_fields();
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (!get_number(detection, fields[i], edges[i]))
      return false;
  }
  return true;
}

Edges in_pixels(const Edges& edges, FrameSize size) {
  return {edges[0] * size.width, edges[1] * size.height, edges[2] * size.width, edges[3] * size.height};
}

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
  Edges edges;
  if (!get_edges(detection, edges))
    return std::nullopt;
  const Edges scaled = in_pixels(edges, size);
  const bool normalised = is_normalised(edges, scaled, &roi, size);
  if (normalised && !size.known())
    return std::nullopt;
  if (normalised)
    edges = scaled;
  return CrowdNmsBox{float(edges[0]), float(edges[1]), float(edges[2]), float(edges[3])};
}

namespace {

void write_box(GstVideoRegionOfInterestMeta& roi, const CrowdNmsBox& box, const BoxesInfo& info) {
  GstStructure* detection = find_detection(roi);
  const CrowdNmsBox own = exact_box(roi, detection, info.frame).value_or(rectangle_of(roi));
  if (own.x1 == box.x1 && own.y1 == box.y1 && own.x2 == box.x2 && own.y2 == box.y2)
    return;
  const Placer placer(info, info.frame);
  const Edges edges = placer.edges(box);
  Edges before;
  if (get_edges(detection, before)) {
    const bool normalised = is_normalised(before, in_pixels(before, info.frame), &roi, info.frame);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const double extent = i % 2 ? info.frame.height : info.frame.width;
      write_number(detection, edge_fields()[i], normalised && extent > 0 ? edges[i] / extent : edges[i]);
    }
  }
  const PixelRectangle place = placer.rectangle(edges);
  roi.x = place.x.start;
  roi.y = place.y.start;
  roi.w = place.x.length;
  roi.h = place.y.length;
}

}  // namespace

void write_values(GstVideoRegionOfInterestMeta& roi, const Candidates& candidates, std::uint32_t candidate,
                  const Verdict& verdict) {
  if (!verdict.boxes.empty())
    write_box(roi, candidates.boxes[candidate], candidates.info);
  if (!verdict.scores.empty())
    write_score(roi, candidates.scores[candidate]);
}

}  // namespace crowd::meta
