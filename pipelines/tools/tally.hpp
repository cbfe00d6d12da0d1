// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <array>
#include <cstdint>

namespace crowd {

/** Durations in buckets that are at most 3 % wide: bounded memory, however long the pipeline runs. */
class DurationHistogram {
 public:
  void add(std::uint64_t ns);

  /** The duration in ns that the given share of all durations, in (0, 1], stay at or below; 0 if there are none. */
  std::uint64_t quantile(double share) const;

 private:
  static constexpr unsigned kStepsPerOctave = 32;

  std::array<std::uint64_t, 64 * kStepsPerOctave> buckets_{};
  std::uint64_t count_ = 0;
};

/** What crowdnms made of one frame. */
struct FrameCounts {
  std::uint64_t candidates = 0;
  std::uint64_t survivors = 0;
  std::uint64_t nms_ns = 0;
  bool on_device = false;  // clustered in CUDA memory: nms_ns is 0
};

/** Sums over the frames of a run. */
struct Tally {
  std::uint64_t frames = 0;
  FrameCounts last;
  FrameCounts total;
  FrameCounts most;
  std::uint64_t frames_on_device = 0;
  DurationHistogram nms_times;  // of the others

  void add(const FrameCounts& frame);
};

}  // namespace crowd
