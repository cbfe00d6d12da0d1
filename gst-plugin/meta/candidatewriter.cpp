// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "meta/candidatewriter.hpp"

#include <algorithm>

namespace crowd {

namespace {

static_assert(sizeof(scene::Box) == sizeof(GstCrowdBox));

void fill(const GstCrowdBoxesMap& map, const scene::DetectionsView& candidates) {
  const std::size_t n = std::min<std::size_t>(candidates.boxes.size(), map.capacity);
  std::transform(candidates.boxes.begin(), candidates.boxes.begin() + static_cast<std::ptrdiff_t>(n), map.boxes,
                 [](const scene::Box& box) {
                   return GstCrowdBox{box.x1, box.y1, box.x2, box.y2};
                 });
  std::copy_n(candidates.scores.begin(), n, map.scores);
  std::copy_n(candidates.classes.begin(), n, map.classes);
  *map.count = static_cast<guint32>(candidates.boxes.size());
}

}  // namespace

bool CandidateWriter::goes_to_device(GstBuffer* buffer) {
  return gst_buffer_n_memory(buffer) && is_on_device(gst_buffer_peek_memory(buffer, 0)) &&
         wish_.wants(source_pad_, meta::candidates_on_device);
}

MemoryRef CandidateWriter::write(GstBuffer* buffer, const scene::DetectionsView& candidates) {
  if (goes_to_device(buffer))
    return upload_->upload(gst_buffer_peek_memory(buffer, 0), capacity_,
                           [&candidates](const GstCrowdBoxesMap& map) { fill(map, candidates); });
  MemoryRef memory = pool_.acquire(capacity_);
  if (!memory)
    return nullptr;
  const MappedBoxes map(memory.get(), capacity_, GST_MAP_WRITE);
  if (!map)
    return nullptr;
  fill(*map, candidates);
  return memory;
}

std::optional<std::size_t> CandidateWriter::attach(GstBuffer* buffer, const scene::DetectionsView& candidates,
                                                   guint most, const Frame& frame) {
  capacity_ = most ? most : std::max(capacity_, room_for(candidates.boxes.size()));
  MemoryRef memory = write(buffer, candidates);
  if (!memory)
    return std::nullopt;
  gst_buffer_add_crowd_boxes_meta(buffer, memory.release(), capacity_, frame.width, frame.height, frame.labels);
  return candidates.boxes.size() - std::min<std::size_t>(candidates.boxes.size(), capacity_);
}

void CandidateWriter::reset() {
  pool_.clear();
  upload_.emplace();
  capacity_ = 0;
  wish_.reconfigure();
}

}  // namespace crowd
