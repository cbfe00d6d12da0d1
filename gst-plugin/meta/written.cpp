// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "meta/written.hpp"

#include <algorithm>
#include <cmath>

namespace crowd::meta {

namespace {

constexpr char default_label[] = "object";

/// Pixels by which edges may be off that a scaler moved: coordinates are float32.
constexpr double placement_error = 1.0 / 1024;

bool is_identity(const GstCrowdBoxesPlacement& p) {
  return p.xx == 1 && p.xy == 0 && p.x0 == 0 && p.yx == 0 && p.yy == 1 && p.y0 == 0;
}

// The pixels from edge `low` to edge `high` within [0, limit], edges being off by `slack` at most. Safe for NaN.
PixelSpan pixel_span(double low, double high, double slack, guint limit) {
  const auto clip = [limit](double value) {
    return value > 0 ? static_cast<guint>(std::min<double>(value, limit)) : 0;
  };
  const guint start = clip(std::floor(low + slack));
  const guint end = clip(std::ceil(high - slack));
  return {start, end > start ? end - start : 0};
}

}  // namespace

Placer::Placer(const BoxesInfo& info, FrameSize size)
    : placement_(info.placement),
      frame_(info.frame.known() ? info.frame : size),
      slack_(is_identity(info.placement) ? 0 : placement_error),
      clip_(info.clip) {}

Edges Placer::edges(const CrowdNmsBox& box) const {
  const GstCrowdBoxesPlacement& p = placement_;
  const auto x = [&p](float x, float y) { return p.xx * x + p.xy * y + p.x0; };
  const auto y = [&p](float x, float y) { return p.yx * x + p.yy * y + p.y0; };
  const auto [left, right] = std::minmax({x(box.x1, box.y1), x(box.x2, box.y2)});
  const auto [top, bottom] = std::minmax({y(box.x1, box.y1), y(box.x2, box.y2)});
  return {left, top, right, bottom};
}

PixelRectangle Placer::rectangle(const Edges& edges) const {
  return {pixel_span(edges[0], edges[2], slack_, frame_.known() ? frame_.width : G_MAXINT32),
          pixel_span(edges[1], edges[3], slack_, frame_.known() ? frame_.height : G_MAXINT32)};
}

WholeRectangle Placer::whole_rectangle(const Edges& edges) const {
  if (clip_) {
    const auto [x, y] = rectangle(edges);
    return {static_cast<gint>(x.start), static_cast<gint>(y.start), static_cast<gint>(x.length),
            static_cast<gint>(y.length)};
  }
  const auto whole = [](double value) {
    constexpr double far = 1 << 30;
    return std::isnan(value) ? 0 : static_cast<gint>(std::clamp(value, -far, far - 1));
  };
  const gint x = whole(std::floor(edges[0] + slack_)), y = whole(std::floor(edges[1] + slack_));
  return {x, y, whole(std::ceil(edges[2] - slack_)) - x, whole(std::ceil(edges[3] - slack_)) - y};
}

GQuark label_of(const Candidates& candidates, std::uint32_t candidate) {
  if (candidate < candidates.names.size() && candidates.names[candidate])
    return candidates.names[candidate];
  const std::int32_t class_id = candidates.classes[candidate];
  const GPtrArray* labels = candidates.info.labels;
  const bool named = labels && class_id >= 0 && static_cast<guint>(class_id) < labels->len;
  const auto* label = named ? static_cast<const char*>(g_ptr_array_index(labels, class_id)) : nullptr;
  return g_quark_from_string(label ? label : default_label);
}

Cluster cluster_of(const Verdict& verdict, std::uint32_t candidate) {
  if (candidate >= verdict.places.size())
    return {};
  const gint id = verdict.places[candidate];
  if (id >= 0)
    return {.id = id, .members = verdict.members[static_cast<std::size_t>(id)], .kept = true};
  const std::uint32_t keeper = keeper_of(verdict, candidate);
  return {.id = keeper == CROWD_NMS_NONE ? -1 : verdict.places[keeper]};
}

std::uint32_t keeper_of(const Verdict& verdict, std::uint32_t candidate) {
  if (candidate >= verdict.representatives.size())
    return CROWD_NMS_NONE;
  const std::uint32_t keeper = verdict.representatives[candidate];
  return keeper < verdict.places.size() && verdict.places[keeper] >= 0 ? keeper : CROWD_NMS_NONE;
}

std::uint32_t heir_of(const Verdict& verdict, std::uint32_t candidate, Mode mode) {
  const bool stays = mode == Mode::annotate || cluster_of(verdict, candidate).kept;
  return stays ? candidate : keeper_of(verdict, candidate);
}

int region_id_of(const ObjectIds& ids, std::uint32_t candidate, int before, bool may_be_parent) {
  const int after = candidate < ids.after.size() ? ids.after[candidate] : -1;
  return after < 0 || (after == 0 && may_be_parent) ? before : after;
}

}  // namespace crowd::meta
