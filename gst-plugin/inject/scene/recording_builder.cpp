// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "inject/scene/recording_builder.hpp"

#include <algorithm>
#include <utility>

namespace crowd::scene {

void RecordingBuilder::add_extra(Extra extra, std::span<const float> features) {
  std::vector<float>& all = recording_.candidates_.features;
  extra.first_feature = all.size();
  extra.feature_length = features.size();
  all.insert(all.end(), features.begin(), features.end());
  recording_.candidates_.add_extra(extra);
}

void RecordingBuilder::end_line(std::uint64_t frame) {
  auto& frames = recording_.frames_;
  const std::size_t now = recording_.candidates_.size();
  if (!frames.empty() && frames.back().number == frame)
    frames.back().count += now - ended_;
  else
    frames.push_back({frame, ended_, now - ended_});
  ended_ = now;
  ended_features_ = recording_.candidates_.features.size();
  accepted_lines_++;

  auto& labels = recording_.labels_;
  labels.resize(next_free_class());
  for (auto& [object_class, label] : pending_.labels)
    labels[static_cast<std::size_t>(object_class)] = std::move(label);
  classes_.merge(pending_.classes);
  if (pending_.resolution)
    recording_.resolution_ = *pending_.resolution;
  pending_ = {};
}

void RecordingBuilder::reject(BadLine bad) {
  pending_ = {};
  recording_.candidates_.resize(ended_);
  recording_.candidates_.features.resize(ended_features_);
  recording_.skipped_lines_++;
  if (!recording_.first_skipped_)
    recording_.first_skipped_ = std::move(bad);
}

bool RecordingBuilder::agree_on_resolution(Size resolution) {
  if (recording_.resolution_.width == 0) {
    pending_.resolution = resolution;
    return true;
  }
  const Size known = recording_.resolution_;
  return known.width == resolution.width && known.height == resolution.height;
}

void RecordingBuilder::name_class(std::int32_t object_class, std::string_view label) {
  const auto at = static_cast<std::size_t>(object_class);
  if (at < recording_.labels_.size() && !recording_.labels_[at].empty())
    return;
  if (pending_.labels.emplace(object_class, label).second)
    pending_.classes.emplace(label, object_class);
}

std::size_t RecordingBuilder::next_free_class() const {
  const std::size_t known = recording_.labels_.size();
  if (pending_.labels.empty())
    return known;
  return std::max(known, static_cast<std::size_t>(pending_.labels.rbegin()->first) + 1);
}

std::optional<std::int32_t> RecordingBuilder::class_named(std::string_view label) {
  if (const auto known = classes_.find(label); known != classes_.end())
    return known->second;
  if (const auto pending = pending_.classes.find(label); pending != pending_.classes.end())
    return pending->second;
  const std::size_t next = next_free_class();
  if (next > static_cast<std::size_t>(max_class))
    return std::nullopt;
  name_class(static_cast<std::int32_t>(next), label);
  return static_cast<std::int32_t>(next);
}

void RecordingBuilder::sort_by_frame() {
  CandidateList unsorted = std::exchange(recording_.candidates_, {});
  const auto chunks = std::exchange(recording_.frames_, {});
  auto& frames = recording_.frames_;
  auto& sorted = recording_.candidates_;
  sorted.features = std::move(unsorted.features);
  for (const RecordedFrame& chunk : chunks) {
    if (frames.empty() || frames.back().number != chunk.number)
      frames.push_back({chunk.number, sorted.size(), 0});
    frames.back().count += chunk.count;
    for (std::size_t i = chunk.first; i < chunk.first + chunk.count; i++) {
      sorted.add(unsorted.boxes[i], unsorted.scores[i], unsorted.classes[i]);
      if (!unsorted.extras.empty())
        sorted.add_extra(unsorted.extras[i]);
    }
  }
}

Recording RecordingBuilder::finish() && {
  auto& frames = recording_.frames_;
  if (!std::ranges::is_sorted(frames, {}, &RecordedFrame::number)) {
    std::ranges::stable_sort(frames, {}, &RecordedFrame::number);
    sort_by_frame();
  }
  for (std::size_t i = 0; i < recording_.labels_.size(); i++) {
    if (recording_.labels_[i].empty())
      recording_.labels_[i] = "class-" + std::to_string(i);
  }
  return std::move(recording_);
}

}  // namespace crowd::scene
