// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cluster/stats.hpp"

#include "cluster/settings.hpp"

namespace crowd {

namespace {

guint suppressed(const CrowdNmsReport& report) {
  return report.candidates - report.overflow - report.invalid - report.below_threshold - report.survivors;
}

const char* backend_name(CrowdNmsBackend backend) {
  return backend == CROWD_NMS_BACKEND_CUDA ? "cuda" : "cpu";
}

}  // namespace

void NmsStats::count(const Backends::Result* result, Place place, bool failure, CrowdNmsMethod method,
                     std::uint32_t nan_candidates) {
  frames_++;
  device_frames_ += place == Place::device;
  last_place_ = place;
  method_ = method;
  failures_ += failure;
  nan_candidates_ += nan_candidates;
  last_ = result ? result->report : CrowdNmsReport{};
  last_on_device_ = false;
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

void NmsStats::count_on_device(CrowdNmsMethod method) {
  frames_++;
  frames_on_gpu_++;
  device_frames_++;
  method_ = method;
  backend_ = backend_name(CROWD_NMS_BACKEND_CUDA);
  last_place_ = Place::device;
  last_on_device_ = true;
}

GstStructure* NmsStats::structure(CrowdNmsMethod method, const CrowdNmsTotals& on_device,
                                  const DeviceNms::Times& times) const {
  const CrowdNmsReport& last = last_on_device_ ? on_device.last : last_;
  // The device may be writing its numbers, one after another.
  const guint64 others = on_device.overflow + on_device.invalid + on_device.below_threshold + on_device.survivors;
  const guint64 suppressed_there = on_device.candidates - MIN(others, on_device.candidates);
  return gst_structure_new(
      "crowdnms-stats", "frames", G_TYPE_UINT64, frames_, "frames-on-gpu", G_TYPE_UINT64, frames_on_gpu_, "candidates",
      G_TYPE_UINT64, candidates_ + on_device.candidates, "survivors", G_TYPE_UINT64, survivors_ + on_device.survivors,
      "suppressed", G_TYPE_UINT64, suppressed_ + suppressed_there, "invalid", G_TYPE_UINT64,
      invalid_ + on_device.invalid, "below-threshold", G_TYPE_UINT64, below_threshold_ + on_device.below_threshold,
      "overflow", G_TYPE_UINT64, overflow_ + on_device.overflow, "clipped", G_TYPE_UINT64, clipped_ + on_device.clipped,
      "nan-candidates", G_TYPE_UINT64, nan_candidates_, "failures", G_TYPE_UINT64, failures_, "nms-time", G_TYPE_UINT64,
      nms_time_, "device-frames", G_TYPE_UINT64, device_frames_, "device-frames-timed", G_TYPE_UINT64,
      guint64{times.frames}, "device-time", G_TYPE_UINT64, guint64{times.total}, "last-candidates", G_TYPE_UINT,
      last.candidates, "last-survivors", G_TYPE_UINT, last.survivors, "last-suppressed", G_TYPE_UINT, suppressed(last),
      "last-invalid", G_TYPE_UINT, last.invalid, "last-below-threshold", G_TYPE_UINT, last.below_threshold,
      "last-overflow", G_TYPE_UINT, last.overflow, "last-clipped", G_TYPE_UINT, last.clipped, "last-nms-time",
      G_TYPE_UINT64, last_nms_time_, "backend", G_TYPE_STRING, backend_, "method", G_TYPE_STRING,
      crowd_nms_method_info(method_.value_or(method))->name, nullptr);
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
      "clipped", G_TYPE_UINT, last_.clipped, "nms-time", G_TYPE_UINT64, last_nms_time_, "on-device", G_TYPE_BOOLEAN,
      gboolean{last_place_ == Place::device}, "backend", G_TYPE_STRING, backend_, "method", G_TYPE_STRING,
      crowd_nms_method_info(method_.value_or(CROWD_NMS_GREEDY))->name, nullptr);
}

}  // namespace crowd
