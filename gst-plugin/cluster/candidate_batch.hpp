// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Candidates of several frames, one frame behind the other, for one call of libcrowdnms.
#pragma once

#include <crowd/nms.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "meta/adapter.hpp"

namespace crowd {

class CandidateBatch {
 public:
  /// Of a call, which bounds the memory that a batch takes: results are arrays of frames times the largest frame.
  static constexpr std::size_t max_frames = 1024, max_places = std::size_t{1} << 22;

  /// `arrays`: those of GstCrowdBoxesArrays that the call reads, or-ed; they are collected as well.
  void clear(guint arrays = GST_CROWD_BOXES_NO_ARRAYS) {
    arrays_ = arrays;
    feature_length_ = 0;
    densities_.clear();
    proposals_.clear();
    visible_.clear();
    features_.clear();
    models_.clear();
    boxes_.clear();
    scores_.clear();
    classes_.clear();
    offsets_.clear();
    counts_.clear();
    given_.clear();
    capacity_ = 0;
  }

  /// Always for a first frame. Not for features of another length than those of the frames before.
  bool has_room_for(const meta::Candidates& frame) const {
    if (!counts_.empty() && reads(GST_CROWD_BOXES_FEATURES) && frame.feature_length != feature_length_)
      return false;
    const std::size_t largest = std::max<std::size_t>(capacity_, frame.boxes.size());
    return counts_.empty() || (counts_.size() < max_frames && (counts_.size() + 1) * largest <= max_places);
  }

  void add(const meta::Candidates& frame) {
    offsets_.push_back(static_cast<std::uint32_t>(boxes_.size()));
    counts_.push_back(static_cast<std::uint32_t>(frame.boxes.size()));
    given_.push_back(frame.count);
    boxes_.insert(boxes_.end(), frame.boxes.begin(), frame.boxes.end());
    scores_.insert(scores_.end(), frame.scores.begin(), frame.scores.end());
    classes_.insert(classes_.end(), frame.classes.begin(), frame.classes.end());
    capacity_ = std::max(capacity_, counts_.back());
    add_array(GST_CROWD_BOXES_DENSITIES, densities_, frame.densities);
    add_array(GST_CROWD_BOXES_PROPOSALS, proposals_, frame.proposals);
    add_array(GST_CROWD_BOXES_VISIBLE, visible_, frame.visible);
    add_array(GST_CROWD_BOXES_FEATURES, features_, frame.features);
    add_array(GST_CROWD_BOXES_MODELS, models_, frame.models);
    feature_length_ = reads(GST_CROWD_BOXES_FEATURES) ? frame.feature_length : 0;
  }

  CrowdNmsCandidates view() const {
    CrowdNmsCandidates candidates{};
    candidates.boxes = boxes_.data();
    candidates.scores = scores_.data();
    candidates.classes = classes_.data();
    candidates.offsets = offsets_.data();
    candidates.counts = counts_.data();
    candidates.frames = frames();
    candidates.capacity = capacity_;
    candidates.densities = densities_.data();
    candidates.proposals = proposals_.data();
    candidates.visible = visible_.data();
    candidates.features = features_.data();
    candidates.feature_length = feature_length_;
    candidates.models = models_.data();
    return candidates;
  }

  std::uint32_t frames() const {
    return static_cast<std::uint32_t>(counts_.size());
  }
  /// Of the largest frame.
  std::uint32_t capacity() const {
    return capacity_;
  }
  std::size_t total() const {
    return boxes_.size();
  }
  /// Candidates of a frame that are here.
  std::uint32_t count(std::size_t frame) const {
    return counts_[frame];
  }
  /// Those that are not, beyond what was read.
  std::uint32_t missing(std::size_t frame) const {
    return given_[frame] - counts_[frame];
  }

 private:
  bool reads(guint array) const {
    return (arrays_ & array) != 0;
  }
  template <typename T>
  void add_array(guint array, std::vector<T>& all, std::span<const T> values) {
    if (reads(array))
      all.insert(all.end(), values.begin(), values.end());
  }

  std::vector<CrowdNmsBox> boxes_;
  std::vector<float> scores_;
  std::vector<std::int32_t> classes_;
  guint arrays_ = GST_CROWD_BOXES_NO_ARRAYS;
  std::vector<float> densities_, features_;
  std::vector<std::uint32_t> proposals_, models_;
  std::vector<CrowdNmsBox> visible_;
  std::uint32_t feature_length_ = 0;
  std::vector<std::uint32_t> offsets_, counts_, given_;
  std::uint32_t capacity_ = 0;
};

}  // namespace crowd
