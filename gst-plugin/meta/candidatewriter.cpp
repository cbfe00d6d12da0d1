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

MemoryRef CandidateWriter::write_memory(GstBuffer* frame, const BoxesShape& shape,
                                        const std::function<void(const GstCrowdBoxesMap&)>& fill) {
  if (frame && goes_to_device(frame))
    return upload_->upload(gst_buffer_peek_memory(frame, 0), shape, fill, device_report_);
  MemoryRef memory = pool_.acquire(shape);
  if (!memory)
    return nullptr;
  const MappedBoxes map(memory.get(), shape, GST_MAP_WRITE);
  if (!map)
    return nullptr;
  fill(*map);
  return memory;
}

CandidateWriter::Written CandidateWriter::write(GstBuffer* frame, std::size_t count, const Fill& fill,
                                                guint max_candidates, Arrays arrays) {
  if (arrays != arrays_)
    room_ = 0;
  arrays_ = arrays;
  room_ = std::max(room_, room_for(count));
  const guint capacity = max_candidates ? std::min(room_, max_candidates) : room_;
  // Two references fit into a std::function without an allocation.
  const std::pair<const Fill&, std::size_t> parts(fill, std::min<std::size_t>(count, capacity));
  MemoryRef memory = write_memory(frame, {capacity, arrays.arrays, arrays.feature_length},
                                  [&parts, &count](const GstCrowdBoxesMap& map) {
                                    parts.first(map, parts.second);
                                    *map.count = static_cast<guint32>(count);
                                  });
  return {.memory = std::move(memory),
          .capacity = capacity,
          .arrays = arrays.arrays,
          .feature_length = arrays.feature_length};
}

meta::KindId CandidateWriter::kind() {
  return std::ranges::find(meta::adapter_rows(), GST_CROWD_BOXES_META_API_TYPE,
                           [](const meta::AdapterRow& row) { return row.api(); })
      ->id;
}

void CandidateWriter::attach(GstBuffer* buffer, const Written& candidates, const Frame& frame) {
  GstCrowdBoxesMeta* meta = gst_buffer_add_crowd_boxes_meta(
      buffer, gst_memory_ref(candidates.memory.get()), candidates.capacity, frame.width, frame.height, frame.labels);
  meta->arrays = candidates.arrays;
  meta->feature_length = candidates.feature_length;
  meta->confidence_slope = frame.calibration.slope;
  meta->confidence_offset = frame.calibration.offset;
}

void CandidateWriter::reset() {
  pool_.clear();
  upload_ = make_device_part<BoxesUpload>();
  device_report_ = {};
  room_ = 0;
  arrays_ = {};
  downstream_.reconfigure();
}

}  // namespace crowd
