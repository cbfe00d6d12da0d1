// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "counts.hpp"

namespace crowd {
namespace {

std::uint64_t count_of(const GstStructure* structure, const char* field) {
  const GValue* value = gst_structure_get_value(structure, field);
  if (!value)
    return 0;
  if (G_VALUE_HOLDS_UINT(value))
    return g_value_get_uint(value);
  return G_VALUE_HOLDS_UINT64(value) ? g_value_get_uint64(value) : 0;
}

}  // namespace

Counts Counts::since(const Counts& before) const {
  Counts later = *this;
  later.frames -= before.frames;
  later.candidates -= before.candidates;
  later.survivors -= before.survivors;
  later.nms_ns -= before.nms_ns;
  later.device_frames -= before.device_frames;
  later.device_timed -= before.device_timed;
  later.device_ns -= before.device_ns;
  return later;
}

Counts read_counts(const GstStructure* stats) {
  Counts counts;
  counts.frames = count_of(stats, "frames");
  counts.candidates = count_of(stats, "candidates");
  counts.survivors = count_of(stats, "survivors");
  counts.nms_ns = count_of(stats, "nms-time");
  counts.device_frames = count_of(stats, "device-frames");
  counts.device_timed = count_of(stats, "device-frames-timed");
  counts.device_ns = count_of(stats, "device-time");
  counts.last_candidates = count_of(stats, "last-candidates");
  counts.last_survivors = count_of(stats, "last-survivors");
  if (const gchar* backend = gst_structure_get_string(stats, "backend"))
    counts.backend = backend;
  return counts;
}

Counts read_counts(GstElement* nms) {
  GstStructure* stats = nullptr;
  g_object_get(nms, "stats", &stats, nullptr);
  const Counts counts = read_counts(stats);
  gst_structure_free(stats);
  return counts;
}

}  // namespace crowd
