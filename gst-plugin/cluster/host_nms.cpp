// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cluster/host_nms.hpp"

namespace crowd {

using Outcome = FrameReport::Outcome;

FrameReport HostNms::begin(GstBuffer* buffer, Frame& frame) {
  FrameReport report = cluster(buffer, frame);
  frame.source->adapter->release();
  return report;
}

FrameReport HostNms::cluster(GstBuffer* buffer, Frame& frame) {
  meta::Candidates candidates;
  const char* problem = nullptr;
  if (!frame.source->adapter->read(buffer, frame.size, frame.config.capacity, candidates, problem))
    return {Outcome::broken, problem};
  candidates.info.clip = frame.settings.clip;
  const std::uint32_t room = frame.settings.max_detections ? frame.settings.max_detections : frame.config.capacity;
  const bool with_representatives = Metadata::needs_representatives(frame);
  Backends::Result& result = frame.result.emplace();
  if (backends_.run(frame.config, candidates, room, with_representatives, result) != CROWD_NMS_OK)
    return {Outcome::failed, backends_.problem()};
  if (!metadata_.write(buffer, frame, candidates, result.verdict))
    return {Outcome::no_memory, {}};
  return {};
}

}  // namespace crowd
