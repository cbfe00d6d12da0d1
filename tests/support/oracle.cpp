// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "oracle_parts.hpp"

namespace crowd::test {

bool in_better_rank(const FrameView& frame, std::uint32_t a, std::uint32_t b) {
  const float sa = frame.scores[a];
  const float sb = frame.scores[b];
  if (std::isnan(sa) || std::isnan(sb))
    return std::isnan(sa) == std::isnan(sb) ? a < b : std::isnan(sb);
  return sa != sb ? sa > sb : a < b;
}

const CrowdNmsClassSettings* settings_of(const CrowdNmsParams& params, std::int32_t label) {
  for (std::uint32_t k = 0; k < params.class_count; ++k) {
    if (params.class_settings[k].label == label)
      return &params.class_settings[k];
  }
  return nullptr;
}

float min_score_of(const CrowdNmsParams& params, const FrameView& frame, std::uint32_t i) {
  const CrowdNmsClassSettings* own = settings_of(params, frame.label(i));
  return own && !std::isnan(own->score_threshold) ? own->score_threshold : params.score_threshold;
}

namespace {

bool well_formed(const CrowdNmsBox& box, std::uint32_t offset) {
  if (!std::isfinite(box.x1) || !std::isfinite(box.y1) || !std::isfinite(box.x2) || !std::isfinite(box.y2))
    return false;
  return offset ? box.x2 >= box.x1 && box.y2 >= box.y1 : box.x2 > box.x1 && box.y2 > box.y1;
}

bool is_left_out(const CrowdNmsParams& params, const FrameView& frame, std::uint32_t i) {
  if (!settings_of(params, frame.label(i)) && params.listed_only)
    return true;
  const auto offset = static_cast<float>(params.pixel_offset);
  const CrowdNmsBox& box = frame.boxes[i];
  float width = box.x2 - box.x1;
  width = width + offset;
  float height = box.y2 - box.y1;
  height = height + offset;
  return !(frame.given_scores[i] >= min_score_of(params, frame, i)) || width < params.min_width ||
         height < params.min_height || width > params.max_width || height > params.max_height;
}

}  // namespace

Indices valid_in_rank_order(const CrowdNmsParams& params, const FrameView& frame, Outcome& outcome) {
  Indices ranked;
  for (std::uint32_t i = 0; i < frame.n; ++i) {
    if (!well_formed(frame.boxes[i], params.pixel_offset) ||
        !well_formed(tested_box(params, frame, i), params.pixel_offset) || std::isnan(frame.scores[i]))
      ++outcome.invalid;
    else if (is_left_out(params, frame, i))
      ++outcome.below;
    else {
      ranked.push_back(i);
      outcome.representatives[i] = CROWD_NMS_NONE;
    }
  }
  std::sort(ranked.begin(), ranked.end(), [&](auto a, auto b) { return in_better_rank(frame, a, b); });
  return ranked;
}

Outcome greedy(const CrowdNmsParams& params, const FrameView& frame) {
  Outcome outcome;
  outcome.representatives.resize(frame.n, CROWD_NMS_REJECTED);
  for (const std::uint32_t i : valid_in_rank_order(params, frame, outcome)) {
    const auto by = std::find_if(outcome.survivors.begin(), outcome.survivors.end(),
                                 [&](auto s) { return suppresses(params, frame, s, i); });
    outcome.representatives[i] = by == outcome.survivors.end() ? i : *by;
    if (by == outcome.survivors.end())
      outcome.survivors.push_back(i);
  }
  return outcome;
}

namespace {

Outcome map_reduce(const CrowdNmsParams& params, const FrameView& frame) {
  Outcome outcome;
  outcome.representatives.resize(frame.n, CROWD_NMS_REJECTED);
  const Indices ranked = valid_in_rank_order(params, frame, outcome);
  for (auto i = ranked.begin(); i != ranked.end(); ++i) {
    if (std::any_of(ranked.begin(), i, [&](auto better) { return suppresses(params, frame, better, *i); }))
      continue;
    outcome.survivors.push_back(*i);
    outcome.representatives[*i] = *i;
  }
  for (const std::uint32_t i : ranked) {
    for (auto s = outcome.survivors.begin();
         s != outcome.survivors.end() && outcome.representatives[i] == CROWD_NMS_NONE; ++s) {
      if (in_better_rank(frame, *s, i) && suppresses(params, frame, *s, i))
        outcome.representatives[i] = *s;
    }
  }
  return outcome;
}

Outcome run(const CrowdNmsParams& params, const FrameView& frame, std::uint32_t capacity) {
  switch (params.method) {
    case CROWD_NMS_GREEDY:
      return greedy(params, frame);
    case CROWD_NMS_MAP_REDUCE:
      return map_reduce(params, frame);
    case CROWD_NMS_NMW:
      return nmw(params, frame);
    case CROWD_NMS_WBF:
      return wbf(params, frame);
    case CROWD_NMS_PAPER:
      return paper(params, frame, side_of_b(params, capacity));
    case CROWD_NMS_SOFT_LINEAR:
    case CROWD_NMS_SOFT_GAUSSIAN:
      return soft(params, frame);
    case CROWD_NMS_MATRIX_LINEAR:
    case CROWD_NMS_MATRIX_GAUSSIAN:
      return matrix(params, frame);
  }
  throw std::invalid_argument("the oracle lacks this method");
}

void write(const Outcome& outcome, const Wanted& wanted, const Batch& batch, std::uint32_t f, Result& result) {
  const auto found = static_cast<std::uint32_t>(outcome.survivors.size());
  const std::uint32_t written = std::min(found, wanted.max_survivors);
  for (std::uint32_t r = 0; r < written; ++r) {
    const std::uint32_t s = outcome.survivors[r];
    result.survivors[std::size_t{f} * wanted.max_survivors + r] = s;
    if (wanted.boxes)
      result.boxes[std::size_t{f} * wanted.max_survivors + r] = outcome.boxes[r];
    if (wanted.scores)
      result.scores[std::size_t{f} * wanted.max_survivors + r] = outcome.scores[r];
    if (wanted.members)
      result.members[std::size_t{f} * wanted.max_survivors + r] =
          static_cast<std::uint32_t>(std::count(outcome.representatives.begin(), outcome.representatives.end(), s));
  }
  for (std::size_t i = 0; wanted.representatives && i < outcome.representatives.size(); ++i)
    result.representatives[std::size_t{f} * batch.capacity + i] = outcome.representatives[i];
  CrowdNmsReport& report = result.reports[f];
  report.invalid = outcome.invalid;
  report.below_threshold = outcome.below;
  report.survivors = found;
  report.clipped = found - written;
}

}  // namespace

Result run_oracle(const CrowdNmsParams& params, const Batch& batch, const Wanted& wanted) {
  Result result = Result::sized(batch, wanted);
  for (std::uint32_t f = 0; f < batch.frames; ++f) {
    const std::uint32_t given = batch.counts.empty() ? batch.capacity : batch.counts[f];
    const std::uint32_t first = batch.offsets.empty() ? f * batch.capacity : batch.offsets[f];
    std::uint32_t n = std::min(given, batch.capacity);
    if (params.method == CROWD_NMS_PAPER)
      n = std::min(n, side_of_b(params, batch.capacity));
    for (std::uint32_t i = n; wanted.representatives && i < std::min(given, batch.capacity); ++i)
      result.representatives[std::size_t{f} * batch.capacity + i] = CROWD_NMS_REJECTED;
    const float* const scores = batch.all.scores.data() + first;
    const std::vector<float> weighted =
        has_weights(params) ? weighted_scores(params, batch, first, n) : std::vector<float>();
    const FrameView frame = {batch.all.boxes.data() + first,
                             has_weights(params) ? weighted.data() : scores,
                             scores,
                             batch.with_classes ? batch.all.classes.data() + first : nullptr,
                             n,
                             &batch.extras,
                             first};
    result.reports[f] = {};
    result.reports[f].candidates = given;
    result.reports[f].overflow = given - n;
    Outcome outcome = run(params, frame, batch.capacity);
    if (outcome.boxes.empty() && (wanted.boxes || wanted.scores || params.min_members > 1))
      merge(params, frame, outcome);
    write(outcome, wanted, batch, f, result);
  }
  return result;
}

}  // namespace crowd::test
