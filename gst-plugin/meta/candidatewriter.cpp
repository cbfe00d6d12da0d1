// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "meta/candidatewriter.hpp"

#include <algorithm>
#include <utility>

#include "gpu/device.hpp"

namespace crowd {

bool CandidateWriter::goes_to_device(GstBuffer* buffer) {
  return upload_ && gst_buffer_n_memory(buffer) && is_on_device(gst_buffer_peek_memory(buffer, 0)) &&
         downstream_.wants(source_pad_, meta::candidates_on_device);
}

MemoryRef CandidateWriter::write(GstBuffer* buffer, const std::function<void(const GstCrowdBoxesMap&)>& fill) {
  if (goes_to_device(buffer))
    return upload_->upload(gst_buffer_peek_memory(buffer, 0), capacity_, fill, device_report_);
  MemoryRef memory = pool_.acquire(capacity_);
  if (!memory)
    return nullptr;
  const MappedBoxes map(memory.get(), capacity_, GST_MAP_WRITE);
  if (!map)
    return nullptr;
  fill(*map);
  return memory;
}

std::optional<std::size_t> CandidateWriter::attach(GstBuffer* buffer, std::size_t count, const Fill& fill,
                                                   guint max_candidates, const Frame& frame) {
  capacity_ = max_candidates ? max_candidates : std::max(capacity_, room_for(count));
  const std::size_t written = std::min<std::size_t>(count, capacity_);
  // Two references fit into a std::function without an allocation.
  const std::pair<const Fill&, std::size_t> parts(fill, written);
  MemoryRef memory = write(buffer, [&parts, &count](const GstCrowdBoxesMap& map) {
    parts.first(map, parts.second);
    *map.count = static_cast<guint32>(count);
  });
  if (!memory)
    return std::nullopt;
  gst_buffer_add_crowd_boxes_meta(buffer, memory.release(), capacity_, frame.width, frame.height, frame.labels);
  return count - written;
}

void CandidateWriter::reset() {
  pool_.clear();
  upload_ = make_device_part<BoxesUpload>();
  device_report_ = {};
  capacity_ = 0;
  downstream_.reconfigure();
}

}  // namespace crowd
