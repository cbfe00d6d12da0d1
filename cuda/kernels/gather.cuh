// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What crowd_nms_cuda_gather() does with a survivor and with a frame. Kernels that write the survivors themselves may
// do it as well: one launch less.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "core/host_device.hpp"
#include "crowd/nms.h"

namespace crowd {

/// The candidates' arrays, and where the survivors' are written.
struct Gathering {
  const float4* boxes;
  const float* scores;
  const std::int32_t* classes;  ///< null: one class
  CrowdNmsGathered out;         ///< without counts: nothing is gathered

  CROWD_HD bool is_wanted() const {
    return out.counts;
  }
  /// Of candidate `at` of the batch, if labels are wanted.
  __device__ std::int32_t label(std::size_t at) const {
    return out.classes && classes ? classes[at] : 0;
  }
};

/// A survivor as it is handed out.
struct GatheredSurvivor {
  float4 box;
  float score;
  std::int32_t label;
};

/// Candidate `at` of the batch.
__device__ inline GatheredSurvivor load_survivor(const Gathering& from, std::size_t at) {
  return {from.boxes[at], from.scores[at], from.label(at)};
}

/// Writes survivor number `at` of the batch.
__device__ inline void store_survivor(const Gathering& to, std::size_t at, const GatheredSurvivor& survivor) {
  reinterpret_cast<float4*>(to.out.boxes)[at] = survivor.box;
  to.out.scores[at] = survivor.score;
  if (to.out.classes)
    to.out.classes[at] = survivor.label;
}

/// Hands out a frame's numbers, by one thread.
__device__ inline void gather_sizes(const Gathering& to, std::uint32_t frame, const CrowdNmsReport& report) {
  to.out.counts[frame] = report.survivors - report.clipped;
  if (to.out.candidates)
    to.out.candidates[frame] = report.candidates;
  if (to.out.reports)
    to.out.reports[frame] = report;
}

__device__ inline void add(CrowdNmsTotals& totals, const CrowdNmsReport& report) {
  totals.frames += 1;
  totals.candidates += report.candidates;
  totals.overflow += report.overflow;
  totals.invalid += report.invalid;
  totals.below_threshold += report.below_threshold;
  totals.survivors += report.survivors;
  totals.clipped += report.clipped;
  totals.last = report;
}

/// Adds all frames' reports to the totals, if there are any, by one thread of the call.
__device__ inline void add_to_totals(const Gathering& to, const CrowdNmsReport* reports, std::uint32_t frames) {
  if (!to.out.totals)
    return;
  CrowdNmsTotals totals = *to.out.totals;
  for (std::uint32_t f = 0; f < frames; ++f)
    add(totals, reports[f]);
  *to.out.totals = totals;
  if (to.out.totals_copy)
    *to.out.totals_copy = totals;
}

}  // namespace crowd
