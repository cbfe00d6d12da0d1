// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cluster/host_nms.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cluster/arrays.hpp"

namespace crowd {

namespace {

using Outcome = FrameReport::Outcome;

std::uint32_t room_for_survivors(const Frame& frame) {
  return frame.settings.max_detections ? frame.settings.max_detections : frame.config.capacity;
}

bool have_same_classes(const CrowdNmsParams& a, const CrowdNmsParams& b) {
  return a.class_count == b.class_count && a.listed_only == b.listed_only &&
         std::memcmp(a.class_settings, b.class_settings, a.class_count * sizeof *a.class_settings) == 0;
}

bool is_clustered(const BatchItem& item) {
  return item.frame.source && item.report.is_done();
}

}  // namespace

/// Candidates as the frame's rule and method read them; or why they cannot be read.
FrameReport HostNms::read(GstBuffer* buffer, Frame& frame, meta::Candidates& candidates) {
  const char* problem = nullptr;
  if (!frame.source->adapter->read(buffer, frame.size, frame.config.capacity, candidates, problem))
    return {Outcome::broken, problem};
  if (candidates.boxes.empty())
    return {};
  if (std::string lacking = problem_of_arrays(frame.config.params, candidates.arrays); !lacking.empty())
    return {Outcome::broken, std::move(lacking)};
  frame.nan_candidates = count_nan(frame.config.params, candidates);
  frame.unknown_models = count_unknown_models(frame.config.params, candidates);
  return {};
}

FrameReport HostNms::begin(GstBuffer* buffer, Frame& frame) {
  FrameReport report = cluster(buffer, frame);
  frame.source->adapter->release();
  return report;
}

FrameReport HostNms::cluster(GstBuffer* buffer, Frame& frame) {
  meta::Candidates candidates;
  if (FrameReport report = read(buffer, frame, candidates); !report.is_done())
    return report;
  candidates.info.clip = frame.settings.clip;
  class_numbers_.apply(frame.settings.classes, candidates, frame.config.params);
  const bool with_representatives = Metadata::needs_representatives(frame);
  Backends::Result& result = frame.result.emplace();
  if (backends_.run(frame.config, candidates, room_for_survivors(frame), with_representatives, result) != CROWD_NMS_OK)
    return {Outcome::failed, backends_.problem()};
  if (!metadata_.write(buffer, frame, survivor_values_.of(candidates, result.verdict), result.verdict))
    return {Outcome::no_memory, {}};
  return {};
}

FrameReport HostNms::cluster_batch(std::span<BatchItem> items) {
  while (!items.empty()) {
    const auto part = items.first(read_batch(items));
    items = items.subspan(part.size());
    if (batch_.frames() == 0)
      continue;
    if (FrameReport report = run_batch(part); !report.is_done())
      return report;
  }
  return {};
}

/// As many items as a call takes, which is all but for unusual ones, and for streams that number their classes in other
/// ways where class-attrs or class-filter name some. Frames of a stream share its adapters, which hold
/// one frame at a time, so candidates are copied here, and read again to be written.
std::size_t HostNms::read_batch(std::span<BatchItem> items) {
  batch_.clear(arrays_read(items.front().frame.config.params));
  const Frame* of_call = nullptr;  // whose params are those of the call
  for (std::size_t i = 0; i < items.size(); ++i) {
    Frame& frame = items[i].frame;
    if (!frame.source)
      continue;
    meta::Candidates candidates;
    FrameReport report = read(items[i].buffer, frame, candidates);
    const bool is_read = report.is_done();
    if (is_read)
      class_numbers_.apply(frame.settings.classes, candidates, frame.config.params);
    const bool fits = is_read && batch_.has_room_for(candidates) &&
                      (!of_call || have_same_classes(of_call->config.params, frame.config.params));
    if (fits)
      of_call = &frame;
    if (fits)
      batch_.add(candidates);
    frame.source->adapter->release();
    if (!is_read)
      items[i].report = std::move(report);
    else if (!fits)
      return i;
  }
  return items.size();
}

FrameReport HostNms::run_batch(std::span<BatchItem> items) {
  const Frame& any = std::ranges::find_if(items, is_clustered)->frame;
  const bool with_representatives = std::ranges::any_of(
      items, [](const BatchItem& item) { return is_clustered(item) && Metadata::needs_representatives(item.frame); });
  results_.assign(batch_.frames(), {});
  if (backends_.run_batch(any.config, batch_, room_for_survivors(any), with_representatives, results_) != CROWD_NMS_OK)
    return {Outcome::failed, backends_.problem()};
  auto result = results_.begin();
  for (BatchItem& item : items) {
    if (!is_clustered(item))
      continue;
    item.frame.result = *result++;
    if (FrameReport report = write_batched(item); !report.is_done())
      return report;
  }
  return {};
}

FrameReport HostNms::write_batched(BatchItem& item) {
  Frame& frame = item.frame;
  meta::Verdict verdict = frame.result->verdict;
  if (!Metadata::needs_representatives(frame)) {
    verdict.representatives = {};
    verdict.places = {};
  }
  meta::Candidates candidates;
  const char* problem = nullptr;
  bool written = true;
  if (frame.source->adapter->read(item.buffer, frame.size, frame.config.capacity, candidates, problem)) {
    candidates.info.clip = frame.settings.clip;
    written = item.metadata->write(item.buffer, frame, survivor_values_.of(candidates, verdict), verdict);
  } else {
    item.report = {Outcome::broken, problem};
    item.frame.result.reset();
  }
  frame.source->adapter->release();
  return written ? FrameReport{} : FrameReport{Outcome::no_memory, {}};
}

}  // namespace crowd
