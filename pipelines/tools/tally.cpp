// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tally.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace crowd {

void DurationHistogram::add(std::uint64_t ns) {
  const std::uint64_t value = std::max<std::uint64_t>(ns, 1);
  const auto octave = static_cast<unsigned>(std::bit_width(value)) - 1;
  const double within = std::ldexp(static_cast<double>(value), -static_cast<int>(octave)) - 1.0;
  const auto step = std::min(kStepsPerOctave - 1, static_cast<unsigned>(within * kStepsPerOctave));
  buckets_[octave * kStepsPerOctave + step]++;
  count_++;
}

std::uint64_t DurationHistogram::quantile(double share) const {
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (unsigned i = 0; i < buckets_.size(); i++) {
    seen += buckets_[i];
    if (seen >= wanted && seen > 0) {
      const double upper = 1.0 + static_cast<double>(i % kStepsPerOctave + 1) / kStepsPerOctave;
      const double end = std::ldexp(upper, static_cast<int>(i / kStepsPerOctave));
      return end < 0x1p64 ? static_cast<std::uint64_t>(end) : std::numeric_limits<std::uint64_t>::max();
    }
  }
  return 0;
}

void Tally::add(const FrameCounts& frame) {
  frames++;
  last = frame;
  total.candidates += frame.candidates;
  total.survivors += frame.survivors;
  total.nms_ns += frame.nms_ns;
  most.candidates = std::max(most.candidates, frame.candidates);
  most.survivors = std::max(most.survivors, frame.survivors);
  most.nms_ns = std::max(most.nms_ns, frame.nms_ns);
  if (frame.on_device)
    frames_on_device++;
  else
    nms_times.add(frame.nms_ns);
}

}  // namespace crowd
