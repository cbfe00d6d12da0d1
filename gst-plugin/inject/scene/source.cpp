// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "inject/scene/source.hpp"

#include <utility>

namespace crowd::scene {

namespace {

std::vector<std::string> scene_labels(std::uint32_t classes) {
  if (classes <= 1)
    return {"face"};
  std::vector<std::string> labels;
  for (std::uint32_t i = 0; i < classes; i++)
    labels.push_back("face-" + std::to_string(i));
  return labels;
}

}  // namespace

Source::Source(const SceneSettings& settings) : source_(Scene(settings)), labels_(scene_labels(settings.classes)) {}

Source::Source(Recording recording, Size recorded)
    : source_(std::move(recording)),
      recorded_(std::get<Recording>(source_).resolution()),
      labels_(std::get<Recording>(source_).labels()) {
  if (recorded_.width == 0)
    recorded_ = recorded;
}

CandidatesView Source::frame(const Request& request) {
  if (auto* scene = std::get_if<Scene>(&source_)) {
    scene->frame(request.number, request.frame, request.wanted, candidates_, objects_);
    return candidates_.view();
  }
  return recorded_frame(std::get<Recording>(source_), request);
}

CandidatesView Source::first_candidates() const {
  const auto* recording = std::get_if<Recording>(&source_);
  return recording ? recording->first_candidates() : CandidatesView();
}

CandidatesView Source::recorded_frame(const Recording& recording, const Request& request) {
  const std::uint64_t length = recording.length();
  const CandidatesView view = recording.frame(request.loop && length > 0 ? request.number % length : request.number);
  if (recorded_.width == 0 || (recorded_.width == request.frame.width && recorded_.height == request.frame.height))
    return view;
  const float sx = request.frame.width / recorded_.width, sy = request.frame.height / recorded_.height;
  const auto scaled = [sx, sy](const Box& box) { return Box{box.x1 * sx, box.y1 * sy, box.x2 * sx, box.y2 * sy}; };
  candidates_.boxes.clear();
  for (const Box& box : view.boxes)
    candidates_.boxes.push_back(scaled(box));
  candidates_.extras.assign(view.extras.begin(), view.extras.end());
  for (Extra& extra : candidates_.extras) {
    if (extra.visible)
      extra.visible = scaled(*extra.visible);
  }
  return {candidates_.boxes, view.scores, view.classes, candidates_.extras, view.features};
}

}  // namespace crowd::scene
