// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Algorithms 1 and 2 of Oro et al. 2020. V_i is the AND of row i of B, and an element of B is written once and read
// once, so the matrix needs no memory here.

#include <algorithm>
#include <functional>

#include "core/methods.hpp"
#include "core/order.hpp"
#include "core/paper_rule.hpp"
#include "cpu/frame.hpp"

namespace crowd {

using namespace cpu;

namespace {

// B_ij = 0 in Algorithm 1.
bool discards(const Frame& frame, std::uint32_t j, std::uint32_t i, float theta) {
  return frame.scores[i] < frame.scores[j] && !paper_keeps(frame.boxes[i], frame.boxes[j], theta);
}

bool survives(const Frame& frame, std::uint32_t i, float theta) {
  for (std::uint32_t j = 0; j < frame.size(); ++j) {
    if (discards(frame, j, i, theta))
      return false;
  }
  return true;
}

}  // namespace

Outcome Paper::on_cpu(const Job& job) {
  const Frame& frame = job.frame;
  const Scratch& scratch = job.scratch;
  std::uint32_t* const representatives = job.representatives;
  const float theta = paper_threshold(job.params);
  const bool unused_slots = frame.size() < job.d_max;
  std::uint32_t found = 0;
  for (std::uint32_t i = 0; i < frame.size(); ++i) {
    // An unused slot is an empty box with score 0.
    const bool suppressed_by_unused = unused_slots && frame.scores[i] < 0.0f;
    if (!suppressed_by_unused && survives(frame, i, theta))
      scratch.keys[found++] = rank_key(frame.scores[i], i);
  }
  std::sort(scratch.keys, scratch.keys + found, std::greater<>());
  std::transform(scratch.keys, scratch.keys + found, scratch.survivors, rank_index);
  if (!representatives)
    return {.survivors = found};
  std::fill_n(representatives, frame.size(), CROWD_NMS_NONE);
  for (std::uint32_t i = 0; i < frame.size(); ++i) {
    const auto by = std::find_if(scratch.survivors, scratch.survivors + found,
                                 [&](std::uint32_t j) { return discards(frame, j, i, theta); });
    if (by != scratch.survivors + found)
      representatives[i] = *by;
  }
  for (std::uint32_t s = 0; s < found; ++s)
    representatives[scratch.survivors[s]] = scratch.survivors[s];
  return {.survivors = found};
}

}  // namespace crowd
