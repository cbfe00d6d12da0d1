// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "nmsstats.hpp"

#include "nmssettings.hpp"

namespace crowd {

namespace {

guint suppressed(const CrowdNmsReport& report) {
  return report.candidates - report.overflow - report.invalid - report.below_threshold - report.survivors;
}

const char* backend_name(CrowdNmsBackend backend) {
  return backend == CROWD_NMS_BACKEND_CUDA ? "cuda" : "cpu";
}

}  // namespace

void NmsStats::count(const NmsEngine::Result* result, bool broken, CrowdNmsMethod method) {
  frames_++;
  method_ = method;
  broken_metas_ += broken;
  last_ = result ? result->report : CrowdNmsReport{};
  last_nms_time_ = result ? result->time : 0;
  candidates_ += last_.candidates;
  survivors_ += last_.survivors;
  suppressed_ += suppressed(last_);
  invalid_ += last_.invalid;
  below_threshold_ += last_.below_threshold;
  overflow_ += last_.overflow;
  clipped_ += last_.clipped;
  nms_time_ += last_nms_time_;
  if (result) {
    backend_ = backend_name(result->backend);
    frames_on_gpu_ += result->backend == CROWD_NMS_BACKEND_CUDA;
  }
}

GstStructure* NmsStats::structure(CrowdNmsMethod method) const {
  return gst_structure_new(
      "crowdnms", "frames", G_TYPE_UINT64, frames_, "frames-on-gpu", G_TYPE_UINT64, frames_on_gpu_, "candidates",
      G_TYPE_UINT64, candidates_, "survivors", G_TYPE_UINT64, survivors_, "suppressed", G_TYPE_UINT64, suppressed_,
      "invalid", G_TYPE_UINT64, invalid_, "below-threshold", G_TYPE_UINT64, below_threshold_, "overflow", G_TYPE_UINT64,
      overflow_, "clipped", G_TYPE_UINT64, clipped_, "broken-metas", G_TYPE_UINT64, broken_metas_, "nms-time",
      G_TYPE_UINT64, nms_time_, "last-candidates", G_TYPE_UINT, last_.candidates, "last-survivors", G_TYPE_UINT,
      last_.survivors, "last-suppressed", G_TYPE_UINT, suppressed(last_), "last-invalid", G_TYPE_UINT, last_.invalid,
      "last-below-threshold", G_TYPE_UINT, last_.below_threshold, "last-overflow", G_TYPE_UINT, last_.overflow,
      "last-clipped", G_TYPE_UINT, last_.clipped, "last-nms-time", G_TYPE_UINT64, last_nms_time_, "backend",
      G_TYPE_STRING, backend_, "method", G_TYPE_STRING, method_nick(method_.value_or(method)), nullptr);
}

GstStructure* NmsStats::message(const GstSegment& segment, const GstBuffer* buffer) const {
  const GstClockTime pts = GST_BUFFER_PTS(buffer);
  const bool timed = segment.format == GST_FORMAT_TIME;
  const guint64 running = timed ? gst_segment_to_running_time(&segment, GST_FORMAT_TIME, pts) : GST_CLOCK_TIME_NONE;
  const guint64 stream = timed ? gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, pts) : GST_CLOCK_TIME_NONE;
  return gst_structure_new(
      "crowdnms", "timestamp", G_TYPE_UINT64, pts, "stream-time", G_TYPE_UINT64, stream, "running-time", G_TYPE_UINT64,
      running, "duration", G_TYPE_UINT64, GST_BUFFER_DURATION(buffer), "candidates", G_TYPE_UINT, last_.candidates,
      "survivors", G_TYPE_UINT, last_.survivors, "suppressed", G_TYPE_UINT, suppressed(last_), "invalid", G_TYPE_UINT,
      last_.invalid, "below-threshold", G_TYPE_UINT, last_.below_threshold, "overflow", G_TYPE_UINT, last_.overflow,
      "clipped", G_TYPE_UINT, last_.clipped, "nms-time", G_TYPE_UINT64, last_nms_time_, "backend", G_TYPE_STRING,
      backend_, "method", G_TYPE_STRING, method_nick(method_.value_or(CROWD_NMS_GREEDY)), nullptr);
}

}  // namespace crowd
